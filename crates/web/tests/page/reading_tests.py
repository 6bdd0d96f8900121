"""What the page says of a fleet, in figures, words and charts, and by keys."""
import re
import time
import urllib.parse

from support import *


class Reading(Page):
    def test_the_worst_server_comes_first_with_its_figure_why_and_what_next(self):
        line = self.browser.text("#verdict .worst")
        self.assertRegex(line, r"(?is)(strained|tight).*decode.*10\.0\.0\.1:30002.*9\d\.\d %.*±0\.5 %.*in use.*headroom [\d,]+ of 2\.58 M tokens")
        self.assertIn("of the full pool is in use", self.browser.text("#verdict .why"))
        self.assertRegex(self.browser.text("#verdict .next"), r"(?s)next \S+")

    def test_unknown_is_shown_as_unknown(self):
        card = "#roles a[href*='10.0.0.2']"
        text = self.browser.text(card)
        self.assertIn("unknown", text)
        self.assertIn("–", text)
        self.assertIn("never answered", text)
        self.assertNotRegex(text, r"\b0 %|0\.0 %|running 0|waiting 0")
        self.assertEqual(self.browser.run("return document.querySelector(arguments[0]).querySelector('.bar').className", card), "bar unknown")
        # Why is where the focus is.
        for _ in range(10):
            self.browser.keys("j")
            if "10.0.0.2" in (self.browser.run("return document.activeElement.hash") or ""):
                break
        self.assertIn("GET /metrics answered 404", self.browser.until("return document.querySelector('#tip:popover-open')?.innerText"))

    def test_impossible_and_stale_feed_nothing(self):
        wrong = self.browser.text("#roles a[href*='10.0.0.4']")
        self.assertIn("impossible", wrong)
        self.assertNotIn("in use\n", wrong.replace("in-use", ""))
        self.assertEqual(self.browser.run("return document.querySelector(`#roles a[href*='10.0.0.3']`).classList.contains('stale')"), True)
        self.assertRegex(self.browser.text("#roles a[href*='10.0.0.3']"), r"9\d s old")

    def test_a_sum_that_a_rank_is_missing_from_is_a_dash(self):
        self.assertIn("waiting –", self.browser.text("#roles a[href*='30001']"))

    def test_a_slow_server_says_why_it_is_read_rarely(self):
        self.assertIn("takes 3.0 s to answer: read every 300 s", self.browser.text("#roles a[href*='30001']"))

    def test_a_gap_shows_its_fix_and_copies_it(self):
        self.assertIn("--enable-metrics", self.browser.text("#gaps"))
        self.browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.browser.run("document.querySelector('#gaps .copy').click()")
        self.browser.until("return document.querySelector('#gaps .copy').textContent === 'copied'")

    def test_the_chart_says_itself_in_words_and_has_its_events(self):
        label = self.browser.until("const told = document.querySelector('#history .chart').getAttribute('aria-label').replaceAll('\u00a0', ' '); return told.includes('lowest') && told")
        self.assertRegex(label, r"lowest \d+\.\d %, highest \d+\.\d %, not known for \d+ (s|min)")
        self.assertGreaterEqual(self.browser.run("return document.querySelectorAll('#history .events button').length"), 3)
        self.browser.run("document.querySelector('#history .events button').focus()")
        self.assertIn("verdict: tight", self.browser.text("#history .readout"))

    def test_a_history_that_is_late_is_not_made_up_of_what_is_live(self):
        # Frames come twice a second: several before the history does.
        self.mock.tell(late=3)
        browser = self.browser
        browser.open(self.address + "/?late")
        browser.until("return document.getElementById('link').textContent === 'live'")
        label = "return document.querySelector('#history .chart').getAttribute('aria-label') ?? ''"
        early = []
        while browser.run("return document.querySelector('#history .chart').getAttribute('aria-busy')") == "true":
            early.append(browser.run(label))
            time.sleep(0.3)
        self.assertGreater(len(early), 3)
        self.assertEqual([told for told in early if "lowest" in told], [])
        self.assertRegex(browser.run(label).replace("\u00a0", " "), r"lowest \d+\.\d %, highest \d+\.\d %, not known for \d+ (s|min)")

    def test_a_history_that_cannot_be_read_just_now_leaves_what_is_drawn(self):
        browser = self.browser
        label = "return document.querySelector('#history .chart').getAttribute('aria-label')"
        browser.until(label.replace("return ", "return /lowest/.test(") + ")")
        self.mock.tell(fail=1)
        browser.run("document.querySelector(`#history [data-window='15m']`).click()")
        browser.until("return /could not be read just now: too many ask for this at once/.test(document.querySelector('#history .summary').innerText)")
        # The line is there, and goes on.
        before = re.search(r"at (\S+), lowest", browser.run(label))[1]
        browser.until(label.replace("return ", "return /lowest/.test(") + ")")
        browser.until(label.replace("return ", "return !") + f".includes('at {before},')")
        # And it is asked again soon.
        self.mock.tell(fail=0)
        browser.until("return !/could not be read/.test(document.querySelector('#history .summary').innerText)", seconds=20)

    def test_a_server_that_dies_and_comes_back(self):
        self.mock.tell(down=DECODE)
        self.browser.until("return /unreachable: connection refused/.test(document.querySelector(`#roles a[href*='1%3A30002']`).innerText)")
        self.assertEqual(self.browser.run("return document.querySelector(`#roles a[href*='1%3A30002']`).classList.contains('stale')"), True)
        self.assertRegex(self.browser.text("#verdict .worst"), r"(?s)decode.*was 9\d\.\d %")
        # Its requests are what they were as well; how old all that is comes before the cause.
        self.assertRegex(self.browser.text("#roles a[href*='1%3A30002'] .foot"), r"^\d+ s old .*headroom was [\d,]+ · running was \d+ · waiting was \d+ .*unreachable: connection refused")
        self.shot("server-down")
        self.mock.tell(up=DECODE)
        self.browser.until("return !document.querySelector(`#roles a[href*='1%3A30002']`).classList.contains('stale')")
        self.calm_console()


