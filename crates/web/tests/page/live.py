#!/usr/bin/env python3
"""The page of a running `serve` while one of its servers dies and comes back, and then `serve` itself.

    live.py ADDRESS SERVER

Whoever runs it makes these happen: each is asked for in a line, and what comes back is a line when it is done.
"""
import os
import re
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from browser import Browser

ADDRESS, SERVER = sys.argv[1:3]
HASH = "#" + urllib.parse.quote(SERVER, safe="")
CARD = f"#roles a[href='{HASH}']"
IS_STALE = f'return document.querySelector("{CARD}").classList.contains("stale")'
IS_LIVE = "return !document.body.classList.contains('lost') && document.getElementById('link').textContent === 'live'"
ALL_STALE = "return [...document.querySelectorAll('#roles a')].every((it) => it.classList.contains('stale'))"
ANY_STALE = "return document.querySelectorAll('#roles a.stale').length > 0"
# The chart in words: for how long nothing was known.
DARK = "return Number(document.querySelector('#panel .chart').getAttribute('aria-label').match(/not known for (\\d+)/)?.[1] ?? 0)"


def please(what):
    print(what, flush=True)
    if sys.stdin.readline() != "done\n":
        sys.exit(f"{what}: nobody did it")


def shot(name):
    if os.environ.get("PLIMSOLL_SHOTS"):
        browser.shot(os.path.join(os.environ["PLIMSOLL_SHOTS"], f"live-{name}.png"))


browser = Browser()
try:
    browser.open(ADDRESS)
    browser.until(f"return document.querySelector(\"{CARD}\")")
    browser.until(IS_LIVE)
    assert not browser.run(IS_STALE), browser.text(CARD)
    use = re.search(r"[\d.]+ %", browser.text(CARD))[0]
    role = browser.run(f"return document.querySelector(\"{CARD}\").closest('section').getAttribute('aria-label')")

    please("server down")
    browser.until(f"return /unreachable: /.test(document.querySelector(\"{CARD}\").innerText)")
    card = browser.text(CARD)
    # It is still what it was, as old as that is, and nothing of it is shown as now.
    assert browser.run(IS_STALE) and f"was {use} in use" in card and "unreachable" in card, card
    assert role == browser.run(f"return document.querySelector(\"{CARD}\").closest('section').getAttribute('aria-label')"), role
    assert browser.run(IS_LIVE), "plimsoll itself is well"
    shot("server-down")
    time.sleep(4)
    please("server up")
    browser.until(f"return !({IS_STALE.removeprefix('return ')})")
    browser.run("location.hash = arguments[0]", HASH)
    browser.until("return document.querySelectorAll('#panel tbody tr').length > 5")
    dark = browser.until(DARK)
    assert 3 <= dark <= 60, f"the time without an answer is a hole of {dark} s"
    shot("server-back")

    gone = time.time()
    please("serve down")
    browser.until("return document.body.classList.contains('lost')")
    assert browser.run(ALL_STALE), "all is as of then"
    assert "no connection" in browser.text("#lost") and "no connection" in browser.run("return document.title")
    shot("serve-down")
    time.sleep(5)
    browser.asked()
    please("serve up")
    browser.until(IS_LIVE, seconds=30)
    back = time.time()
    browser.until(f"return !({ANY_STALE.removeprefix('return ')})")
    asked = []
    for _ in range(100):
        asked += browser.asked()
        if any("/api/v1/history" in url for url in asked):
            break
        time.sleep(0.1)
    else:
        raise AssertionError(f"the history is not asked anew: {asked}")
    # Nobody looked meanwhile: a second hole, and no line across it.
    browser.until(DARK.replace("return ", "return arguments[0] + 4 <= "), dark)
    assert browser.text("#lost") == "" or browser.run("return document.getElementById('lost').hidden")
    shot("serve-back")
    # While nobody was there, whatever a connection can come to is not the page's fault; before and after it is.
    faults = [entry["message"] for entry in browser.log() if not (gone <= entry["timestamp"] / 1000 <= back and ADDRESS in entry["message"] and "net::ERR_" in entry["message"])]
    assert not faults, faults
finally:
    browser.close()
