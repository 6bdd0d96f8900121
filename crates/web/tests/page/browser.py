"""A headless Chromium, driven by chromedriver over plain HTTP: what the tests of the page need of it, and no more."""
import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ENTER, ESCAPE, DOWN = "\ue007", "\ue00c", "\ue015"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


class Browser:
    def __init__(self, width=1366, height=768, dark=False, reduced=False):
        self.profile = tempfile.mkdtemp()
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        for _ in range(100):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        options = {"args": FLAGS + [f"--window-size={width},{height}", f"--user-data-dir={self.profile}"]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + made["sessionId"]
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"}])

    def call(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + path, method=method, data=data, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:800]) from None

    def devtools(self, command, **parameters):
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address):
        self.call("POST", self.session + "/url", {"url": address})

    def run(self, script, *given):
        """The value of a JavaScript function's body."""
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(given)})

    def tab(self, handle=None, new=False):
        """Goes to a tab, or a new one; says which it is."""
        if new:
            handle = self.call("POST", self.session + "/window/new", {"type": "tab"})["handle"]
        if handle:
            self.call("POST", self.session + "/window", {"handle": handle})
        return self.call("GET", self.session + "/window")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText.replaceAll('\\u00a0', ' ') ?? null", selector)

    def keys(self, pressed):
        actions = [{"type": kind, "value": key} for key in pressed for kind in ("keyDown", "keyUp")]
        self.call("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def drag(self, selector, start, end):
        """Draws the pointer over an element, from one share of its width to another."""
        left, top, wide, high = self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.left, box.top, box.width, box.height]", selector)
        to = [{"type": "pointerMove", "duration": 50, "x": int(left + share * wide), "y": int(top + high / 2)} for share in (start, end)]
        actions = [to[0], {"type": "pointerDown", "button": 0}, to[1], {"type": "pointerUp", "button": 0}]
        self.call("POST", self.session + "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def until(self, script, *given, seconds=15):
        """Waits until a function's body gives something true, and gives that."""
        end = time.monotonic() + seconds
        while True:
            held = self.run(script, *given)
            if held:
                return held
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {script}")
            time.sleep(0.1)

    def shot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", self.session + "/screenshot")))

    def log(self, kind="browser"):
        return self.call("POST", self.session + "/se/log", {"type": kind})

    def asked(self):
        """Every address that the page has asked for since it was last asked here."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]

    def close(self):
        try:
            self.call("DELETE", self.session)
        except (OSError, AssertionError):
            pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
