"""A scripted endpoint: checks requests of `sluice send` like the real one, and answers by its script."""
import hashlib
import hmac
import http.server
import json
import threading


class Endpoint:
    """`script` gives the answers to the first requests, one each: (status, headers, body) or None for
    the usual one. `answer` may replace the usual one."""

    def __init__(self, secret, script=(), answer=None):
        self.secret = secret
        self.script = list(script)
        self.answer = answer
        self.requests = []
        self.active = {}
        self.overlaps = []
        self.lock = threading.Lock()
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers, text = endpoint.handle(self.path, self.headers, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                data = text.encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def handle(self, path, headers, body):
        keys = self.keys_of(path, body)
        with self.lock:
            self.overlaps += [key for key in keys if self.active.get(key)]
            for key in keys:
                self.active[key] = self.active.get(key, 0) + 1
            scripted = self.script.pop(0) if self.script else None
            given = scripted or (self.answer and self.answer(path, headers, body)) or self.usual(path, headers, body)
            self.requests.append({"path": path, "headers": dict(headers.items()), "body": body, "status": given[0]})
        with self.lock:
            for key in keys:
                self.active[key] -= 1
        return given

    @staticmethod
    def keys_of(path, body):
        try:
            value = json.loads(body)
        except ValueError:
            return []
        if path.endswith("/event/ecomm"):
            return [value.get("platform_order_id")]
        return sorted({record.get("platform_product_id") for record in value["products"]})

    def usual(self, path, headers, body):
        if path.endswith("/event/ecomm"):
            good = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
            return (200, {}, "success") if headers["X-Signature"] == good else (401, {}, "")
        good = hashlib.sha256(body).hexdigest()
        if headers["Authorization"] != "Bearer " + self.secret or headers["X-Signature"] != good:
            return (403, {}, '{"code":403,"message":"no"}')
        count = len(json.loads(body)["products"])
        return (200, {}, json.dumps({"success": True, "message": "ok", "processedCount": count}))

    def accepted(self):
        return [request for request in self.requests if request["status"] == 200]
