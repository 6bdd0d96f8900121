"""A page in a browser, before a stand-in's fleet or a running `serve`: what the tests beside this begin with."""
import os
import subprocess
import sys
import time
import unittest
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from browser import DOWN, ENTER, ESCAPE, Browser

HERE = os.path.dirname(os.path.abspath(__file__))
ASSETS = os.path.join(HERE, "..", "..", "assets")
GIVEN = os.environ.get("PLIMSOLL_PAGE")
SHOTS = os.environ.get("PLIMSOLL_SHOTS")
DECODE = "http://10.0.0.1:30002"
# Parts of the first screen, from the top.
PARTS = ["#verdict", "#fleet", "#history", "#gaps"]


class Mock:
    def __init__(self, fleet="small", port=0, every=0.5):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "mock.py"), "--fleet", fleet, "--port", str(port), "--every", str(every)],
                                        stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def tell(self, **said):
        urllib.request.urlopen(f"{self.address}/mock?{urllib.parse.urlencode(said)}").read()

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Page(unittest.TestCase):
    size, dark, fleet, any_fleet = (1366, 768), False, "small", False

    def setUp(self):
        if GIVEN and not self.any_fleet:
            self.skipTest("needs the stand-in's fleet")
        self.mock = None if GIVEN else Mock(self.fleet)
        self.addCleanup(lambda: self.mock and self.mock.stop())
        self.address = GIVEN or self.mock.address
        self.browser = Browser(*self.size, dark=self.dark)
        self.addCleanup(self.browser.close)
        self.browser.open(self.address)
        self.browser.until("return document.querySelector('#roles a, #verdict strong') && document.getElementById('link').textContent === 'live'")

    def shot(self, name):
        if SHOTS:
            time.sleep(1)
            self.browser.shot(os.path.join(SHOTS, f"{name}.png"))

    def calm_console(self):
        """Nothing went wrong, nothing broke the policy, nobody else was asked."""
        faults = [entry["message"] for entry in self.browser.log() if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(faults, [])
        outside = [url for url in self.browser.asked() if not url.startswith((self.address, "data:", "about:", "chrome:"))]
        self.assertEqual(outside, [])


LIGHT = """
    const rgb = (held) => held.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = (held) => rgb(held).map((c) => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
    const ground = (it) => { for (; it; it = it.parentElement) { const held = getComputedStyle(it).backgroundColor; if (!/^rgba.*, 0\\)$/.test(held)) return held; } return 'rgb(255,255,255)'; };
    const ratio = (one, other) => { const pair = [light(one), light(other)].sort((a, b) => b - a); return (pair[0] + .05) / (pair[1] + .05); };
"""


def readable(test, where):
    """Every text below `where`, in both themes, against the ground that it stands on."""
    for theme in ("light", "dark"):
        test.browser.run("document.documentElement.dataset.theme = arguments[0]", theme)
        worst = test.browser.run(LIGHT + """
            let worst = [99];
            for (const it of document.querySelectorAll(arguments[0])) {
                if (![...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !it.getClientRects().length || it.closest('.sr')) continue;
                const held = ratio(getComputedStyle(it).color, ground(it));
                if (held < worst[0]) worst = [held, it.className, it.textContent.slice(0, 40)];
            }
            return worst""", where)
        test.assertGreaterEqual(worst[0], 4.5, (theme, worst))
