"""What each tool costs on a page that it can read: wall time and CPU time, peak memory, medians of 5 after one that is not
counted. Of tools that end by themselves, whole processes; of the others, until the figure is on their screen or in their store.
Needs GNU time: its child's memory does not begin with that of this program.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
RUNS = 5

# Tool, page, how: its arguments where it ends by itself, else what is on the screen when the figure is there.
ONCE = [
    ("plimsoll", "sglang-on", ["status", "--json", "{url}"]),
    ("plimsoll", "vllm", ["status", "--json", "{url}"]),
    ("plimsoll", "llamacpp", ["status", "--json", "{url}"]),
    ("plimsoll", "pd", ["status", "--json", "{url}"]),
    ("plimsoll", "log", ["status", "--json", "{log}"]),
    ("kvtop", "vllm", ["--file", "{file}"]),
    ("toptop", "sglang-on", ["--llm-server", "127.0.0.1:{port}", "--export", "json"]),
    ("vllm-htop", "vllm", ["--url", "{url}", "--once", "--no-gpu-detect"]),
    ("vllm-top", "vllm", ["--host", "127.0.0.1", "--port", "{port}", "--snapshot"]),
    ("vllmstat", "vllm", ["-u", "{url}", "--no-gpu", "--once", "--json"]),
    ("vllmpytop", "vllm", ["--url", "{url}", "--no-gpu", "--dump-json"]),
    ("llamastat", "llamacpp", ["-u", "{url}", "--no-host", "--once", "--json"]),
    ("fbc-cache-lint", "vllm", ["report", "{file}"]),
]
SCREENS = [
    ("sgtop", "sglang-on", "sgtop", ["--host", "127.0.0.1", "--port", "{port}", "--no-full-scan"], r"kv-cache.*66\.6%"),
    ("llm-router-monitor", "sglang-on", "rmon", ["--router-url", "{url}", "--router-type", "vllm", "--worker", "{url}", "--no-keepalive", "--no-auto-unregister", "--web-port", "0"], r"67%"),
    ("vllm-mon", "vllm", "vllmtop", ["--url", "{url}", "--db", "{folder}/mon{run}.db"], r"97\.6%"),
    ("toptop", "sglang-on", "toptop", ["--ai", "--llm-server", "127.0.0.1:{port}"], r"67%"),
    ("vllmstat", "vllm", "vllmstat", ["-u", "{url}", "--no-gpu"], r"9[78](\.\d)? ?%"),
]


def once(look, command):
    """(wall, CPU) in seconds and the peak in MiB of a command that ends by itself."""
    told = os.path.join(look.folder, "time")
    began = time.perf_counter()
    done = subprocess.Popen(
        ["/usr/bin/time", "-f", "%M", "-o", told, *command], cwd=look.folder, env=look.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(done.pid, 0)
    wall = time.perf_counter() - began
    done.returncode = 0
    return wall, used.ru_utime + used.ru_stime, int(pathlib.Path(told).read_text().split()[-1]) / 1024


def served(serve, where, name):
    captures = [argument for folder in where["captures"] for argument in ("--captures", folder)]
    server = subprocess.Popen([sys.executable, "-B", HERE / "serve.py", *captures, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return server, json.loads(server.stdout.readline()), serve.pages()[name]


def table(serve, tools, where, names):
    print("| tool | page | until | wall, s (least to most) | CPU, s | peak memory, MiB |")
    print("|---|---|---|---|---|---|")
    for name, page, arguments in ONCE:
        if name in names:
            more = ["--engines", where["engines"]] if name == "plimsoll" and where.get("engines") else []
            row(serve, tools, where, name, page, "it ends", lambda look, _: once(look, [look.tool(name), *filled(look, arguments), *more]))  # noqa: B023
    for name, page, program, arguments, figure in SCREENS:
        if name in names:
            until = lambda text: bool(re.search(figure, text))  # noqa: B023, E731

            def show(look, run):
                _, wall, peak = look.show(program, *filled(look, arguments, run), seconds=15, until=until)  # noqa: B023
                return wall, None, peak / 1024

            row(serve, tools, where, name, page, "its screen shows it", show)


def filled(look, arguments, run=0):
    known = {"url": look.url, "port": look.port, "file": look.file, "log": look.log, "folder": look.folder, "run": run}
    return [argument.format(**known) for argument in arguments]


def row(serve, tools, where, name, page_name, until, measure):
    server, told, page = served(serve, where, page_name)
    with tools.Look(page, told, where) as look:
        got = [measure(look, run) for run in range(RUNS + 1)][1:]
    server.stdin.close()
    server.wait()
    walls, cpus, peaks = zip(*got)
    if None in walls:
        print(f"| {name} | {page['title']} | {until} | not in 15 s | – | – |")
        return
    cpu = "–" if None in cpus else f"{statistics.median(cpus):.3f}"
    spread = f"{statistics.median(walls):.3f} ({min(walls):.3f} to {max(walls):.3f})"
    print(f"| {name} | {page['title']} | {until} | {spread} | {cpu} | {statistics.median(peaks):.1f} |", flush=True)
