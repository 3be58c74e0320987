"""Chromium without a window, driven over a pipe by its own protocol: nothing but Python is needed."""

import base64
import json
import os
import select
import subprocess
import tempfile
import time


class Trouble(Exception):
    """The browser says that a command failed, or says nothing."""


class Browser:
    """One Chromium process with one page."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(prefix="rmdp-browser-", ignore_cleanup_errors=True)
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()

        def wire():
            # The browser reads commands from descriptor 3 and answers on 4. Moved out of the way
            # first: either may be 3 or 4 already.
            commands, answers = os.dup(to_browser), os.dup(from_browser)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        flags = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--force-device-scale-factor=1", "--hide-scrollbars", "--mute-audio",
            f"--user-data-dir={self.profile.name}", "about:blank",
        ]
        self.process = subprocess.Popen(
            [program, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, pass_fds=(3, 4), preexec_fn=wire, start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.count = 0
        self.session = None
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (Trouble, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait(10)
        os.close(self.writer)
        os.close(self.reader)
        self.profile.cleanup()

    def _message(self, deadline):
        """The next message of the browser, or None when the time is over."""
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                return None
            chunk = os.read(self.reader, 1 << 20)
            if not chunk:
                raise Trouble("the browser has ended")
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        """Runs one command and returns its result."""
        self.count += 1
        command = {"id": self.count, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.writer, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + 30
        while True:
            message = self._message(deadline)
            if message is None:
                raise Trouble(f"{method}: no answer in 30 s")
            if message.get("id") == self.count:
                if "error" in message:
                    raise Trouble(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, url):
        """Opens a page and waits until it is loaded and drawn."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 30
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            message = self._message(deadline)
            if message is None:
                raise Trouble(f"{url} did not load in 30 s")
            self.events.append(message)
        self.settle()

    def settle(self):
        """Waits for two frames."""
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def run(self, script):
        """The value of a JavaScript expression."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise Trouble(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def window(self, width, height, touch=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=touch,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.settle()

    def media(self, scheme="light", kind=""):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=kind, features=features)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key)

    def picture(self, path, whole=False):
        """Writes a screenshot of the window, or of the whole page."""
        more = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
        shot = self.call("Page.captureScreenshot", format="png", **more)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
