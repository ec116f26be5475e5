"""conf/docker: edge and worker as their containers run them, without a container engine.

Each side gets a PID namespace and a mount namespace of its own, a read-only root file system and an
unprivileged user; they share one folder, the volume. nginx and the worker are process 1 of their
namespaces, and commands run in the namespace of nginx, as docs/containers.md demands.
"""

import base64
import contextlib
import functools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

import pytest
import yaml

from docs import facts
from harness import cli, http1, orders, paths, sign
from harness.edge import children

DOCKER = paths.ROOT / "conf" / "docker"
USER = 64101  # any id without rights
SHELL = ["bash", "-euc"]

# The root file system becomes read-only; the volume stays writable, and the folders that the manifests
# mount as temporary ones.
MOUNTS = """
mount --bind "$VOLUME" "$VOLUME"
mount -o remount,bind,ro /
for folder in /tmp /var/cache/nginx /var/lib/nginx; do
    [ ! -d "$folder" ] || mount -t tmpfs -o mode=1777 tmpfs "$folder"
done
exec setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups --no-new-privs \\
    --bounding-set -all --inh-caps -all "$@"
"""
ENTER = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--no-new-privs"]


class Container:
    """A process 1 in namespaces of its own."""

    def __init__(self, volume, command, log, environment):
        self.log = log
        words = ["unshare", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child", *SHELL, MOUNTS, "container"]
        with open(log, "ab") as output:
            os.chmod(log, 0o666)  # nginx opens /dev/stdout, as an engine allows it
            self.outer = subprocess.Popen(
                [*words, *command], stdout=output, stderr=output,
                env={**environment, "VOLUME": str(volume), "USER_ID": str(USER)},
            )
        # unshare's only child; bash, then setpriv replace themselves by the command.
        ((self.pid, _),) = paths.wait_until(lambda: children(self.outer.pid), "the container's process 1")

    def inside(self):
        """Words in front of a command that runs in this container."""
        return ["nsenter", f"--target={self.pid}", "--pid", "--mount", *ENTER]

    def stop(self, number):
        """Returns the exit status. unshare reports a process that a signal ended as 128 + the signal."""
        os.kill(self.pid, number)
        return self.outer.wait(timeout=paths.DEADLINE)

    def kill(self):
        """Returns when the whole namespace is gone, as an engine does before it starts the container again."""
        if self.outer.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.outer.wait()


class Pod:
    """Edge and worker on one volume."""

    def __init__(self):
        self.folder = paths.make_folder()
        image = self.folder / "image"
        image.mkdir()
        self.program, self.module, self.docker, self.samples = (
            paths.lend(path, image) for path in (paths.SLUICE, paths.MODULE, DOCKER, paths.ROOT / "conf" / "samples"))
        self.volume = self.folder / "volume"
        self.volume.mkdir()
        os.chown(self.volume, USER, USER)
        self.store = self.volume / "store"
        self.port, self.status_port, self.read_port, self.page_port = (paths.free_port() for _ in range(4))
        self.environment = {
            **os.environ, "SLUICE_STORE": str(self.store), "PATH": f"{image}:{os.environ['PATH']}",
        }
        self.conf = self.folder / "nginx.conf"
        self.edge = self.worker = None
        self.sluice = cli.Sluice(self.store, program=self.program)
        self.write_configuration()

    def write_configuration(self):
        """The shipped files, with this machine's paths and ports."""
        (self.folder / "nginx").mkdir()
        edits = re.findall(r"sed -i 's\|(.*?)\|(.*?)\|'", (DOCKER / "edge.Dockerfile").read_text())
        assert len(edits) == 2
        for shipped in (paths.ROOT / "conf" / "nginx").glob("sluice-*.conf"):
            text = shipped.read_text()
            for edit in edits:
                text = text.replace(*edit)
            (self.folder / "nginx" / shipped.name).write_text(self.here(text))
        self.conf.write_text(self.here((DOCKER / "nginx.conf").read_text()))

    def here(self, text):
        for shipped, own in (
            ("modules/ngx_http_sluice_module.so", str(self.module)),
            ("/usr/share/sluice/nginx", str(self.folder / "nginx")),
            ("/var/lib/sluice/store", str(self.store)),
            ("listen 8080", f"listen 127.0.0.1:{self.port}"),
            ("listen 8081", f"listen 127.0.0.1:{self.status_port}"),
            ("listen 8082", f"listen 127.0.0.1:{self.read_port}"),
            ("listen 8083", f"listen 127.0.0.1:{self.page_port}"),
            ("/var/lib/sluice/sluice.htpasswd", f"{self.volume}/sluice.htpasswd"),
            ("/run/sluice/", f"{self.volume}/"),
        ):
            text = text.replace(shipped, own)
        return text

    def start_edge(self):
        start = f'"{self.docker}/init-store" && exec "{paths.NGINX}" -e stderr -c "{self.conf}" -g "daemon off;"'
        self.edge = Container(self.volume, [*SHELL, start], self.folder / "edge.log", self.environment)
        paths.wait_until(lambda: self.ready() == 200, "the edge\n" + self.log())
        self.sluice.prefix = self.edge.inside()

    def start_worker(self):
        self.worker = Container(self.volume, [str(self.program), "worker"], self.folder / "worker.log", self.environment)
        paths.wait_until(self.worker_is_alive, "the worker's heartbeat")

    def worker_is_alive(self):
        """The shipped health check."""
        return subprocess.run(
            [*self.worker.inside(), str(self.docker / "worker-alive")], env=self.environment, capture_output=True, check=False
        ).returncode == 0

    def write_program(self, number):
        path = self.folder / f"p{number}.toml"
        path.write_text(f'[[program]]\nid = "p{number}"\naccount = "acme"\ndefault_rate = "10%"\n')
        return path

    def nginx_workers(self):
        return [pid for pid, title in children(self.edge.pid) if "worker process" in title]

    def get(self, target):
        with http1.Connection(self.status_port) as connection:
            return connection.request("GET", target, [])

    def ready(self):
        if self.edge.outer.poll() is not None:
            raise AssertionError(self.log())
        try:
            return self.get("/sluice/ready").status
        except OSError:
            return None

    def post(self, secret, document):
        body = sign.encode(document)
        with http1.Connection(self.port) as connection:
            return connection.request(
                "POST", sign.EVENTS, sign.event_headers("shop", secret, "ORDER_CREATE", body), body
            )

    def log(self):
        return "".join(path.read_text() for path in self.folder.glob("*.log"))

    def close(self):
        for container in (self.edge, self.worker):
            if container is not None:
                container.kill()
        paths.drop_folder(self.folder)


@pytest.fixture
def pod():
    made = Pod()
    yield made
    made.close()


def make_shop(pod):
    pod.sluice.account("acme", rate_limit="1000000/60")
    pod.sluice.shop("shop", "acme")
    return pod.sluice.token("acme", "write_orders")[1]


def reported(pod):
    return sorted(row["order_id"] for row in pod.sluice.report("orders"))


def send_all(pod, secret, names, accepted):
    """Sends each order until it is acknowledged, as a shop does."""
    for name in names:
        paths.wait_until(lambda name=name: send_one(pod, secret, name), f"200 for {name}")
        accepted.append(name)


def send_one(pod, secret, name):
    try:
        return pod.post(secret, orders.order(name)).status == 200
    except (OSError, AssertionError):  # nginx's worker was killed
        return False


@pytest.mark.crash
def test_separate_pid_namespaces_lose_and_double_nothing(pod):
    """Kills nginx's workers and the worker's container under load, while commands write the same queue."""
    pod.start_edge()
    secret = make_shop(pod)
    pod.start_worker()
    accepted = []
    names = [[f"o-{thread}-{number}" for number in range(60)] for thread in range(4)]
    senders = [threading.Thread(target=send_all, args=(pod, secret, part, accepted)) for part in names]
    for sender in senders:
        sender.start()
    round_number = 0
    while any(sender.is_alive() for sender in senders) or round_number < 3:
        os.kill(pod.nginx_workers()[0], signal.SIGKILL)
        if round_number % 2:
            pod.worker.kill()
            pod.start_worker()
        pod.sluice("program", "apply", pod.write_program(round_number))
        round_number += 1
    for sender in senders:
        sender.join()
    paths.wait_until(lambda: len(reported(pod)) >= len(accepted), "everything to be applied")
    assert reported(pod) == sorted(accepted) == sorted(sum(names, []))
    assert len(pod.sluice.json("program", "list")) == round_number


def test_the_edge_stops_first_and_the_worker_applies_the_rest(pod):
    """The order in which Kubernetes ends the containers of conf/docker/kubernetes.yaml."""
    pod.start_edge()
    secret = make_shop(pod)
    pod.start_worker()
    assert pod.get("/sluice/health").status == 200
    assert b'"state":"running"' in pod.get("/sluice/status.json").body
    for number in range(20):
        assert pod.post(secret, orders.order(f"o-{number}")).status == 200
    assert pod.edge.stop(signal.SIGQUIT) == 0, pod.log()
    paths.wait_until(lambda: applied_all(pod), "the worker to apply the rest")
    assert pod.worker.stop(signal.SIGTERM) == 0, pod.log()
    assert not re.search(r"\[(alert|emerg|crit)\]", pod.log()), pod.log()


def applied_all(pod):
    stats = cli.Sluice(pod.store).stats()
    return stats["depth"] == 0 and stats["in_lanes"] == 0 and stats["applied"] == 20


def test_a_second_start_keeps_the_store(pod):
    pod.start_edge()
    make_shop(pod)
    format_before = (pod.store / "format").read_text()
    assert pod.edge.stop(signal.SIGQUIT) == 0
    pod.start_edge()
    assert (pod.store / "format").read_text() == format_before
    assert [row["account_id"] for row in pod.sluice.json("account", "list")] == ["acme"]


def test_a_process_id_that_another_namespace_uses_is_refused(pod):
    """LMDB knows readers by process id. A command outside the edge's namespace that happens to have the id of an nginx
    worker gets an error; it disturbs nothing."""
    pod.start_edge()
    secret = make_shop(pod)
    taken = int(re.search(r"NSpid:.*\s(\d+)$", status_of(pod.nginx_workers()[0]), re.M).group(1))
    script = f'echo {taken - 1} > /proc/sys/kernel/ns_last_pid; "{paths.SLUICE}" queue stats; exit $?'
    result = subprocess.run(
        ["unshare", "--pid", "--mount-proc", "--fork", *SHELL, f"set +e; {script}"],
        env=pod.environment, capture_output=True, text=True, timeout=60, check=False,
    )
    assert result.returncode == 1, result.stdout
    assert "PID namespace" in result.stderr
    assert pod.post(secret, orders.order("o-1")).status == 200
    pod.sluice.drain()
    assert reported(pod) == ["o-1"]


def status_of(pid):
    with open(f"/proc/{pid}/status") as status:
        return status.read()


def test_the_health_check_of_the_worker_reads_the_heartbeat(tmp_path):
    control = tmp_path / "queue" / "control"
    control.parent.mkdir()
    answers = []
    for age in (0, 25, 40):
        beat = int((time.time() - age) * 1000)
        control.write_bytes(bytes(24) + beat.to_bytes(8, sys.byteorder) + bytes(4064))
        answers.append(subprocess.run(
            [str(DOCKER / "worker-alive")], env={**os.environ, "SLUICE_STORE": str(tmp_path)}, check=False
        ).returncode)
    assert answers == [0, 0, 1]


def test_the_commands_of_the_page_lead_to_a_commission_and_its_page(pod):
    """docs/containers.md, The first ten minutes; `docker run` is what start_edge(), start_worker() and serving() do."""
    pod.start_edge()
    pod.start_worker()
    page = facts.read("docs/containers.md")
    steps = re.search(r"## The first ten minutes\n\n```sh\n(.*?)```", page, re.S).group(1).splitlines()
    assert len(steps) == 10
    answers = [run_in_edge(pod, step) for step in steps if step.startswith("docker exec edge ")]
    assert len(answers) == 7
    assert answers[3].startswith("HTTP/1.1 200 ") and answers[3].endswith("success")
    (report,) = [step for step in steps if "report orders" in step]
    paths.wait_until(lambda: "5.50" in run_in_edge(pod, report), "the commission in the report")
    gina = base64.b64encode(f"gina:{answers[-1].strip()}".encode()).decode()
    with serving(pod):
        page = paths.wait_until(lambda: get_page(pod, gina, "/ui/"), "the page\n" + pod.log())
        assert b"<title>" in page
        assert b'"1001"' in get_page(pod, gina, "/v1/search?q=1001")
    assert get_page(pod, gina, "/ui/") is None
    with http1.Connection(pod.page_port) as connection:
        assert connection.request("GET", "/ui/", []).status == 401


def get_page(pod, login, target):
    """The body, or None while the edge answers 502."""
    with http1.Connection(pod.page_port) as connection:
        answer = connection.request("GET", target, [("Authorization", f"Basic {login}")])
    assert answer.status in (200, 502), answer
    return answer.body if answer.status == 200 else None


@contextlib.contextmanager
def serving(pod):
    """`sluice serve` in the PID namespace of the edge, as it must be for a ledger in the store."""
    command = [*pod.edge.inside(), str(pod.program), "serve", "--listen", f"unix:{pod.volume}/read.sock",
               "--people", f"unix:{pod.volume}/people.sock"]
    with open(pod.folder / "serve.log", "wb") as log:
        serve = subprocess.Popen(command, env=pod.environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        # nsenter waits for the server, its child, and ends as that ends.
        ((server, _),) = children(serve.pid)
        os.kill(server, signal.SIGTERM)
        assert serve.wait(timeout=paths.DEADLINE) == 0


def test_programs_read_the_ledger_through_the_edge(pod):
    pod.start_edge()
    secret = make_shop(pod)
    pod.start_worker()
    assert pod.post(secret, orders.order("o-1")).status == 200
    paths.wait_until(lambda: reported(pod) == ["o-1"], "the order")
    reader = pod.sluice.token("acme", "read_orders")[1]
    with serving(pod):
        answer = paths.wait_until(lambda: read_orders(pod, reader), "the read API\n" + pod.log())
        assert [row["order_id"] for row in answer["items"]] == ["o-1"]
    assert read_orders(pod, reader) is None


def read_orders(pod, token):
    """The rows, or None while the edge answers 502."""
    with http1.Connection(pod.read_port) as connection:
        answer = connection.request("GET", "/v1/orders", [("Authorization", f"Bearer {token}")])
    assert answer.status in (200, 502), answer
    return json.loads(answer.body) if answer.status == 200 else None


def run_in_edge(pod, step):
    text = step.replace("/usr/share/sluice/samples", str(pod.samples))
    text = text.replace("127.0.0.1:8080", f"127.0.0.1:{pod.port}").replace("/var/lib/sluice/", f"{pod.volume}/")
    words = shlex.split(text.removeprefix("docker exec edge "))
    result = subprocess.run(
        [*pod.edge.inside(), *words], env=pod.environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, f"{step}: {result.stderr}{pod.log()}"
    return result.stdout


# -- The files ------------------------------------------------------------------------------------


@functools.cache
def listed(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("binaries", [[paths.SLUICE], [paths.SLUICE, paths.MODULE]], ids=["worker", "edge"])
def test_the_image_installs_the_libraries_that_the_programs_need(binaries):
    packages = listed(str(DOCKER / "list-libraries"), *map(str, binaries)).split()
    files = listed("dpkg-query", "-L", *packages)
    for binary in binaries:
        for library in re.findall(r"\(NEEDED\).*\[(.*?)\]", listed("readelf", "-d", str(binary))):
            assert f"/{library}\n" in files, library
    for library in ("libcurl.so.4", "libpq.so.5"):  # commands load them
        assert f"/{library}\n" in files, library


@pytest.mark.parametrize("name", ["edge", "worker"])
def test_the_image_is_built_from_files_that_exist_and_runs_without_root(name):
    text = (DOCKER / f"{name}.Dockerfile").read_text()
    for sources in re.findall(r"^COPY (?:--chmod=\d+ )?(.+) \S+$", text, re.M):
        assert sources.startswith("--from=") or all((paths.ROOT / source).exists() for source in sources.split()), sources
    assert "COPY scripts/install-deps scripts/programs.txt scripts/\n" in text  # it reads them
    last_stage = text.rsplit("\nFROM ", 1)[1]
    assert "\nUSER 101:101\n" in last_stage and "\nHEALTHCHECK " in last_stage
    assert not re.search(r"tini|--init|dumb-init", text)  # the worker is process 1


def pod_spec():
    documents = list(yaml.safe_load_all((DOCKER / "kubernetes.yaml").read_text()))
    (stateful,) = [document for document in documents if document["kind"] == "StatefulSet"]
    return stateful["spec"], stateful["spec"]["template"]["spec"]


def test_the_manifest_ends_the_worker_after_the_edge():
    stateful, spec = pod_spec()
    names = [container["name"] for container in spec["initContainers"]]
    assert names == ["store", "worker"]
    worker = spec["initContainers"][1]
    assert worker["restartPolicy"] == "Always"  # so it outlives the containers
    assert "shareProcessNamespace" not in spec
    (edge,) = spec["containers"]
    shutdown = int(re.search(r"worker_shutdown_timeout (\d+)s", (DOCKER / "nginx.conf").read_text()).group(1))
    pause = int(edge["lifecycle"]["preStop"]["exec"]["command"][1])
    assert spec["terminationGracePeriodSeconds"] >= pause + shutdown + 30
    assert edge["readinessProbe"]["httpGet"] == {"path": "/sluice/ready", "port": "status"}
    assert stateful["volumeClaimTemplates"][0]["spec"]["accessModes"] == ["ReadWriteOncePod"]


def test_no_container_of_the_manifests_may_write_its_root_or_gain_rights():
    _, spec = pod_spec()
    for container in [*spec["initContainers"], *spec["containers"]]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }, container["name"]
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    for name in ("edge", "worker", "read", "migrate"):
        assert services[name]["read_only"] and services[name]["cap_drop"] == ["ALL"], name


def test_the_images_of_the_manifest_have_the_version_of_the_program():
    version = re.search(r"project\(sluice VERSION ([\d.]+)", facts.read("CMakeLists.txt")).group(1)
    tags = re.findall(r"image: sluice-\w+:(\S+)", (DOCKER / "kubernetes.yaml").read_text())
    assert tags and set(tags) == {version}