class Series(Page):
    """What a chart draws of a history, asked of the page's own module: expected rows follow from the contract of the API."""

    def rows(self, series, until):
        return self.browser.call("POST", self.browser.session + "/execute/async", {"args": [series, until], "script": """
            const [series, until, done] = arguments;
            import(new URL('assets/series.js', document.baseURI)).then(({ rows, summary }) => { const made = rows(series, until); done({ ...made, sum: summary(made, 0, until) }); })"""})

    def test_a_line_breaks_where_nothing_was_said(self):
        made = self.rows({"looks": {"at": [0, 5, 10, 15, 20], "value": [0.1, 0.2, 0.3, None, 0.5], "state": "rrs-r"}}, 21)
        told = [(at, last) for at, last in zip(made["at"], made["last"])]
        # Stale at 10 keeps its value in the document, and is no part of the line.
        self.assertIn([10, None], [list(pair) for pair in told])
        self.assertIn([15, None], [list(pair) for pair in told])
        self.assertEqual([(hole["from"], hole["to"], hole["why"]) for hole in made["holes"]], [(10, 15, "stale"), (15, 20, "not reported")])

    def test_a_line_breaks_where_looks_lie_more_than_three_intervals_apart(self):
        near = self.rows({"looks": {"at": [0, 5, 10, 24, 29], "value": [1, 1, 1, 1, 1], "state": "rrrrr"}}, 30)
        self.assertEqual(near["holes"], [])
        far = self.rows({"looks": {"at": [0, 5, 10, 26, 31], "value": [1, 1, 1, 1, 1], "state": "rrrrr"}}, 32)
        self.assertEqual(far["holes"], [{"from": 15, "to": 26, "why": "no looks"}])

    def test_the_last_look_is_not_drawn_on_until_now(self):
        made = self.rows({"looks": {"at": [0, 5, 10], "value": [1, 1, 1], "state": "rrr"}}, 1000)
        self.assertLess(max(at for at, last in zip(made["at"], made["last"]) if last is not None), 15.1)
        self.assertEqual(made["holes"], [{"from": 15, "to": 1000, "why": "no looks"}])

    def test_peaks_of_a_step_never_vanish(self):
        steps = {"at": [0, 60, 120], "step_s": [60, 60, 60], "min": [0.1, 0.1, None], "max": [0.2, 0.99, None], "last": [0.15, 0.2, None],
                 "mean": [0.1, 0.2, None], "fresh": [12, 12, 0], "stale": [0, 0, 0], "not_reported": [0, 0, 0], "unreachable": [0, 0, 12], "impossible": [0, 0, 0]}
        made = self.rows({"steps": steps, "looks": {"at": [], "value": [], "state": ""}}, 180)
        self.assertEqual((made["sum"]["least"], made["sum"]["most"], made["sum"]["latest"]), (0.1, 0.99, 0.2))
        self.assertEqual([hole["why"] for hole in made["holes"]], ["unreachable"])
        self.assertEqual(made["sum"]["dark"], 60)

    def test_a_step_that_was_mostly_unknown_is_no_unbroken_line(self):
        # An hour of 720 looks each: all fresh, one fresh, one not.
        steps = {"at": [0, 3600, 7200], "step_s": [3600] * 3, "min": [0.5, 0.9, 0.4], "max": [0.5, 0.9, 0.6], "last": [0.5, 0.9, 0.5], "mean": [0.5, 0.9, 0.5],
                 "fresh": [720, 1, 719], "stale": [0] * 3, "not_reported": [0] * 3, "unreachable": [0, 719, 1], "impossible": [0] * 3}
        made = self.rows({"steps": steps, "looks": {"at": [], "value": [], "state": ""}}, 10800)
        within = [last for at, last in zip(made["at"], made["last"]) if 3600 <= at < 7200]
        self.assertEqual(set(within), {None})
        self.assertEqual([(hole["from"], hole["to"], hole["why"]) for hole in made["holes"]], [(3600, 7200, "unreachable"), (7200, 10800, "unreachable")])
        # As long as its looks say: 719 of 720 of the one hour, 1 of 720 of the other.
        self.assertAlmostEqual(made["sum"]["dark"], 3595 + 5)
        # What the one look said is not lost.
        self.assertEqual((made["sum"]["most"], made["sum"]["latest"]), (0.9, 0.5))
        self.assertIn([1, 720], made["seen"])


