"""The tools that are compared: how each is run on a page, and which of the numbers that it prints is its fullness.

A tool gives a Said. Its figures are texts as printed, so that compare.py knows how far they were rounded. A tool that says in
the same output that it could not read the page has said no figure, whatever 0 stands beside that.
"""

import dataclasses
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import screen


@dataclasses.dataclass
class Said:
    figures: list  # "66.6%" or "0.976", each a fullness that the tool shows
    note: str  # what it says instead of one, or beside it; short
    raw: str  # all of its output


class Look:
    """One tool, one page: the page's addresses, its /metrics as a file, a folder for whatever the tool writes."""

    def __init__(self, page, told, where):
        self.page, self.told, self.where = page, told, where
        self.url = told.get("url")
        self.port = str(urllib.parse.urlsplit(self.url).port)
        self.log = told.get("log")
        self.folder = tempfile.mkdtemp(prefix="peers-")
        self.file = os.path.join(self.folder, "page.txt")
        with open(self.file, "wb") as file:
            file.write(self.metrics())
        self.environment = {**os.environ, "HOME": self.folder, "NO_COLOR": "1"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def metrics(self):
        try:
            return urllib.request.urlopen(self.url + "/metrics").read()
        except urllib.error.HTTPError as error:
            return error.read()

    def tool(self, name):
        return self.where.get(name) or os.path.join(self.where["tools"], name)

    def run(self, name, *arguments):
        """(output, errors, exit code) of a tool that ends by itself."""
        command = [self.tool(name), *arguments]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60
            )
            return done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as error:
            return (error.stdout or b"").decode(errors="replace"), "did not end in 60 s", -1

    def show(self, name, *arguments, seconds, until=None):
        """The screen of a tool for terminals after some seconds, or once `until` is on it."""
        return screen.show([self.tool(name), *arguments], self.environment, self.folder, seconds, until)


def found(pattern, text):
    return [match for match in re.findall(pattern, text) if match not in ("", "-")]


def plimsoll(look):
    engines = ["--engines", look.where["engines"]] if look.where.get("engines") else []
    said = plimsoll_status(look, engines, look.log or look.url)
    if not said.figures and look.page.get("saved"):
        again = plimsoll_status(look, engines, look.file)
        return Said(again.figures, "with the answer saved to a file", said.raw + again.raw)
    return said


def plimsoll_status(look, engines, target):
    out, err, code = look.run("plimsoll", "status", *engines, "--json", target)
    if code == 2:
        raise RuntimeError(err)
    figures, note = [], f"exit {code}"
    if out.startswith("{"):
        answer = json.loads(out)
        for server in answer["servers"]:
            for rank in server["ranks"]:
                for pool in rank["pools"]:
                    one = pool["in_use"] if pool["in_use"]["value"] is not None else pool["occupied"]
                    if one["value"] is not None:
                        figures.append(repr(one["value"]))
                    else:
                        note = one["state"].replace("_", " ")
            if not answer["servers"][0]["ranks"]:
                # Nothing but a router: what it believes of its workers is all that is shown.
                for view in server["router_view"]:
                    value, state = view["in_use"]["value"], view["in_use"]["state"]
                    if value is not None and state not in ("stale", "impossible"):
                        figures.append(repr(value))
                        note = "the router's view"
        if not figures and answer["fleet"]["in_use_max"]["value"] is None:
            note = answer["fleet"]["in_use_max"]["state"].replace("_", " ")
    return Said(figures, note, out + err)


def kvtop(look):
    file = look.log or look.file
    out, err, _ = look.run("kvtop", "--file", file)
    name = r"(?m)^(\S+)\s+\S*(?:token_usage|cache_usage_perc|usage_ratio)\b"
    figures, note = found(name, out), "no fullness"
    if not figures:
        more, errors, _ = look.run("kvtop", "--file", file, "--match", "usage")
        figures, note, out, err = found(name, more), "with --match usage", out + "\n" + more, err + errors
    if not figures:
        note = "no matching metrics"
    return Said(figures, note, out + err)


def sgtop(look):
    if look.log:
        return sgtop_server(look)
    text, _, _ = look.show("sgtop", "--host", "127.0.0.1", "--port", look.port, "--no-full-scan", seconds=5)
    note = "offline" if "offline" in text else "not enabled" if "not enabled" in text else "no fullness"
    return Said(found(r"kv-cache.*?\(\s*([\d.]+%)\)", text), note, text)


