#!/usr/bin/env python3
"""The page in a real browser. README.md beside this says how to run it.

Each test that needs a certain fleet starts mock.py with it. PLIMSOLL_PAGE=http://host:port runs those that hold for any fleet
against a running `plimsoll serve` instead.
"""
import os
import sys
import time
import unittest
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from support import *
from lost_tests import Lost, NoHistory, Tabs
from reading_tests import Keys, Reading, Series


class FirstScreen(Page):
    any_fleet = True

    def test_everything_stands_without_scrolling_in_its_order(self):
        boxes = self.browser.until("""
            const boxes = arguments[0].map((id) => { const box = document.querySelector(id).getBoundingClientRect(); return [box.top, box.bottom, box.height]; });
            return boxes.every(([, , high]) => high > 30) && boxes""", PARTS)
        tops = [box[0] for box in boxes]
        self.assertEqual(tops, sorted(tops))
        self.assertTrue(all(bottom <= 768 for _, bottom, _ in boxes), boxes)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollHeight"), 768)
        order = self.browser.run("return [...document.querySelectorAll('main > section')].map(({ id }) => '#' + id)")
        self.assertEqual(order, PARTS)
        self.shot("first-screen")
        self.calm_console()

    def test_it_paints_within_300_ms(self):
        painted = []
        # The best of some: how long the page takes, not how busy the machine is.
        while len(painted) < 3 or (min(painted) >= 300 and len(painted) < 10):
            self.browser.open(self.address)
            painted.append(self.browser.until("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"))
        print(f"first contentful paint: {', '.join(f'{ms:.0f}' for ms in painted)} ms", file=sys.stderr)
        self.assertLess(min(painted), 300, painted)

    def test_all_files_together_stay_below_100_kb(self):
        self.browser.until("return performance.getEntriesByType('resource').some(({ name }) => name.includes('/api/v1/history'))")
        names = self.browser.run("return performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/assets/'))")
        sizes = {name: len(urllib.request.urlopen(name).read()) for name in set(names) | {self.address + "/"}}
        self.assertGreater(len(sizes), 10)
        self.assertLess(sum(sizes.values()), 100_000, sizes)
        for folder, _, files in os.walk(ASSETS):
            for name in files:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                self.assertTrue(not name.endswith(".js") or text.count("\n") < 300, name)
                self.assertNotRegex(text, r"innerHTML|insertAdjacentHTML|document\.write|\sstyle=", name)

    def test_everything_that_takes_the_focus_has_a_name(self):
        nameless = self.browser.run("""
            return [...document.querySelectorAll('a, button, input, select, [tabindex]')].filter((it) => !(it.getAttribute('aria-label') || it.innerText?.trim() || it.labels?.length))
                .map((it) => it.outerHTML.slice(0, 120))""")
        self.assertEqual(nameless, [])


class Gaps(Page):
    fleet = "big"

    def test_one_flag_is_one_entry_with_one_thing_to_copy(self):
        self.browser.until("return document.querySelector('#gaps details')")
        entries = self.browser.run("return [...document.querySelectorAll('#gaps details')].map((it) => it.querySelector('summary').innerText)")
        # 67 of the 200 servers, of which each lacks two things for want of the same flag.
        self.assertEqual(len(entries), 1)
        self.assertRegex(entries[0], r"(?s)KV cache fullness as Prometheus series: off.*and 1 more.*67 servers.*--enable-metrics")
        self.assertEqual(self.browser.run("return document.querySelectorAll('#gaps .copy').length"), 1)
        self.browser.run("document.querySelector('#gaps details').open = true")
        told = self.browser.text("#gaps dl")
        self.assertIn("requests thrown out because the pool was full: off", told)
        self.assertIn("10.0.0.1:30000: /etc/systemd/system/sglang-decode.service line 12", told)
        self.assertIn("134 gaps on 67 servers", self.browser.text("#gap-count"))


class Hostile(Page):
    fleet = "hostile"

    def test_hostile_names_stay_text(self):
        browser = self.browser
        self.assertIn("<img src=x onerror=", browser.text("#verdict"))
        browser.keys("j" + ENTER)
        browser.until("return document.querySelectorAll('#panel tbody tr').length > 5")
        self.assertEqual(browser.run("return document.querySelectorAll('img[src=x], body script').length"), 0)
        self.assertNotEqual(browser.run("return document.title"), "owned")
        links = browser.run("return [...document.querySelectorAll('a')].map((it) => it.getAttribute('href')).filter((it) => !/^(#|api\\/)/.test(it))")
        self.assertEqual(links, [])
        self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), 1366)
        self.shot("hostile")
        self.calm_console()


