"""Programs of others judge the document and the answers: a linter, and a proxy that validates both sides."""

import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest
import yaml
from harness import npm, paths
from harness.serve import Serve
from serve.live import required_values

FILES = paths.ROOT / "tests" / "serve" / "clients"
DOCUMENT = paths.ROOT / "conf" / "openapi-read.yaml"
LINTER_NEEDS = (20, 19)  # Node, as @redocly/cli says


@pytest.fixture(scope="session")
def programs():
    return npm.install(FILES, "api-clients", "ci") / "node_modules" / ".bin"


def test_the_linter_has_no_warning(programs):
    version = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < LINTER_NEEDS:
        pytest.skip(f"@redocly/cli needs Node 20.19, this is {version}")
    run = subprocess.run([programs / "redocly", "lint", "--format", "json", DOCUMENT], capture_output=True, text=True,
                         timeout=120)
    problems = json.loads(run.stdout)["problems"]
    assert (run.returncode, problems) == (0, []), problems


class Proxy:
    """Prism between client and server: it refuses what the document does not say, on either side."""

    def __init__(self, programs, upstream, folder):
        self.port = paths.free_port()
        self.command = [programs / "prism", "proxy", DOCUMENT, f"http://127.0.0.1:{upstream}", "--port", str(self.port),
                        "--errors", "--verboseLevel", "error"]
        self.log = folder / "prism.log"

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        paths.wait_until(self._answers, "Prism to answer", 60)
        return self

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.get("/v1/me").status == 401
        except OSError:
            return False

    def get(self, target, headers=()):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{target}", headers=dict(headers))
        try:
            return urllib.request.urlopen(request, timeout=paths.DEADLINE)
        except urllib.error.HTTPError as error:
            return error

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=paths.DEADLINE)


def requests_of(served):
    """(target, status): every path with what it requires, in every format, and unknown ids."""
    values = required_values(served.as_("acme"))
    nobodys = ("shop", "program", "payout", "run", "creator", "link")
    for path, operations in yaml.safe_load(DOCUMENT.read_text())["paths"].items():
        if path == "/v1/creator-link":  # for a token of its own
            continue
        parameters = {parameter["name"]: parameter for parameter in operations["get"]["parameters"]}
        asked = {name: values[name] for name in parameters if parameters[name]["required"] or (path, name) == ("/v1/run", "run")}
        tried = [(asked, 200)]
        tried += [({**asked, "format": word}, 200) for word in parameters.get("format", {}).get("schema", {}).get("enum", [])]
        tried += [({**asked, name: "nobody-has-this"}, 404) for name in nobodys
                  if name in parameters and (path, name) not in (("/v1/payouts", "run"), ("/v1/clicks", "link"))]
        for query, status in tried:
            yield path + "?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote), status


def test_every_answer_passes_a_proxy_that_validates(served, programs, tmp_path):
    port = paths.free_port()
    store = served.serve.command[2]
    with Serve(store, tmp_path, "--listen", f"127.0.0.1:{port}", "--rate-limit", "1000000/60"), \
            Proxy(programs, port, tmp_path) as proxy:
        count = 0
        for target, status in requests_of(served):
            answer = proxy.get(target, served.as_("acme").headers)
            body = answer.read()
            assert (answer.status, answer.headers.get("sl-violations")) == (status, None), (target, body[:600])
            count += 1
        assert count > 60
        refused = proxy.get("/v1/orders?limit=0", served.as_("acme").headers)
        assert refused.status == 422, "the proxy does validate"
