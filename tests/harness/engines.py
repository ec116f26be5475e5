"""Chromium, Firefox and WebKitGTK, driven by their own protocols: DevTools, Marionette, and W3C WebDriver. They accept the tests'
certificates."""

import base64
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import urllib.error
import urllib.request

from harness import paths
from harness.chromium import Broken, Browser

WEBKIT = next(pathlib.Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"), None)
# Requests of Firefox to its maker.
UNASKED = ("app.update.enabled", "datareporting.policy.dataSubmissionEnabled", "network.captive-portal-service.enabled",
           "browser.shell.checkDefaultBrowser", "network.connectivity-service.enabled", "extensions.getAddons.cache.enabled")
CAPABILITIES = {"acceptInsecureCerts": True, "timeouts": {"script": 30_000, "pageLoad": 60_000}}
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008"}


class Engine:
    """Use as a context manager. One window; its profile is new."""

    name = ""

    def __init__(self, folder, preferences=None, scheme="light", third_party=None):
        """preferences: of Firefox, name and value; third_party: whether frames of other sites may have cookies, None: the browser's
        own choice."""
        self.folder, self.processes, self.preferences = pathlib.Path(folder), [], preferences or {}
        self.scheme, self.third_party = scheme, third_party

    def spawn(self, *command, **environment):
        with open(self.folder / f"{pathlib.Path(command[0]).name}.log", "ab") as log:
            started = subprocess.Popen([str(one) for one in command], stdout=log, stderr=log, start_new_session=True,
                                       env={**os.environ, "HOME": str(self.folder), **environment})
        self.processes.append(started)
        return started

    def __exit__(self, *_):
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def run(self, script):
        """The value of an expression, which may be a promise."""
        answer = self.execute(
            f"const done = arguments[0]; Promise.resolve().then(() => ({script})).then((one) => done([one]), (error) => done(String(error)));")
        assert isinstance(answer, list), (script, answer)
        return answer[0]

    def wait(self, script):
        """Waits until the expression is true, also over a change of the page, in which it throws."""
        def try_once():
            try:
                return self.run(script)
            except AssertionError:
                return False

        return paths.wait_until(try_once, script)

    def press(self, key, shift=False):
        self.act([{"type": "keyDown", "value": KEYS["Shift"]}] * shift + [{"type": "keyDown", "value": KEYS[key]},
                 {"type": "keyUp", "value": KEYS[key]}] + [{"type": "keyUp", "value": KEYS["Shift"]}] * shift)


class Chromium(Engine):
    """The whole browser: the shell without windows prefetches nothing and knows no policies."""

    name = "chromium"

    def __enter__(self):
        for name in ("profile", "policies"):
            (self.folder / name).mkdir()
        if self.third_party is not None:
            (self.folder / "policies" / "managed").mkdir()
            (self.folder / "policies" / "managed" / "cookies.json").write_text(json.dumps({"BlockThirdPartyCookies": not self.third_party}))
        self.browser = Browser(self.folder / "profile", policies=self.folder / "policies",
                               arguments=("--ignore-certificate-errors",)).__enter__()
        self.page = self.now = self.browser.page(scheme=self.scheme)
        return self

    def __exit__(self, *error):
        self.browser.__exit__(*error)

    def goto(self, url):
        self.now = self.page
        self.page.goto(url)
        self.wait(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")

    def run(self, script):
        try:
            return self.now.run(script)
        except Broken as error:
            raise AssertionError(str(error)) from error

    def enter_frame(self, address):
        self.now = self.page.attached_frame(address, self.scheme)

    def leave_frame(self):
        self.now = self.page

    def cookies(self):
        return [{**one, "expiry": one["expires"]} for one in self.page.call("Network.getCookies")["cookies"]]

    def resize(self, width, height):
        self.page.resize(width, height, self.scheme)

    def press(self, key, shift=False):
        self.page.press(key, shift)

    def screenshot(self, path):
        # A frame of another process is painted within the window only.
        width, height = self.page.run("[innerWidth, document.documentElement.scrollHeight]")
        self.resize(width, height)
        self.page.screenshot(path)


class Firefox(Engine):
    name = "firefox"

    def __enter__(self):
        port = paths.free_port()
        profile = self.folder / "profile"
        profile.mkdir()
        preferences = {**dict.fromkeys(UNASKED, False), "marionette.port": port, "ui.systemUsesDarkTheme": int(self.scheme == "dark"),
                       **({} if self.third_party is None else {"network.cookie.cookieBehavior": 0 if self.third_party else 1}),
                       **self.preferences}
        (profile / "user.js").write_text("".join(f'user_pref("{name}", {json.dumps(value)});\n' for name, value in preferences.items()))
        self.spawn("firefox-esr", "--headless", "--no-remote", "--marionette", "--profile", profile, MOZ_DISABLE_CONTENT_SANDBOX="1")
        paths.wait_until(lambda: self._connect(port), "Firefox")
        self.number, self.buffer = 0, b""
        self._message()
        self.call("WebDriver:NewSession", **CAPABILITIES)
        return self

    def _connect(self, port):
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError:
            return False
        return True

    def __exit__(self, *error):
        self.socket.close()
        super().__exit__(*error)

    def _message(self):
        while b":" not in self.buffer or len(self.buffer) < self._length():
            part = self.socket.recv(1 << 16)
            assert part, "Firefox ended"
            self.buffer += part
        size, _, rest = self.buffer.partition(b":")
        message, self.buffer = rest[:int(size)], rest[int(size):]
        return json.loads(message)

    def _length(self):
        size = self.buffer.partition(b":")[0]
        return len(size) + 1 + int(size)

    def call(self, command, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self._message()
        assert error is None, (command, error)
        return result

    def goto(self, url):
        self.call("WebDriver:Navigate", url=url)

    def execute(self, script):
        return self.call("WebDriver:ExecuteAsyncScript", script=script, args=[])["value"]

    def cookies(self):
        found = self.call("WebDriver:GetCookies")
        return found["value"] if isinstance(found, dict) else found

    def enter_frame(self, _):
        self.call("WebDriver:SwitchToFrame", id=0)

    def leave_frame(self):
        self.call("WebDriver:SwitchToFrame", id=None)

    def resize(self, width, height):
        self.call("WebDriver:SetWindowRect", width=width, height=height)

    def act(self, actions):
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=True)["value"]))


