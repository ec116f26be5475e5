"""HTTP/3 as a browser speaks it: Chromium sends the requests that a page lists.

Debian 12 has no other HTTP/3 client that can set headers. The page comes from the nginx under test,
over HTTP/3 as well, so that its requests stay within one origin.
"""

import base64
import html
import json
import re
import subprocess

from harness import http1, paths
from harness.chromium import CHROMIUM


# Configuration of an edge's server; @PORT@ is the TCP port on which the harness checks that nginx listens.
SERVER = """
        listen 127.0.0.1:@PORT@ ssl;
        listen 127.0.0.1:@PORT@ quic reuseport;
        ssl_certificate @DIR@/certificate.pem;
        ssl_certificate_key @DIR@/key.pem;
        ssl_protocols TLSv1.3;
        add_header X-Protocol $server_protocol always;
        location = /page { default_type text/html; alias @DIR@/page.html; }
"""

# All requests of a round are under way at once; the next round begins when they ended. A body that
# is `cut` stays open after that many bytes, and its request is given up when the others ended.
PAGE = """<!doctype html><meta charset="utf-8"><pre id="answers"></pre><script>
const rounds = %s;
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
async function one(r, others) {
  const giveUp = new AbortController();
  const options = {method: r.method, headers: r.headers, signal: giveUp.signal};
  if (r.body !== null) options.body = bytes(r.body);
  if (r.cut !== null) {
    const part = options.body.slice(0, r.cut);
    options.body = new ReadableStream({start(stream) { stream.enqueue(part); }});
    options.duplex = "half";
    others.then(() => giveUp.abort());
  }
  try {
    const answer = await fetch(r.target, options);
    return {status: answer.status, headers: [...answer.headers], body: await answer.text()};
  } catch (e) {
    return {status: 0, headers: [], body: String(e)};
  }
}
(async () => {
  const answers = [];
  for (const round of rounds) {
    let ended;
    const others = new Promise(resolve => { ended = resolve; });
    const whole = round.map(r => r.cut === null ? one(r, others) : null);
    const cut = round.map(r => r.cut === null ? null : one(r, others));
    await Promise.all(whole);
    ended();
    answers.push(await Promise.all(round.map((r, i) => whole[i] ?? cut[i])));
  }
  document.getElementById("answers").textContent = JSON.stringify(answers);
})();
</script>
"""


def supported():
    """Whether the nginx under test was built with HTTP/3."""
    told = subprocess.run([paths.NGINX, "-V"], capture_output=True, text=True, check=True)
    return "--with-http_v3_module" in told.stderr


def make_certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"],
        capture_output=True, check=True,
    )


def _key_digest(folder):
    key = subprocess.run(
        ["openssl", "pkey", "-in", f"{folder}/key.pem", "-pubout", "-outform", "DER"],
        capture_output=True, check=True,
    )
    digest = subprocess.run(
        ["openssl", "dgst", "-sha256", "-binary"], input=key.stdout, capture_output=True, check=True
    )
    return base64.b64encode(digest.stdout).decode()


def asked(method, target, headers, body=None, cut=None):
    """A request of a round; `cut`: only so many bytes of the body are sent, and it never ends."""
    text = None if body is None else base64.b64encode(body).decode()
    return {"method": method, "target": target, "headers": dict(headers), "body": text, "cut": cut}


def exchange(edge, rounds):
    """The answers to each round of requests; status 0 for one that was given up."""
    (edge.folder / "page.html").write_text(PAGE % json.dumps(rounds))
    origin = f"127.0.0.1:{edge.port}"
    command = [
        CHROMIUM, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", f"--user-data-dir={edge.folder}/profile", "--virtual-time-budget=60000",
        f"--origin-to-force-quic-on={origin}",
        f"--ignore-certificate-errors-spki-list={_key_digest(edge.folder)}",
        "--dump-dom", f"https://{origin}/page",
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    found = re.search(r'<pre id="answers">(.+?)</pre>', told.stdout, re.DOTALL)
    assert found, f"no answers:\n{told.stdout[-500:]}\n{told.stderr[-2000:]}\n{edge.log()[-2000:]}"
    answers = json.loads(html.unescape(found.group(1)))
    return [
        [http1.Answer(a["status"], list(map(tuple, a["headers"])), a["body"].encode()) for a in one]
        for one in answers
    ]
