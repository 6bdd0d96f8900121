#!/usr/bin/env -S python3 -B
"""Serves one page of pages.toml on loopback, every answer with its recorded status, until its standard input ends.

    benches/peers/serve.py [--captures DIR]… --list
    benches/peers/serve.py [--captures DIR]… PAGE

Prints one line of JSON: where the page is (url, prometheus) and its log, if it has one. A capture's answers are those of its
capture.toml; what pages.toml adds to them (health, names of the model, old spellings of a path) holds no figure of a cache.
Workers that a recorded router names are served on the ports that it names. Standard library only.
"""

import argparse
import http.server
import json
import pathlib
import sys
import threading
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ENGINES = HERE.parent.parent / "engines"
NOT_FOUND = (404, "application/json", b'{"detail":"Not Found"}')


TABLE = tomllib.loads((HERE / "pages.toml").read_text())


def pages():
    """The rows of pages.toml by their id, in order."""
    return {page["id"]: page for page in TABLE["page"]}


def folder(name, roots):
    """`engine/version-situation` below engines/*/captures, or a folder of pages/."""
    engine, _, situation = name.partition("/")
    for place in [root / engine / "captures" / situation for root in roots] + [HERE / "pages" / name]:
        if place.is_dir():
            return place
    sys.exit(f"no capture {name}")


def answers(place, on):
    """Path to (status, type, body) of a folder; `on` chooses the answers of another port ("prometheus")."""
    table = tomllib.loads((place / ("capture.toml" if (place / "capture.toml").exists() else "answers.toml")).read_text())
    return {
        row["get"]: (row["status"], row.get("content_type", "text/plain"), (place / row["file"]).read_bytes() if "file" in row else b"")
        for row in table["answer"]
        if row.get("on") == on
    }


def site(row, roots):
    """All answers of one [[page.site]]."""
    found = answers(folder(row["capture"], roots), row.get("on")) if "capture" in row else {}
    like = TABLE["like"].get(row.get("like"), {})
    for path, text in like.get("made_up", {}).items():
        found.setdefault(path, (200, "application/json" if text.startswith("{") else "text/plain", text.encode()))
    for path, same in like.get("same", {}).items():
        if same in found:
            found.setdefault(path, found[same])
    return found


def handler(found):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 20  # head and body in one packet: else the client's delayed acknowledgement costs 40 ms

        def do_GET(self):  # noqa: N802
            bare = self.path.split("?")[0]
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, kind, body = found.get(self.path) or found.get(bare) or found.get(bare.rstrip("/")) or NOT_FOUND
            if self.command == "POST":
                status, kind, body = NOT_FOUND
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)
            self.wfile.flush()

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    return Handler


def start(page, roots):
    """Starts the servers of a page; what is printed."""
    told = {"log": str(HERE / "pages" / page["log"])} if "log" in page else {}
    for row in page.get("site", []):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", row.get("port", 0)), handler(site(row, roots)))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        if "as" in row:
            told[row["as"]] = f"http://127.0.0.1:{server.server_port}"
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", action="append", type=pathlib.Path, default=[], help="folder like engines/; before engines/")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("page", nargs="?")
    given = parser.parse_args()
    if given.list or not given.page:
        for name, page in pages().items():
            print(f"{name}: {page['title']}")
        return
    print(json.dumps(start(pages()[given.page], [*given.captures, ENGINES])), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
