"""The servers that the load benchmark compares. Each does the same work per request, but for the bounds."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SHOP = "bench-shop"


def render(template, path, **values):
    text = template.read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    path.write_text(text)


def wait_for_port(port, process, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing answers on port {port}")


class Target:
    """A server that is started fresh for each measurement and stopped by its own pids."""

    path = "/event/ecomm"
    body_bytes = 0  # the least size of an order; 0: as the options say
    accepted = 200  # status of an accepted request
    durable = True
    needs = ()

    def __init__(self, state, port, workers=1, environment=None):
        self.state, self.port, self.workers = pathlib.Path(state), port, workers
        self.environment = {**os.environ, **(environment or {})}
        self.processes = []

    def spawn(self, *command, preload=True, **more):
        environment = dict(self.environment, **more)
        if not preload:
            environment.pop("LD_PRELOAD", None)
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                                   stderr=(self.state / "stderr").open("ab"))
        self.processes.append(process)
        return process

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def certificate(self):
        """For the TLS listener, on the port behind the plain one."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", "/CN=localhost", "-keyout", str(self.state / "key.pem"), "-out",
                        str(self.state / "cert.pem")], check=True, stderr=subprocess.DEVNULL)
        return (f"listen 127.0.0.1:{self.port + 1} ssl http2; ssl_certificate {self.state}/cert.pem; "
                f"ssl_certificate_key {self.state}/key.pem;")

    def secret_file(self):
        path = self.state / "secret"
        path.write_text("0123456789abcdef0123456789abcdef\n")
        path.chmod(0o600)
        return path

    def pids(self):
        return [process.pid for process in self.processes]

    def figures(self):
        """The server's own counters."""
        return {}


class Sluice(Target):
    name = "sluice"
    with_worker = False
    commit_threads = 4  # as shipped

    def build(self):
        return pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build/release"))

    def http(self):
        """The shipped snippets: what the http block has besides nginx's own directives, and the server."""
        shipped = ROOT / "conf/nginx"
        text = (shipped / "sluice-http.conf").read_text().replace("/var/lib/sluice", f"{self.state}/store")
        return text.replace("/usr/share/sluice/nginx", str(shipped)), f"include {shipped}/sluice-server.conf;"

    def set_up(self, sluice, secret):
        sluice("token", "create", "--account", "bench", "--scope", "write_orders,write_products", "--secret-from", str(secret))

    def start(self):
        build = self.build()
        program, store = str(build / "worker/sluice"), self.state / "store"
        http, server = self.http()
        secret = self.secret_file()

        def sluice(*words):
            subprocess.run([program, "--store", str(store), *words], check=True, stdout=subprocess.DEVNULL)

        sluice("init")
        sluice("account", "create", "bench", "--rate-limit", "200000000/60")
        sluice("shop", "create", SHOP, "--account", "bench")
        self.set_up(sluice, secret)
        config = self.state / "nginx.conf"
        config.write_text(f"""
load_module {build}/ngx_module/ngx_http_sluice_module.so;
user root;
worker_processes {self.workers};
pid {self.state}/nginx.pid;
error_log {self.state}/error.log warn;
daemon off;
thread_pool sluice_commit threads={self.commit_threads} max_queue=65536;
thread_pool sluice_offload threads=1 max_queue=64;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {self.state}/body;
    {http}
    server {{
        listen 127.0.0.1:{self.port};
        {self.certificate()}
        {server}
    }}
}}
""")
        process = self.spawn("/usr/sbin/nginx", "-p", str(self.state), "-c", str(config), "-e",
                             str(self.state / "error.log"))
        if self.with_worker:
            self.spawn(program, "--store", str(store), "worker")
        wait_for_port(self.port, process)


class SluiceWithWorker(Sluice):
    name = "sluice + its worker"
    with_worker = True


