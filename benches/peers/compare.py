#!/usr/bin/env -S python3 -B
"""Shows every page of pages.toml to every tool, one after the other, and prints what each says, as Markdown.

    benches/peers/install.sh FOLDER
    FOLDER/venv/bin/python -B benches/peers/compare.py --tools FOLDER [--write docs/peers.md] PLIMSOLL
    FOLDER/venv/bin/python -B benches/peers/compare.py --tools FOLDER [--write docs/peers.md] --cost PLIMSOLL

The fullest figure that a tool shows is compared with the truth, as far as it was rounded:
  a number   it is true
  wrong      it is not; a 0 for something that was not read is wrong, and so is a figure on a page that has none
  part       true of one pool, rank or worker, and not of the fullest
  blank      no number; in brackets what stands there instead
Raw outputs are kept in --out. In a network namespace of its own, where that can be had, so that the recorded ports are free
and no tool finds another server. With --cost time and memory are measured instead (of a release build, on a quiet machine).
"""

import argparse
import contextlib
import ctypes
import datetime
import fcntl
import io
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile

import cost
import serve
import tools

HERE = pathlib.Path(__file__).resolve().parent


def alone():
    """Moves this program into a network namespace with nothing but loopback; says so where that is forbidden."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_user, new_net = 0x10000000, 0x40000000
    user, group = os.getuid(), os.getgid()
    if libc.unshare(new_net if user == 0 else new_net | new_user):
        print("no network namespace of its own: ports 29000, 29001, 30000 and 30002 must be free", file=sys.stderr)
        return
    if user:
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        up_and_running = struct.pack("16sh14x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(one, 0x8914, up_and_running)  # SIOCSIFFLAGS


def ratio(text):
    """(value, how far it may be off): one unit of the last place that was printed, so that cutting off is allowed too."""
    number = text.rstrip("%")
    mantissa, _, exponent = number.lower().partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    scale = 0.01 if text.endswith("%") else 1.0
    if not float(number):
        return 0.0, 0.0005  # nothing was rounded to get a 0
    # A double in full has noise in its last digits.
    return float(number) * scale, max(scale * 10.0**-places, 1e-9)


def judge(page, said):
    """(mark, text): what the tool said, against the truth."""
    if not said.figures:
        text = said.note if said.note == "not reported" else f"blank ({said.note})" if said.note else "blank"
        return ("blank" if "figure" in page else "right"), text
    value, off = max((ratio(text) for text in said.figures), key=lambda one: one[0])
    near = lambda truth: abs(value - truth) <= off  # noqa: E731
    shown = f"{100 * value:.1f} %" if off < 0.01 else f"{100 * value:.0f} %"
    beside = f" ({said.note})" if said.note.startswith("with ") else ""
    if "figure" in page and any(near(truth) for truth in [page["figure"], *page.get("also", [])]):
        return "right", shown + beside
    for name, truth in page.get("parts", {}).items():
        if near(truth):
            return "part", f"part: {shown} ({name})"
    return "wrong", f"**wrong** {shown}{beside}"


def look(page, where, names, out):
    """What each tool says of one page."""
    captures = [argument for folder in where["captures"] for argument in ("--captures", folder)]
    server = subprocess.Popen(
        [sys.executable, "-B", HERE / "serve.py", *captures, page["id"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    told = json.loads(server.stdout.readline())
    marks = {}
    for name in names:
        try:
            with tools.Look(page, told, where) as one:
                said = tools.TOOLS[name][0](one)
            marks[name] = judge(page, said)
        except Exception as error:  # one tool that cannot be run does not stop the others
            said = tools.Said([], "", repr(error))
            marks[name] = "not run", "not run"
        (out / f"{name}-{page['id']}.txt").write_text(f"{marks[name]}\nfigures {said.figures}\nnote {said.note}\n\n{said.raw}")
        print(f"{page['id']}: {name}: {marks[name][1]}", file=sys.stderr, flush=True)
    server.stdin.close()
    server.wait()
    return marks


def versions(where):
    """Version of each tool, from its package."""
    listed = subprocess.run([os.path.join(where["tools"], "python"), "-m", "pip", "freeze"], capture_output=True, text=True).stdout
    found = dict(re.findall(r"(?m)^(\S+)==(\S+)$", listed))
    for name in ("plimsoll", "toptop"):
        told = subprocess.run([where[name], "--version"], capture_output=True, text=True).stdout if where.get(name) else ""
        found[name] = (re.findall(r"\d+\.\d+\.\d+\S*", told) or ["?"])[0]
    return found


def table(pages, names, marks, version):
    chunk = 5
    for start in range(0, len(pages), chunk):
        some = pages[start : start + chunk]
        print("| tool | " + " | ".join(page["title"] for page in some) + " |")
        print("|---" * (len(some) + 1) + "|")
        truth = [f"{100 * page['figure']:.1f} %" if "figure" in page else "not on the page" for page in some]
        print("| *truth* | " + " | ".join(f"*{text}*" for text in truth) + " |")
        for name in names:
            print(f"| {name} {version.get(name, '')} | " + " | ".join(marks[page["id"]][name][1] for page in some) + " |")
        print()
    counts(pages, names, marks)


def counts(pages, names, marks):
    """How often each was right, apart for the pages that it is made for. No number where there is none is right."""
    print("| tool | made for | right | part | wrong | blank | other pages | right | wrong | blank |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        flavours = tools.TOOLS[name][1]
        cells = [name]
        for own in (True, False):
            of = [marks[page["id"]][name][0] for page in pages if (flavours is None or page["flavour"] in flavours) == own]
            kinds = ("right", "part", "wrong", "blank") if own else ("right", "wrong", "blank")
            cells += [f"{len(of)}", *(str(of.count(kind)) for kind in kinds)]
        print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plimsoll", help="the program")
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="the folder that install.sh filled")
    parser.add_argument("--captures", action="append", default=[], help="folder like engines/, looked at first")
    parser.add_argument("--engines", help="tables of engines for plimsoll")
    parser.add_argument("--out", type=pathlib.Path, help="folder for raw outputs")
    parser.add_argument("--only", action="append", help="tool or page, and no other; several times")
    parser.add_argument("--cost", action="store_true", help="measure time and memory instead")
    parser.add_argument("--write", type=pathlib.Path, help="put the tables into this document, between its marks")
    given = parser.parse_args()
    where = {"plimsoll": os.path.realpath(given.plimsoll), "tools": str(given.tools / "venv/bin"), "captures": given.captures, "engines": given.engines and os.path.realpath(given.engines)}
    if (toptop := given.tools / "toptop/bin/toptop").exists():
        where["toptop"] = str(toptop)
    out = given.out or pathlib.Path(tempfile.mkdtemp(prefix="peers-raw-"))
    out.mkdir(parents=True, exist_ok=True)
    only = set(given.only or [])
    pages = [page for page in serve.pages().values() if not only & set(serve.pages()) or page["id"] in only]
    names = [name for name in tools.TOOLS if not only & set(tools.TOOLS) or name in only]
    if "toptop" in names and "toptop" not in where:
        names.remove("toptop")
        print("toptop is not installed: left out", file=sys.stderr)
    version = versions(where)
    alone()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if given.cost:
            cost.table(serve, tools, where, names)
        else:
            marks = {page["id"]: look(page, where, names, out) for page in pages}
            table(pages, names, marks, version)
            print(f"raw outputs in {out}", file=sys.stderr)
    text = f"Taken {datetime.date.today()}.\n\n{printed.getvalue()}"
    print(text)
    if given.write:
        place(given.write, "costs" if given.cost else "results", text)


def place(document, name, text):
    """Puts a text between the marks <!-- NAME --> and <!-- /NAME --> of a document."""
    before, mark, rest = document.read_text().partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    if not mark or not end:
        sys.exit(f"{document} has no place for {name}")
    document.write_text(f"{before}{mark}\n{text.rstrip()}\n\n{end}{after}")


if __name__ == "__main__":
    main()
