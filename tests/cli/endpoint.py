"""A scripted endpoint: checks requests of `sluice send` like the real one, and answers by its script."""
import hashlib
import hmac
import json
import threading

from harness.post_server import PostServer


class Endpoint(PostServer):
    """`script` gives the answers to the first requests, one each: (status, headers, body) or None for
    the usual one. `answer` may replace the usual one."""

    def __init__(self, secret, script=(), answer=None):
        super().__init__(lambda path, headers, body, _: self.handle(path, headers, body))
        self.secret = secret
        self.script = list(script)
        self.answer = answer
        self.requests = []
        self.active = {}
        self.overlaps = []
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

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