def sgtop_server(look):
    """The package's sidecar reads a log; what it makes of it is on its own API."""
    port = free_port()
    command = [look.tool("sgtop-server"), "--port", port, "--service-port", look.port, "--log", look.log, "--interval", "0.5"]
    sidecar = subprocess.Popen(command, cwd=look.folder, env=look.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = ""
    try:
        for _ in range(8):
            time.sleep(0.5)
            try:
                text = urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status").read().decode()
            except OSError:
                continue
    finally:
        screen.end(sidecar.pid)
    figures = found(r'"(?:token_usage|kv_usage)": *([\d.]+)', text)
    return Said(figures, "sgtop-server: no figure", text)


def toptop(look):
    out, err, _ = look.run("toptop", "--llm-server", f"127.0.0.1:{look.port}", "--export", "json")
    servers = json.loads(out)["servers"] if out.startswith("{") else []
    figures = [f"{server['kv_pct']:g}%" for server in servers if server["kv_pct"] is not None]
    note = "null" if servers else "server not listed"
    return Said(figures, note, json.dumps(servers) + err)


def rmon(look):
    if "prometheus" in look.told:
        target = ["--router-url", look.url, "--metrics-url", look.told["prometheus"] + "/metrics"]
    elif look.page["flavour"] == "router":
        target = ["--router-url", look.url, "--metrics-url", look.url + "/metrics"]
    else:
        target = ["--router-url", look.url, "--router-type", "vllm", "--worker", look.url]
    quiet = ["--no-keepalive", "--no-auto-unregister", "--web-port", "0", "--interval", "0.5"]
    row = r"(?m)^\s+\S*127\.0\.0\.1:\d+\s+\S+\s+\S+\s+([\d.]+%|-)"
    text, _, _ = look.show("rmon", *target, *quiet, seconds=6)
    note = "unreachable" if "unreachable" in text else "-"
    return Said(found(row, text), note, text)


def vllm_htop(look):
    out, err, _ = look.run("vllm-htop", "--url", look.url, "--once", "--no-gpu-detect")
    text = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", out)
    return Said(found(r"KV cache usage\s*:\s*([\d.]+%)", text), "fetch error" if "fetch error" in text else "—", text + err)


def vllmstat(look):
    logs = ["--logs", look.log] if look.log else []
    out, err, code = look.run("vllmstat", "-u", look.url, "--no-gpu", "--once", "--json", *logs)
    value = json.loads(out).get("kv_usage") if out.startswith("{") else None
    return Said([] if value is None else [repr(value)], "null" if code == 0 else "error", out + err)


def vllmpytop(look):
    logs = ["--log-file", look.log] if look.log else []
    out, err, _ = look.run("vllmpytop", "--url", look.url, "--no-gpu", "--dump-json", *logs)
    reached = '"reachable": true' in out
    figures = found(r'"kv_cache_usage_perc": ([\d.e-]+)', out) if reached else []
    return Said(figures, "" if reached else "error beside 0.0", out + err)


def vllm_mon(look):
    text, _, _ = look.show("vllmtop", "--url", look.url, "--db", os.path.join(look.folder, "mon.db"), seconds=8)
    figures = []
    lines = text.splitlines()
    for number, line in enumerate(lines[:-1]):
        if "KV Cache Usage" in line:
            figures = found(r"([\d.]+%)", lines[number + 1])
    if "Disconnected" in text:
        return Said([], "Disconnected beside 0.0%", text)
    return Said(figures, "", text)


def vmm(look):
    """A server of its own: what it stores of the page."""
    store = os.path.join(look.folder, "vmm.db")
    command = [look.tool("vmm"), look.url + "/metrics", "--port", free_port(), "--db", store, "--interval", "1"]
    log = open(os.path.join(look.folder, "vmm.log"), "w+")
    server = subprocess.Popen(command, cwd=look.folder, env=look.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    rows = []
    try:
        for _ in range(60):
            time.sleep(0.1)
            rows = stored(store)
            if len(rows) > 1:
                break
    finally:
        screen.end(server.pid)
    log.seek(0)
    figures = [repr(row[0]) for row in rows[-1:] if row[0] is not None]
    return Said(figures, "no row stored" if not rows else "null", f"{rows}\n{log.read()}")


def stored(store):
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            return connection.execute("select kv_cache_usage_perc from metrics").fetchall()
    except sqlite3.Error:
        return []


def vllm_top(look):
    out, err, _ = look.run("vllm-top", "--host", "127.0.0.1", "--port", look.port, "--snapshot")
    figures = [f"{value}%" for value in found(r"GPU Cache Usage \(%\).*?([\d.]+)/100", out)]
    return Said(figures, "fetch error" if "Failed to fetch" in out else "", out + err)


def llamastat(look):
    out, err, _ = look.run("llamastat", "-u", look.url, "--no-host", "--once", "--json")
    answer = json.loads(out) if out.startswith("{") else {}
    if not answer.get("ctx_total"):
        return Said([], "0 of 0", out + err)
    return Said([f"{100 * answer['ctx_used_total'] / answer['ctx_total']:.1f}%"], "", out + err)


def fbc(look):
    out, err, _ = look.run("fbc-cache-lint", "report", look.log or look.file)
    note = "unrecognised input" if "unrecognised" in err else "no cache findings, OK" if "No cache findings" in out else "findings"
    return Said([], note, out + err)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


# Row of the table: how to run it, and the flavours of pages that it is made for by its own description (None: all).
TOOLS = {
    "plimsoll": (plimsoll, None),
    "kvtop": (kvtop, {"sglang", "vllm", "llamacpp", "router", "store"}),
    "sgtop": (sgtop, {"sglang", "log"}),
    "toptop": (toptop, {"sglang", "vllm", "llamacpp"}),
    "llm-router-monitor": (rmon, {"sglang", "vllm", "router"}),
    "vllm-htop": (vllm_htop, {"vllm"}),
    "vllmstat": (vllmstat, {"vllm"}),
    "vllmpytop": (vllmpytop, {"vllm"}),
    "vllm-mon": (vllm_mon, {"vllm"}),
    "vllm-metrics-monitor": (vmm, {"vllm"}),
    "vllm-top": (vllm_top, {"vllm"}),
    "llamastat": (llamastat, {"llamacpp"}),
    "fbc-cache-lint": (fbc, {"vllm", "llamacpp"}),
}