class SluiceBesideReads(SluiceWithWorker):
    """`sluice serve` also answers 200 requests/s for the newest 100 orders, of the ledger that the worker writes. Nice as in its
    unit."""

    name = "sluice + its worker + 200 reads/s"
    needs = ("nghttp2-client",)
    reads_per_s = 200

    def start(self):
        super().start()
        program, store = str(self.build() / "worker/sluice"), str(self.state / "store")
        secret = self.state / "reader"
        subprocess.run([program, "--store", store, "token", "create", "--account", "bench", "--scope", "read_orders",
                        "--secret-file", str(secret)], check=True, stdout=subprocess.DEVNULL)
        port = self.port + 2
        serve = self.spawn("nice", "-n", "5", program, "--store", store, "serve", "--listen",
                           f"127.0.0.1:{port}", "--people", f"unix:{self.state}/people.sock", "--rate-limit", "1000000/60")
        wait_for_port(port, serve)
        connections = 4
        self.spawn("h2load", "--h1", "-c", str(connections), "--rps", str(self.reads_per_s // connections), "-D", "3600", "-H",
                   f"Authorization: Bearer {secret.read_text().strip()}", f"http://127.0.0.1:{port}/v1/orders?sort=-ordered_at&limit=100")
        self.begun = time.monotonic()

    def stop(self):
        seconds = time.monotonic() - getattr(self, "begun", time.monotonic())
        super().stop()
        reads = (self.state / "stderr").read_bytes().count(b" GET /v1/orders 200 ")
        if reads < 0.95 * self.reads_per_s * (seconds - 1):
            raise RuntimeError(f"only {reads} reads were answered 200 in {seconds:.0f} s, not {self.reads_per_s} a second")


class SluicePadded11(Sluice):
    name = "sluice, orders of 11 KB"
    body_bytes = 11_000


class SluicePadded44(Sluice):
    name = "sluice, orders of 44 KB"
    body_bytes = 44_000


class SluiceShopify11(Sluice):
    """Shopify's webhooks, translated."""

    name = "sluice, Shopify's webhooks of 11 KB"
    path = "/hooks/shopify"
    body_bytes = 11_000

    def http(self):
        http, server = super().http()
        return http, server + """
        location = /hooks/shopify {
            sluice_ingest shopify;
            client_max_body_size 1m;
            client_body_buffer_size 1m;
        }
"""

    def set_up(self, sluice, secret):
        sluice("shop", "set", SHOP, "--platform", "shopify", "--domain", "bench.myshopify.com", "--from", "2020-01-01T00:00:00Z")
        sluice("token", "create", "--account", "bench", "--scope", "shopify_webhooks", "--secret-from", str(secret))


class SluiceShopify44(SluiceShopify11):
    name = "sluice, Shopify's webhooks of 44 KB"
    body_bytes = 44_000


class SluiceClicks(Sluice):
    name = "sluice, signed clicks"
    path = "/event/click"

    def set_up(self, sluice, secret):
        sluice("token", "create", "--account", "bench", "--scope", "write_clicks", "--secret-from", str(secret))


class SluiceLinks(Sluice):
    """Links, without the shipped limits of an address, because all visitors have one. The ring has room for the clicks of a
    flush at any speed, so that each of them costs what a counted click costs."""

    name = "sluice, 10,000 links"
    path = "/l/"
    accepted = 302
    links = 10_000

    def http(self):
        http, server = super().http()
        return http + "    sluice_click_buffer 65536;\n", server + """
        location /l/ { sluice_link; }
        location = /id { sluice_device_id origin=https://shop.example; }
"""

    def set_up(self, sluice, secret):
        super().set_up(sluice, secret)
        self.fill(sluice)

    def fill(self, sluice):
        """A program, creators and links of the account."""
        program, creators, links = (self.state / name for name in ("program.toml", "creators.csv", "links.csv"))
        program.write_text('[[program]]\nid = "spring"\naccount = "bench"\ndefault_rate = "10%"\n')
        creators.write_text("creator_id,program_id,code\n" + "".join(f"creator-{number},spring,\n" for number in range(40)))
        links.write_text("link_id,program_id,creator_id,to,deep\n" + "".join(
            f"link-{number},spring,creator-{number % 40},https://shop.example/products/{number},\n" for number in range(self.links)))
        sluice("program", "apply", str(program))
        sluice("creator", "import", str(creators))
        sluice("link", "import", str(links), "--account", "bench")

    def start(self):
        super().start()
        deadline = time.monotonic() + 30
        while self.figures()["published"] != self.links:
            if time.monotonic() > deadline:
                raise RuntimeError("nginx does not serve the links")
            time.sleep(0.05)

    def figures(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/sluice/status.json") as answer:
            status = json.load(answer)
        return status["links"] | {"published": self.published()}

    def published(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/sluice/metrics") as answer:
            found = re.search(rb"^sluice_links_published (\d+)", answer.read(), re.M)
        return int(found[1]) if found else 0


class SluiceLinks100(SluiceLinks):
    name = "sluice, 100 links"
    links = 100


class SluiceLinks100k(SluiceLinks):
    name = "sluice, 100,000 links"
    links = 100_000


class SluiceDeviceId(SluiceLinks100):
    name = "sluice, device identification call"
    path = "/id"
    accepted = 200


class SluiceLinksStill(SluiceLinks):
    name = "sluice, 10,000 links + its worker"
    with_worker = True


class SluiceLinksChanging(SluiceLinksStill):
    name = "sluice, 10,000 links, one changed every second"

    def start(self):
        super().start()
        self.ended, self.changes = threading.Event(), 0
        self.thread = threading.Thread(target=self.change)
        self.thread.start()

    def change(self):
        command = [str(self.build() / "worker/sluice"), "--store", str(self.state / "store"), "link", "set", "link-0", "--account",
                   "bench", "--to"]
        due = time.monotonic() + 1
        while not self.ended.wait(max(0, due - time.monotonic())):
            due += 1  # the command waits until the worker has published the link
            self.changes += 1
            subprocess.run([*command, f"https://shop.example/changed/{self.changes}"], check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        if hasattr(self, "thread"):
            self.ended.set()
            self.thread.join()
        super().stop()


class SluiceOrdersAndLinks(SluiceLinks):
    name = "sluice with 10,000 links, orders"
    path = "/event/ecomm"
    accepted = 200


class SluiceBesideClicks(SluiceOrdersAndLinks):
    """Orders, while visitors follow 5,000 links a second."""

    name = "sluice with 10,000 links, orders + 5,000 clicks/s"
    clicks_per_s = 5000

    def start(self):
        super().start()
        visits = self.state / "visits"
        with visits.open("wb") as file:
            subprocess.run([sys.executable, str(HERE / "load/make_requests.py"), "--path", "/l/", "--links", str(self.links),
                            "--device", "--count", "20000"], check=True, stdout=file)
        self.spawn(str(self.build() / "bench/sluice-load"), "--port", str(self.port), "--requests", str(visits), "--connections",
                   "16", "--rate", str(self.clicks_per_s), "--seconds", "3600", "--accept", "302", preload=False)
        self.begun = time.monotonic()

    def figures(self):
        found = super().figures()
        if hasattr(self, "begun"):
            seconds, results = time.monotonic() - self.begun, found["results"]
            if results["click"] + results["dropped"] < 0.9 * self.clicks_per_s * seconds:
                raise RuntimeError(f"only {results} of {self.clicks_per_s} visits a second in {seconds:.0f} s")
        return found


class SluiceWithoutSnippets(Sluice):
    """Only what the endpoints need: shows the cost of the shipped snippets."""

    name = "sluice without the snippets"

    def http(self):
        return (f"""
    client_header_buffer_size 8k;
    request_pool_size 8k;
    client_body_buffer_size 64k;
    sluice_store {self.state}/store thread_pool=sluice_commit offload_pool=sluice_offload;
""", """
        location = /event/ecomm { sluice_ingest events; }
        location = /product-data { sluice_ingest catalog; client_max_body_size 128m; }
""")


class SluiceBefore(SluiceWithoutSnippets):
    """The release before lanes, to compare with: SLUICE_BEFORE names its release build."""

    name = "sluice, the release before"
    commit_threads = 1  # as that one shipped

    def build(self):
        return pathlib.Path(os.environ["SLUICE_BEFORE"])


class SluiceBeforeWithWorker(SluiceBefore):
    name = "the release before + its worker"
    with_worker = True


class BareNginx(Target):
    name = "nginx return 200"
    durable = False

    def start(self):
        self.secret_file()
        config = self.state / "nginx.conf"
        render(HERE / "peers/bare_nginx/nginx.conf.in", config, STATE=self.state, PORT=self.port,
               WORKERS=self.workers, TLS=self.certificate())
        wait_for_port(self.port, self.spawn("/usr/sbin/nginx", "-p", str(self.state), "-c", str(config),
                                            "-e", str(self.state / "error.log")))


class BareLink(BareNginx):
    """The header of a counted click; nginx adds its page of 138 bytes."""

    name = "nginx return 302"
    path = "/l/"
    accepted = 302


class BareDeviceId(BareNginx):
    name = "nginx return 200 of the call's bytes"
    path = "/id"


class BareNginxReadBody(BareNginx):
    name = "nginx reading the body (proxy hop)"
    path = "/read-body"


class Openresty(Target):
    name = "nginx + Lua + Redis"
    needs = ("redis-server", "libnginx-mod-http-lua", "lua-cjson")

    def start(self):
        redis = self.spawn("redis-server", "--port", "0", "--unixsocket", str(self.state / "redis.sock"),
                           "--dir", str(self.state), "--appendonly", "yes", "--appendfsync", "always",
                           "--save", "", "--auto-aof-rewrite-percentage", "0")
        deadline = time.monotonic() + 10
        while not (self.state / "redis.sock").exists() and time.monotonic() < deadline:
            if redis.poll() is not None:
                raise RuntimeError("redis-server ended")
            time.sleep(0.05)
        config = self.state / "nginx.conf"
        render(HERE / "peers/openresty/nginx.conf.in", config, STATE=self.state, PORT=self.port, SHOP=SHOP,
               WORKERS=self.workers, HERE=HERE / "peers/openresty", SECRET_FILE=self.secret_file())
        wait_for_port(self.port, self.spawn("/usr/sbin/nginx", "-p", str(self.state), "-c", str(config),
                                            "-e", str(self.state / "error.log")))


class Go(Target):
    name = "Go net/http + group commit"
    needs = ("golang-go",)

    def start(self):
        binary = ROOT / "build/peers/go-peer"
        if not binary.exists():
            binary.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["go", "build", "-o", str(binary), str(HERE / "peers/go/main.go")], check=True)
        wait_for_port(self.port, self.spawn(str(binary), PORT=str(self.port), STATE=str(self.state), SHOP=SHOP,
                                            SECRET_FILE=str(self.secret_file())))


class FastifyPostgres(Target):
    name = "Node + Fastify + PostgreSQL"
    needs = ("postgresql-15",)

    def start(self):
        app = ROOT / "build/peers/fastify_pg"
        if not (app / "node_modules").exists():
            shutil.copytree(HERE / "peers/fastify_pg", app, dirs_exist_ok=True)
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=app, check=True)
        shutil.copy(HERE / "peers/fastify_pg/server.js", app)
        data, tools = self.state / "pg", "/usr/lib/postgresql/15/bin"
        data.mkdir()
        self.state.chmod(0o755)
        shutil.chown(data, "postgres", "postgres")
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*as_postgres, f"{tools}/initdb", "-D", str(data), "-A", "trust"], check=True,
                       stdout=subprocess.DEVNULL)
        self.spawn(*as_postgres, f"{tools}/postgres", "-D", str(data), "-k", str(data), "-c",
                   "listen_addresses=", "-c", "max_wal_size=16GB")
        deadline = time.monotonic() + 20
        create = [f"{tools}/psql", "-q", "-h", str(data), "-U", "postgres", "-c",
                  "CREATE TABLE events(id bigserial PRIMARY KEY, shop text, body bytea)"]
        while subprocess.run(create, stderr=subprocess.DEVNULL).returncode != 0:
            if time.monotonic() > deadline:
                raise RuntimeError("PostgreSQL does not answer")
            time.sleep(0.1)
        wait_for_port(self.port, self.spawn("node", str(app / "server.js"), PORT=str(self.port), PGHOST=str(data),
                                            SHOP=SHOP, SECRET_FILE=str(self.secret_file())))


ALL = (Sluice, SluiceWithWorker, SluiceBesideReads, SluicePadded11, SluicePadded44, SluiceShopify11, SluiceShopify44, SluiceWithoutSnippets, SluiceBefore, SluiceBeforeWithWorker, BareNginx,
       BareNginxReadBody, Openresty, Go, FastifyPostgres, SluiceClicks, SluiceLinks, SluiceLinks100, SluiceLinks100k, SluiceDeviceId,
       SluiceLinksStill, SluiceLinksChanging, SluiceOrdersAndLinks, SluiceBesideClicks, BareLink, BareDeviceId)