class Phone(Page):
    size, any_fleet = (390, 844), True

    def test_nothing_is_wider_than_a_phone(self):
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 390)
        self.browser.keys("j" + ENTER)
        self.browser.until("return document.getElementById('panel').open")
        time.sleep(1)
        self.assertLessEqual(self.browser.run("const it = document.getElementById('panel'); return it.scrollWidth - it.clientWidth"), 0)
        self.shot("phone-panel")


class HostilePhone(Page):
    size, fleet = (390, 844), "hostile"

    def test_nothing_is_wider_than_a_phone(self):
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 390)


class Young(Page):
    fleet = "young"

    def test_a_young_history_is_shown_whole_and_what_was_before_is_not_called_unknown(self):
        browser = self.browser
        browser.until("return document.querySelector('#history [data-window=\"15m\"]').getAttribute('aria-pressed') === 'true'")
        browser.until("return /lowest/.test(document.querySelector('#history .chart').getAttribute('aria-label'))")
        # The cursor twelve minutes back: sixty steps are the window.
        browser.run("document.querySelector('#history .chart').focus()")
        browser.keys("\ue012" * 50)
        self.assertIn("before the history begins", browser.text("#history .readout"))
        self.shot("young")

    def test_only_what_can_be_added_is_given_to_copy(self):
        entries = self.browser.until("""const all = [...document.querySelectorAll('#gaps .gap-fix')]; return all.length &&
            all.map((it) => [it.querySelector('code')?.textContent ?? null, it.querySelectorAll('button').length, it.innerText.replace('→', '').trim()])""")
        # What a flag mends first, and but once.
        self.assertEqual([code for code, _, _ in entries], ["--enable-metrics", None, None])
        self.assertEqual([buttons for _, buttons, _ in entries], [1, 0, 0])
        self.assertEqual(entries[1][2], "nothing: no version of it tells that")

    def test_what_a_router_says_now_of_a_silent_server_is_not_stale(self):
        card = self.browser.text("#roles a[href*='10.0.0.3']")
        self.assertIn("unreachable: connection refused", card)
        self.assertNotIn("was", card)
        self.assertFalse(self.browser.run("return document.querySelector(`#roles a[href*='10.0.0.3']`).classList.contains('stale')"))


class Mid(Page):
    """A router, two prefill and eight decode servers on a laptop."""
    fleet = "mid"

    def beyond(self):
        return self.browser.run("""const bottom = Math.min(innerHeight, document.getElementById('fleet').getBoundingClientRect().bottom);
            return [...document.querySelectorAll('#roles a')].filter((it) => { const box = it.getBoundingClientRect(); return !box.height || box.bottom > bottom; }).map(({ hash }) => hash)""")

    def test_every_server_stands_on_the_first_screen_the_worst_first(self):
        browser = self.browser
        self.assertEqual(browser.run("return document.querySelectorAll('#roles a').length"), 11)
        self.assertEqual(self.beyond(), [])
        self.assertLessEqual(browser.run("const it = document.getElementById('fleet'); return it.scrollHeight - it.clientHeight"), 0)
        self.assertIn("10.0.2.7", browser.run("return document.querySelector('#roles a').hash"))
        self.shot("mid")
        browser.devtools("Emulation.setDeviceMetricsOverride", width=1366, height=650, deviceScaleFactor=1, mobile=False)
        time.sleep(0.5)
        self.assertEqual(self.beyond(), [])
        self.shot("mid-low")

    def test_what_is_old_or_told_by_another_says_so_in_a_line_too(self):
        cell = "#roles a.cell[href*='10.0.2.{}']"
        self.assertRegex(self.browser.text(cell.format(4)).replace("\n", " "), r"by router \d\d %")
        self.assertIn("figures by its router", self.browser.run("return document.querySelector(arguments[0]).getAttribute('aria-label')", cell.format(4)))
        self.assertEqual(self.browser.run("return getComputedStyle(document.querySelector(arguments[0])).borderTopStyle", cell.format(4)), "dashed")
        # Its server answered just now, its figure is from yesterday.
        card = "#roles a[href*='10.0.2.5']"
        self.assertRegex(self.browser.text(card).replace("\n", " "), r"was \d\d(\.\d)? %")
        self.assertIn("23.7 h old", self.browser.run("return document.querySelector(arguments[0]).getAttribute('aria-label')", card).replace("\u00a0", " "))

    def test_of_dead_ones_the_fullest_comes_first_and_before_a_calm_one(self):
        browser = self.browser
        for n in (1, 3, 2):
            self.mock.tell(down=f"http://10.0.2.{n}:30002")
        browser.until("return /^✕ 3 unreachable$/m.test(document.getElementById('counts').innerText)")
        first = browser.run("return [...document.querySelectorAll('#roles a')].slice(0, 3).map(({ hash }) => decodeURIComponent(hash))")
        # One that is strained still answers; of those that do not, the one that was at 97 %.
        self.assertEqual(first[:2], ["#http://10.0.2.7:30002", "#http://10.0.2.2:30002"])
        self.assertEqual(browser.text("#roles a[href*='10.0.2.2'] .level"), "✕ unreachable")
        self.mock.tell(down="http://10.0.2.7:30002")
        browser.until("return /unreachable\\s+decode/i.test(document.querySelector('#verdict .worst').innerText)")
        self.assertIn("10.0.2.7", browser.text("#verdict .worst"))


