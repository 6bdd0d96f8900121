"""Without a connection, a stream, a token, a history: what the page knows, and how old it says that is."""
import re
import time
import urllib.parse

from support import *


class Tabs(Page):
    fleet = "calm"

    def test_more_tabs_than_a_browser_has_connections_all_live(self):
        browser, first = self.browser, self.browser.tab()
        # A browser opens six connections to one host for all of its tabs.
        for _ in range(7):
            last = browser.tab(new=True)
            browser.open(self.address)
            browser.until("return document.getElementById('link').textContent === 'live' && document.querySelectorAll('#roles a').length === 3")
        browser.until("return /lowest/.test(document.querySelector('#history .chart').getAttribute('aria-label'))")
        browser.tab(first)
        browser.until("return document.getElementById('link').textContent === 'live'")
        # Nobody sees the others, but their titles are still true.
        self.mock.tell(down="http://10.0.0.1:30000")
        end = time.monotonic() + 30
        while time.monotonic() < end:
            titles = [target["title"] for target in browser.devtools("Target.getTargets")["targetInfos"] if target["type"] == "page"]
            if all(title.startswith("✕ unreachable 10.0.0.1:30000") for title in titles):
                break
            time.sleep(0.5)
        self.assertEqual(set(titles), {"✕ unreachable 10.0.0.1:30000 – plimsoll"})
        self.assertEqual(len(titles), 8)
        # One that was hidden for a while says how old it is until it is live again.
        self.mock.tell(full=2)
        browser.tab(last)
        browser.until("return /\\d+\\ss old/.test(document.getElementById('link').textContent)")
        self.mock.tell(full=0)
        browser.until("return document.getElementById('link').textContent === 'live'")