class WebKit(Engine):
    name = "webkit"

    def __enter__(self):
        port, display = paths.free_port(), 100 + os.getpid() % 400
        self.spawn("Xvfb", f":{display}", "-screen", "0", "1600x1400x24", "-nolisten", "tcp")
        self.spawn("WebKitWebDriver", f"--port={port}", DISPLAY=f":{display}", WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS="1",
                   GDK_BACKEND="x11", LIBGL_ALWAYS_SOFTWARE="1")
        self.base = f"http://127.0.0.1:{port}"
        paths.wait_until(lambda: self._ready(), "WebKitWebDriver")
        arguments = ["--automation", *(["--dark-mode"] if self.scheme == "dark" else []),
                     *([] if self.third_party is None else ["--cookies-policy=" + ("always" if self.third_party else "no-third-party")])]
        options = {"binary": str(WEBKIT), "args": arguments}
        session = self.call("POST", "/session", capabilities={"alwaysMatch": {"acceptInsecureCerts": True, "webkitgtk:browserOptions": options}})
        self.base += f"/session/{session['sessionId']}"
        self.call("POST", "/timeouts", **CAPABILITIES["timeouts"])
        return self

    def _ready(self):
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    def call(self, method, path, **parameters):
        body = json.dumps(parameters).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + path, body, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError((path, error.read().decode())) from error

    def goto(self, url):
        self.call("POST", "/url", url=url)

    def execute(self, script):
        return self.call("POST", "/execute/async", script=script, args=[])

    def cookies(self):
        return self.call("GET", "/cookie")

    def enter_frame(self, _):
        self.call("POST", "/frame", id=0)

    def leave_frame(self):
        self.call("POST", "/frame", id=None)

    def resize(self, width, height):
        self.call("POST", "/window/rect", x=0, y=0, width=width, height=height)

    def act(self, actions):
        self.call("POST", "/actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))