class Keys(Page):
    def test_a_walk_by_keyboard_alone(self):
        browser = self.browser
        browser.keys("j")
        first = browser.run("return document.activeElement.hash")
        self.assertTrue(first)
        browser.keys("j")
        second = browser.run("return document.activeElement.hash")
        self.assertNotEqual(first, second)
        browser.keys("k")
        self.assertEqual(browser.run("return document.activeElement.hash"), first)
        browser.keys(DOWN)
        browser.keys("/")
        self.assertEqual(browser.run("return document.activeElement.id"), "filter")
        browser.keys("decode")
        browser.until("return document.querySelectorAll('#roles a').length === 2")
        browser.keys(ENTER)
        browser.keys(ENTER)
        browser.until("return document.getElementById('panel').open && document.querySelectorAll('#panel tbody tr').length > 10")
        self.assertEqual(urllib.parse.unquote(browser.run("return location.hash")), "#" + DECODE)
        table = browser.text("#panel table")
        for word in ("in use", "reported", "not reported", "/v1/loads num_used_tokens", "GET /metrics answered 404"):
            self.assertIn(word, table)
        self.shot("panel")
        browser.keys("j")
        browser.until("return document.getElementById('panel-name').textContent.includes('10.0.0.3')")
        browser.keys(ESCAPE)
        browser.until("return !document.getElementById('panel').open && document.activeElement.closest('#roles')")
        browser.keys("?")
        browser.until("return document.getElementById('keys').open")
        browser.keys(ESCAPE)
        browser.until("return !document.getElementById('keys').open")
        browser.keys("t")
        self.assertEqual(browser.run("return document.documentElement.dataset.theme"), "dark")
        self.calm_console()

    def test_a_moment_can_be_sent_to_somebody(self):
        browser = self.browser
        browser.open(self.address + "/#" + urllib.parse.quote(DECODE, safe=""))
        browser.until("return document.getElementById('panel').open && !document.querySelector('#panel .chart[aria-busy]')")
        browser.drag("#panel .chart", 0.3, 0.6)
        address = browser.until("return location.hash.includes('&from=') && location.href")
        given = urllib.parse.parse_qs(address.split("&", 1)[1])
        browser.open("about:blank")
        browser.asked()
        browser.open(address)
        browser.until("return document.getElementById('panel').open && !document.querySelector('#panel .chart[aria-busy]')")
        self.assertIn("10.0.0.1:30002", browser.text("#panel-name"))
        asked = [urllib.parse.parse_qs(urllib.parse.urlparse(url).query) for url in browser.asked() if "/history?" in url]
        self.assertIn((given["from"], given["to"]), [(ask.get("from"), ask.get("to")) for ask in asked])
        # A window of time ends with now: it is no moment.
        browser.run("document.querySelector('#panel [data-window=\"1h\"]').click()")
        self.assertNotIn("from=", browser.run("return location.hash"))

    def test_times_say_their_zone(self):
        self.browser.devtools("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
        self.browser.open(self.address + "/?zone")
        self.browser.until("return /times in UTC\\+5:30/.test(document.getElementById('watch').textContent)")
        self.browser.until("return /lowest/.test(document.querySelector('#history .chart').getAttribute('aria-label'))")
        self.browser.run("document.querySelector('#history .events button').focus()")
        self.assertRegex(self.browser.text("#history .readout"), r"\d\d:\d\d:\d\d UTC\+5:30 ")

    def test_windows_and_zoom_ask_for_what_they_show(self):
        browser, self.histories = self.browser, []
        browser.open(self.address + "/#" + urllib.parse.quote(DECODE, safe=""))
        # Both charts have their history: what a pointer reads is there from then on.
        drawn = "return !document.querySelector('#panel .chart[aria-busy]') && [...document.querySelectorAll('#panel .chart')].every((it) => /lowest/.test(it.ariaLabel))"
        browser.until(drawn)
        browser.asked()
        browser.run("[...document.querySelectorAll('#panel .windows button')].find((it) => it.textContent === '15 min').click()")
        browser.until("return document.querySelector('#panel [data-window=\"15m\"]').getAttribute('aria-pressed') === 'true'")
        self.asked_for(lambda ask: ask.get("window") == ["15m"])
        browser.until(drawn)
        browser.drag("#panel .chart", 0.3, 0.6)
        browser.until("return !document.querySelector('#panel [aria-pressed=\"true\"]')")
        # Both charts went along, and the pointer is read in both.
        zoomed = [self.asked_for(lambda ask, it=signal: "from" in ask and ask["signal"] == [it]) for signal in ("in_use", "waiting")]
        wide = float(zoomed[0]["to"][0]) - float(zoomed[0]["from"][0])
        # Three tenths of 15 minutes, and the margins of the chart.
        self.assertTrue(250 < wide < 320, wide)
        self.assertEqual(browser.run("return [...document.querySelectorAll('#panel .readout')].filter((it) => /dp0/.test(it.innerText)).length"), 2)
        browser.until(drawn)
        self.histories.clear()
        browser.run("document.querySelector('#panel .chart').focus()")
        browser.keys("+")
        self.asked_for(lambda ask: "from" in ask)
        self.calm_console()

    def asked_for(self, wanted):
        """The first history that was asked for as is wanted; the browser's log of it comes late."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            self.histories += [urllib.parse.parse_qs(urllib.parse.urlparse(url).query) for url in self.browser.asked() if "/history?" in url]
            for ask in self.histories:
                if wanted(ask):
                    return ask
            time.sleep(0.1)
        self.fail(self.histories)