class Lost(Page):
    def setUp(self):
        super().setUp()
        self.port = int(self.address.rsplit(":", 1)[1])

    def test_without_a_connection_everything_is_old_and_grows_older(self):
        browser = self.browser
        self.mock.stop()
        browser.until("return document.body.classList.contains('lost')")
        self.assertRegex(browser.text("#lost"), r"no connection to plimsoll since (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d")
        self.assertRegex(browser.text("#verdict .worst").lower(), r"was (strained|tight)")
        self.assertEqual(browser.run("return [...document.querySelectorAll('#roles a')].filter((it) => !it.classList.contains('stale')).length"), 0)
        told = browser.run("return [...document.querySelectorAll('#roles .bar.told, #roles .bar.apart')].filter((it) => !it.classList.contains('stale')).length")
        self.assertEqual(told, 0)
        self.assertIn("no connection", browser.run("return document.title"))
        age = "return parseInt(document.getElementById('link').textContent.match(/\\d+/)[0])"
        before = browser.run(age)
        time.sleep(3.2)
        self.assertGreaterEqual(browser.run(age), before + 2)
        self.shot("lost")

    def test_a_token_that_is_asked_for_is_no_lost_connection(self):
        browser = self.browser
        self.mock.tell(shut=1)
        browser.until("return document.body.classList.contains('lost')")
        browser.until("return document.getElementById('lost').innerText.includes('plimsoll asks for its token since')")
        self.assertNotIn("no connection", browser.text("#lost") + browser.run("return document.title"))
        # The way in is a button: what stands here does not vanish by itself.
        self.assertEqual(browser.text("#lost button"), "sign in")
        self.assertRegex(browser.text("#verdict .worst").lower(), r"was (strained|tight)")
        self.mock.tell(shut=0)
        browser.until("return document.getElementById('link').textContent === 'live' && document.getElementById('lost').hidden")

    def test_a_wrong_token_is_said(self):
        browser = self.browser
        self.mock.tell(shut=1)
        browser.until("return !document.getElementById('door').hidden")
        browser.run("document.getElementById('door').click()")
        browser.until("return document.querySelector('[name=token]')")
        self.assertNotIn("not the token", browser.text("body"))
        browser.keys("wrong" + ENTER)
        browser.until("return /That was not the token/.test(document.querySelector('[role=alert]').innerText)")
        browser.keys("right" + ENTER)
        browser.until("return document.getElementById('link')?.textContent === 'live'")

    def test_without_a_stream_it_asks_and_says_so(self):
        browser = self.browser
        self.mock.tell(full=1)
        browser.open(self.address + "/?full")
        browser.until("return document.querySelectorAll('#roles a').length === 7")
        self.assertEqual(browser.text("#link"), "no live stream: asked every 5 s")
        self.assertFalse(browser.run("return document.body.classList.contains('lost')"))
        self.assertRegex(browser.text("#verdict .worst").lower(), r"^\W*(strained|tight)")
        # It goes on asking, and nothing grows stale meanwhile.
        browser.asked()
        time.sleep(6)
        self.assertTrue(any("/api/v1/overview" in url for url in browser.asked()))
        self.assertFalse(browser.run("return document.querySelector(`#roles a[href*='1%3A30002']`).classList.contains('stale')"))
        self.mock.tell(full=0)
        browser.until("return document.getElementById('link').textContent === 'live'")

    def test_a_refusal_is_said_in_the_words_of_plimsoll(self):
        browser = self.browser
        self.mock.tell(full=2)
        browser.open(self.address + "/?refused")
        told = browser.until("const it = document.getElementById('lost'); return !it.hidden && it.innerText")
        self.assertIn("plimsoll refuses: too many watch at once", told)
        # Nothing stands here yet.
        self.assertNotIn("as of then", told)

    def test_a_standing_watch_is_as_old_as_it_says_whatever_our_clock_says(self):
        browser = self.browser
        for skew in (-600, 600):
            self.mock.tell(skew=skew)
            time.sleep(1)
            self.mock.tell(mute=1)
            time.sleep(4)
            browser.open(f"{self.address}/?{skew}")
            browser.until("return document.body.classList.contains('lost')")
            self.assertIn("its watch stands still", browser.text("#lost"))
            age = browser.until("return Number(document.getElementById('link').textContent.match(/(\\d+)\\ss old/)?.[1])")
            self.assertTrue(3 <= age <= 20, (skew, age))
            self.mock.tell(mute=0)
            browser.until("return !document.body.classList.contains('lost')")

    def test_it_comes_back_by_itself_when_serve_does(self):
        browser = self.browser
        self.mock.stop()
        browser.until("return document.body.classList.contains('lost')")
        browser.asked()
        self.mock = Mock("calm", port=self.port)
        browser.until("return !document.body.classList.contains('lost') && document.getElementById('link').textContent === 'live'", seconds=30)
        # The new process's fleet, whole; and its history, asked anew.
        browser.until("return document.querySelectorAll('#roles a').length === 3 && /calm/i.test(document.querySelector('#verdict .worst').innerText)")
        self.assertTrue(any("/api/v1/history" in url for url in browser.asked()))
        self.assertEqual(browser.run("return document.querySelectorAll('#roles a.stale').length"), 0)

    def test_a_stream_that_stands_still_grows_old_by_itself(self):
        self.mock.tell(mute=1)
        # Three intervals of half a second, and at least three seconds.
        self.browser.until("return document.querySelector(`#roles a[href*='1%3A30002']`).classList.contains('stale')", seconds=20)


    def test_a_watch_that_stands_still_is_not_shown_as_live(self):
        self.mock.tell(mute=1)
        self.browser.open(self.address + "/?again")
        self.browser.until("return document.body.classList.contains('lost')")
        self.assertIn("its watch stands still", self.browser.text("#lost"))
        self.mock.tell(mute=0)
        self.browser.until("return !document.body.classList.contains('lost')")


class NoHistory(Page):
    fleet = "off"

    def test_without_a_history_the_chart_is_live_from_when_the_page_was_opened(self):
        browser = self.browser
        label = "return document.querySelector('#history .chart').getAttribute('aria-label')"
        browser.until(label.replace("return ", "return /lowest \\d/.test(") + ")")
        browser.until("return /No history is kept: this was seen since the page was opened/.test(document.querySelector('#history .summary').innerText)")
        before = re.search(r"at (\S+),", browser.run(label))[1]
        browser.until(label.replace("return ", "return !") + f".includes('{before}')")
        self.assertFalse([url for url in browser.asked() if "/api/v1/history" in url])
        self.calm_console()
