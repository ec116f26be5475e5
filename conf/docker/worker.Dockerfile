# The worker, which runs next to the edge on the same volume. `sluice serve` runs from the same image.
#   docker build -f conf/docker/worker.Dockerfile -t sluice-worker .
ARG DEBIAN=bookworm

FROM debian:${DEBIAN}-slim AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /src
COPY scripts/install-deps scripts/programs.txt scripts/
RUN scripts/install-deps
COPY . .
RUN cmake --preset release -B /build \
    && cmake --build /build --target sluice \
    && install -D -s /build/worker/sluice /out/usr/bin/sluice \
    && conf/docker/list-libraries /out/usr/bin/sluice > /libraries

FROM debian:${DEBIAN}-slim
COPY --from=build /libraries /tmp/libraries
# hadolint ignore=DL3008,SC2046
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates $(cat /tmp/libraries) \
    && rm -rf /var/lib/apt/lists/* /tmp/libraries \
    && install -d -o 101 -g 101 -m 0700 /var/lib/sluice /run/sluice
COPY --from=build /out/ /
COPY --chmod=755 conf/docker/worker-alive /usr/bin/sluice-worker-alive
ENV SLUICE_STORE=/var/lib/sluice/store
VOLUME /var/lib/sluice
# The user of nginx in the official image, because both containers write the same files.
USER 101:101
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["sluice-worker-alive"]
STOPSIGNAL SIGTERM
# The worker must be process 1, see docs/containers.md: no init process, no shell.
ENTRYPOINT ["sluice"]
CMD ["worker"]