class Empty(Page):
    fleet = "empty"

    def test_no_server_is_said_and_not_called_calm(self):
        self.assertIn("no server is watched yet", self.browser.text("#verdict"))
        self.assertNotIn("calm", self.browser.text("body").lower())
        self.calm_console()


class Big(Page):
    fleet, dark = "big", True

    def test_two_hundred_servers_stay_smooth(self):
        browser = self.browser
        self.assertEqual(browser.run("return document.querySelectorAll('#roles a').length"), 200)
        self.assertLess(browser.run("return document.querySelectorAll('*').length"), 3000)
        # The best of some: how long the page takes, not how busy the machine is.
        for _ in range(8):
            time.sleep(2)
            browser.run("""window.frames_ = []; let last = performance.now();
                (function next() { const now = performance.now(); frames_.push(now - last); last = now; requestAnimationFrame(next); })()""")
            time.sleep(6)
            frames = sorted(browser.run("return frames_"))
            middle, late = frames[len(frames) // 2], frames[int(len(frames) * 0.95)]
            print(f"frames of 200 servers x 8 ranks: middle {middle:.1f} ms, 95 of 100 within {late:.1f} ms, longest {frames[-1]:.0f} ms", file=sys.stderr)
            if middle < 34 and late < 100:
                break
        self.assertLess(middle, 34)
        self.assertLess(late, 100)
        self.shot("big-dark")
        self.calm_console()

    def test_every_pair_of_text_and_ground_is_readable(self):
        readable(self, "main *, header *, footer")


class Contrast(Page):
    def test_a_panel_and_what_is_old_are_readable(self):
        self.browser.open(self.address + "/#" + urllib.parse.quote(DECODE, safe=""))
        self.browser.until("return document.querySelectorAll('#panel tbody tr').length > 10")
        readable(self, "main *, header *, footer, #panel *")
        self.mock.stop()
        self.browser.until("return document.body.classList.contains('lost')")
        readable(self, "main *, header *, footer, #panel *, #lost *")

    def test_patterns_of_bars_are_told_from_their_ground(self):
        """Graphics want 3:1 (WCAG 1.4.11): every colour of every pattern, against the ground of a bar and of a card."""
        for theme in ("light", "dark"):
            self.browser.run("document.documentElement.dataset.theme = arguments[0]", theme)
            worst = self.browser.run(LIGHT + """
                const box = document.querySelector('#roles .pools').appendChild(document.createElement('span'));
                let worst = [99];
                for (const kind of ['told', 'told stale', 'apart', 'apart stale', 'unknown', 'impossible']) {
                    const bar = box.appendChild(document.createElement('span'));
                    bar.className = `bar ${kind}`;
                    const parts = ['u', 'e'].map((name) => Object.assign(bar.appendChild(document.createElement('i')), { className: name }));
                    for (const it of [bar, ...parts]) {
                        const { backgroundImage, backgroundColor } = getComputedStyle(it);
                        const inks = [...backgroundImage.matchAll(/rgba?\\([^)]*\\)/g)].map(([ink]) => ink).concat(it === bar ? [] : backgroundColor).filter((ink) => !/^rgba.*, 0\\)$/.test(ink));
                        // A pattern's own gaps are of the ground's colour.
                        for (const ink of inks.filter((ink) => ink !== ground(box))) {
                            const held = ratio(ink, ground(box));
                            if (held < worst[0]) worst = [held, kind, it.className, ink];
                        }
                    }
                }
                box.remove();
                return worst""")
            self.assertGreaterEqual(worst[0], 3, (theme, worst))
            self.assertLess(worst[0], 99)


if __name__ == "__main__":
    unittest.main(verbosity=2)
