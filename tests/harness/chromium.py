"""A headless Chromium, driven by its DevTools protocol over a pipe."""

import base64
import contextlib
import fcntl
import json
import os
import select
import subprocess
import time

from harness import paths

# Chromium without its windows: less than half of the processor time of `chromium --headless`.
CHROMIUM = "chromium-headless-shell"
KEYS = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowRight": 39, "Escape": 27}
SHIFT = 8


class Broken(AssertionError):
    """The page threw, or the browser refused a command."""


def _pipe():
    """Both ends above the numbers that the child's redirections use."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, 16) for end in ends]
    for end in ends:
        os.close(end)
    return high


class Browser:
    """Use as a context manager: it stops by pid."""

    def __init__(self, profile, home=None, policies=None, arguments=()):
        """home: of the user, instead of this one's; policies: a folder in place of /etc/chromium/policies."""
        self.profile, self.home, self.policies, self.arguments = profile, home, policies, arguments

    def __enter__(self):
        child_reads, self.writes = _pipe()
        self.reads, child_writes = _pipe()
        # Only the whole Chromium obeys policies.
        program = ["chromium", "--headless=new"] if self.policies else [CHROMIUM]
        arguments = [
            *program, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--hide-scrollbars", f"--user-data-dir={self.profile}", "--remote-debugging-pipe", *self.arguments, "about:blank",
        ]
        redirected = f'exec "$0" "$@" 3<&{child_reads} 4>&{child_writes} {child_reads}<&- {child_writes}>&-'
        prefix, environment = [], dict(os.environ)
        if self.policies:  # seen by this process alone
            mounted = ('mount -t tmpfs none /etc/chromium && mkdir /etc/chromium/policies && '
                       'mount --bind "$0" /etc/chromium/policies && exec "$@"')
            prefix = ["unshare", "--mount", "bash", "-c", mounted, str(self.policies)]
        if self.home:
            environment["HOME"] = str(self.home)
        self.log = open(os.path.join(self.profile, "log"), "wb")
        self.process = subprocess.Popen([*prefix, "bash", "-c", redirected, *arguments], stdout=self.log, stderr=self.log,
                                        env=environment, pass_fds=(child_reads, child_writes))
        os.close(child_reads)
        os.close(child_writes)
        self.buffer, self.number, self.pages = b"", 0, {}
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Broken, OSError):
            self.call("Browser.close")
        for end in (self.reads, self.writes):
            os.close(end)
        try:
            self.process.wait(timeout=paths.DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def send(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, session=None, **parameters):
        wanted, end = self.send(method, session, **parameters), time.monotonic() + paths.DEADLINE
        while True:
            answer = self._next(end, method)
            if answer.get("id") != wanted:
                continue
            if "error" in answer:
                raise Broken(f"{method}: {answer['error']}")
            return answer["result"]

    def _next(self, end, what):
        """The next message; events are given to their page on the way."""
        while b"\0" not in self.buffer:
            if not select.select([self.reads], [], [], max(0, end - time.monotonic()))[0]:
                raise Broken(f"no answer to {what}")
            part = os.read(self.reads, 1 << 16)
            if not part:
                raise Broken("Chromium ended")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(text)
        page = self.pages.get(message.get("sessionId"))
        if page and "method" in message:
            page.on_event(message["method"], message["params"])
        return message

    def page(self, width=1280, height=900, scheme="light", headers=None):
        """A page with a profile of its own. headers: sent with every request."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        page.open(width, height, scheme, headers or {})
        return page

    def tab(self):
        """A page, and a list in which pages appear that it renders ahead. Chromium renders none ahead of a page that a
        program attached to by itself."""
        target = self.call("Target.createTarget", url="about:blank", forTab=True)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        found = self.pages[session] = Attached(self)
        self.call("Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        page = found.pages.pop()
        page.open(1280, 900, "light", {})
        return page, found.pages


class Attached:
    """The pages of a tab."""

    def __init__(self, browser):
        self.browser, self.pages = browser, []

    def on_event(self, method, event):
        if method == "Target.attachedToTarget":
            page = self.browser.pages[event["sessionId"]] = Page(self.browser, event["sessionId"], event["targetInfo"]["targetId"])
            self.pages.append(page)


class Frame:
    """A frame of a page. Its document is seen from a world of its own, without the globals of its scripts."""

    def __init__(self, page, frame):
        self.page = page
        self.context = page.call("Page.createIsolatedWorld", frameId=frame)["executionContextId"]

    def run(self, script):
        """The value of an expression, which may be a promise."""
        answer = self.page.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, contextId=self.context)
        if "exceptionDetails" in answer:
            raise Broken(f"{script[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, what=None):
        return paths.wait_until(lambda: self.run(script), what or script)


class Page:
    """One tab. Use as a context manager: it closes, and asserts that the page complained about nothing."""

    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.complaints, self.requests, self.expected, self.login = [], [], [], None

    def open(self, width, height, scheme, headers):
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        self.call("Security.setIgnoreCertificateErrors", ignore=True)
        self.resize(width, height, scheme)
        self.call("Network.setExtraHTTPHeaders", headers=headers)

    def resize(self, width, height=900, scheme="light"):
        """Another window for the page that is open."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.browser.call("Target.closeTarget", targetId=self.target)
        if kind is None:
            left = [text for text in self.complaints if not any(part in text for part in self.expected)]
            assert not left, left

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def send(self, method, **parameters):
        """A command whose answer no one reads, for a reply to an event."""
        self.browser.send(method, self.session, **parameters)

    def answer_login(self, user, password):
        """Fills in the browser's own dialog for Basic."""
        self.login = user, password
        self.call("Fetch.enable", handleAuthRequests=True)

    def on_event(self, method, event):
        if method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.complaints.append(event["entry"]["text"] + " " + event["entry"].get("url", ""))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning"):
            self.complaints.append(str(event["args"]))
        elif method == "Fetch.authRequired":
            user, password = self.login
            self.send("Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse={
                "response": "ProvideCredentials", "username": user, "password": password})
        elif method == "Fetch.requestPaused":
            self.send("Fetch.continueRequest", requestId=event["requestId"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])

    def goto(self, url):
        self.call("Page.navigate", url=url)

    def run(self, script):
        """The value of an expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Broken(f"{script[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, what=None):
        def try_once():
            try:
                return self.run(script)
            except Broken as error:
                if "navigat" in str(error) or "Cannot find context" in str(error):
                    return None
                raise
        return paths.wait_until(try_once, what or script)

    def frame(self, address):
        """The frame whose address begins so."""
        def find():
            tree = self.call("Page.getFrameTree")["frameTree"]
            return next((one["frame"]["id"] for one in tree.get("childFrames", []) if one["frame"]["url"].startswith(address)), None)

        return Frame(self, paths.wait_until(find, f"a frame of {address}"))

    def attached_frame(self, address, scheme):
        """The same if the frame has a process of its own, as frames of other sites have in the whole browser: a Page of it."""
        def find():
            targets = self.browser.call("Target.getTargets")["targetInfos"]
            return next((one["targetId"] for one in targets if one["type"] == "iframe" and one["url"].startswith(address)), None)

        target = paths.wait_until(find, f"a frame of {address}")
        session = self.browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        found = self.browser.pages[session] = Page(self.browser, session, target)
        for domain in ("Runtime", "Log"):
            found.call(f"{domain}.enable")
        found.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        return found

    def alter(self, path, change):
        """Lets a function of JavaScript change what the API answers to a path, from the next document on."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=f"""{{ const ask = fetch; window.fetch = async (url, ...rest) => {{
            const answer = await ask(url, ...rest);
            if (!String(url).includes("v1/{path}")) return answer;
            const body = await answer.json();
            ({change})(body);
            return new Response(JSON.stringify(body), {{headers: {{"Content-Type": "application/json"}}}});
        }}; }}""")

    def text(self, selector="main"):
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def press(self, key, shift=False):
        event = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": SHIFT if shift else 0}
        if key == "Enter":
            event["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """A click of the mouse on the middle of an element, after scrolling to it."""
        found = self.run(f"""(() => {{
            const node = document.querySelector({json.dumps(selector)});
            if (!node) return null;
            node.scrollIntoView({{block: 'center'}});
            const box = node.getClientRects()[0];
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        assert found, f"no {selector} on the page:\n{self.text()}"
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=found[0], y=found[1], button="left", clickCount=1)

    def screenshot(self, path, height_max=4000):
        """The whole page, also what is below the window, down to `height_max` pixels."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height_max), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self):
        """A4, with the page's own margins."""
        return base64.b64decode(self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True)["data"])
