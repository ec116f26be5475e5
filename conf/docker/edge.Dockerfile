# The edge: nginx's official image, the module, and the program for commands.
#   docker build -f conf/docker/edge.Dockerfile -t sluice-edge .
# NGINX is a tag of https://hub.docker.com/_/nginx that is based on Debian, not on Alpine.
ARG NGINX=1.28.0-bookworm

FROM nginx:${NGINX} AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /src
COPY scripts/install-deps scripts/programs.txt scripts/
RUN scripts/install-deps source
# The image names its version. The module must be built from the sources of exactly that version.
ARG NGINX_SOURCES=https://nginx.org/download
RUN mkdir /nginx \
    && curl -fsSL "${NGINX_SOURCES}/nginx-${NGINX_VERSION}.tar.gz" | tar -xz -C /nginx --strip-components=1
COPY . .
RUN cmake --preset release -B /build -DSLUICE_NGINX_SRC=/nginx -DSLUICE_STRIP=OFF \
    && cmake --build /build --target sluice ngx_http_sluice_module \
    && DESTDIR=/out cmake --install /build --prefix /usr --strip \
    && conf/docker/list-libraries /out/usr/bin/sluice /out/usr/lib/nginx/modules/*.so > /libraries

FROM nginx:${NGINX}
COPY --from=build /libraries /tmp/libraries
# hadolint ignore=DL3008,SC2046
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        openssl $(cat /tmp/libraries) \
    && rm -rf /var/lib/apt/lists/* /tmp/libraries \
    && install -d -o 101 -g 101 -m 0700 /var/lib/sluice /run/sluice
COPY --from=build /out/ /
COPY conf/docker/nginx.conf /etc/nginx/nginx.conf
COPY --chmod=755 conf/docker/init-store /docker-entrypoint.d/50-sluice-init-store.sh
# A volume may hold other entries, such as lost+found: the store is a folder inside it. The passwords of the
# page are next to it, where the container may write.
RUN sed -i 's| /var/lib/sluice | /var/lib/sluice/store |' /usr/share/sluice/nginx/sluice-http.conf \
    && sed -i 's|/etc/nginx/sluice.htpasswd;|/var/lib/sluice/sluice.htpasswd;|' /usr/share/sluice/nginx/sluice-login-basic.conf
ENV SLUICE_STORE=/var/lib/sluice/store
VOLUME /var/lib/sluice
EXPOSE 8080 8081 8082 8083
USER 101:101
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["curl", "-fsS", "-o", "/dev/null", "http://127.0.0.1:8081/sluice/ready"]
# The entry point, the command and the stop signal (QUIT: requests in progress are answered) are
# those of the official image. nginx must be process 1, see docs/containers.md.
