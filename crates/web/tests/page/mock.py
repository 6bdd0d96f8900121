#!/usr/bin/env python3
"""A stand-in for `plimsoll serve`: the page's files under the same policy, and documents of the same shapes.

    mock.py [--port N] [--fleet small|big|wide|calm|mid|young|off|hostile|empty] [--every SECONDS]

GET /mock?down=URL and /mock?up=URL change what it says while it runs, and /mock?NAME=NUMBER does, where NAME is
mute (the stream stands still), late (a history takes so many seconds), skew (its clock is so many seconds ahead),
full (no further stream), shut (nothing without a token), fail (no history now).
"""
import argparse
import json
import math
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

ASSETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "assets")
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LEVELS = ["stuck", "thrashing", "strained", "tight", "unknown", "calm"]
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


KNOBS = dict(mute=0, late=0, skew=0, full=0, shut=0, fail=0)


def clock():
    """The time by the clock of the machine that this stands for."""
    return time.time() + KNOBS["skew"]


class Fleet:
    def __init__(self, kind, every):
        self.kind, self.every, self.down, self.looked = kind, every, set(), clock()
        self.since = clock() - 6000
        self.begun = clock() - (180 if kind == "young" else 9 * 86400)
        self.made = {"small": self.small, "big": self.big, "calm": self.calm, "mid": self.mid, "off": self.calm, "young": self.young, "hostile": self.hostile, "wide": self.wide, "empty": list}[kind]()

    # What each server is: role, url, ranks, level of its use, and what is odd about it.
    def small(self):
        return [
            dict(url="http://10.0.0.1:30002", role="decode", ranks=4, base=0.94, swing=0.05, plain=True, model="glm-4.6",
                 unit="sglang-decode.service", gap=True),
            dict(url="http://10.0.0.1:30001", role="prefill", ranks=2, base=0.41, swing=0.2, model="glm-4.6", unit="sglang-prefill.service",
                 swa=True, slow="takes 3.0 s to answer: read every 300 s, so that it spends at most 1 % of its time on this"),
            dict(url="http://10.0.0.1:29001", role="router", ranks=0, base=0, swing=0, engine="smg", version="1.13.0", model=None),
            dict(url="http://10.0.0.2:8000", role="unified", ranks=1, base=0, swing=0, mute=True, engine=None, version=None, model=None),
            dict(url="http://10.0.0.3:30002", role="decode", ranks=1, base=0.52, swing=0.1, model="glm-4.6", old=90.0),
            dict(url="http://10.0.0.4:30002", role="unified", ranks=1, base=0.3, swing=0.1, model="qwen3-32b", wrong=True),
            dict(url="http://10.0.0.5:9003", role="store", ranks=1, base=0.77, swing=0.01, engine="mooncake", version="0.3.6", host=True),
        ]

    def big(self):
        roles = ["router"] * 4 + ["prefill"] * 60 + ["decode"] * 120 + ["unified"] * 16
        made = []
        for n, role in enumerate(roles):
            base = [0.95, 0.88, 0.9][n % 3] if n % 29 == 5 else 0.2 + (n * 37 % 60) / 100
            made.append(dict(url=f"http://10.0.{n // 32}.{n % 32 + 1}:3000{n % 4}", role=role, ranks=0 if role == "router" else 8, base=base,
                             swing=0.04, model="deepseek-v3.2", gap=n % 3 == 0, mute=n % 47 == 11))
        return made

    def calm(self):
        return [dict(url=f"http://10.0.0.{n}:30000", role="unified", ranks=1, base=0.2, swing=0.05, model="qwen3-32b") for n in range(1, 4)]

    def mid(self):
        """A router, two prefill and eight decode: one strained, one that only its router speaks of, one whose figure is a day old."""
        odd = {2: dict(base=0.97, swing=0.005), 4: dict(heard=True), 5: dict(old=0.1, figure=85320.0), 7: dict(base=0.99, swing=0.001)}
        return ([dict(url="http://10.0.0.1:29001", role="router", ranks=0, base=0, swing=0, engine="smg", version="1.13.0", model=None)]
                + [dict(url=f"http://10.0.1.{n}:30001", role="prefill", ranks=1, base=0.4, swing=0.1, model="glm-4.6") for n in (1, 2)]
                + [dict(url=f"http://10.0.2.{n}:30002", role="decode", ranks=1, **dict(dict(base=0.5, swing=0.02, model="glm-4.6"), **odd.get(n, {})))
                   for n in range(1, 9)])

    def young(self):
        """Watched for three minutes; one that only its router speaks of, and a gap that no flag mends."""
        return [dict(self.calm()[0], gap=True), dict(self.calm()[1], gap=True, where="nothing: no version of it tells that"),
                dict(self.calm()[2], role="decode", heard=True)]

    def wide(self):
        return [dict(url="http://10.0.0.1:30000", role="decode", ranks=32, base=0.9, swing=0.05, swa=True, apart=True, model="deepseek-v3.2", unit="sglang.service"),
                dict(url="http://10.0.0.2:30000", role="prefill", ranks=8, base=0.4, swing=0.2, apart=True, model="deepseek-v3.2")]

    def hostile(self):
        return [dict(url="http://10.0.0.1:1/" + HOSTILE, role="decode", ranks=2, base=0.97, swing=0.01, model=HOSTILE, unit=HOSTILE,
                     engine=HOSTILE, version=HOSTILE, gap=True, odd=HOSTILE, pool=HOSTILE),
                dict(url="javascript:alert(1)", role="unified", ranks=1, base=0.2, swing=0.1, model="x" * 4000)]

    def use(self, s, rank, at):
        wave = math.sin(at / 97 + rank) * 0.6 + math.sin(at / 13 + rank * 2 + len(s["url"])) * 0.4
        return max(0.0, min(0.999, s["base"] + s["swing"] * wave - rank * 0.01))

    def pools(self, s, at):
        none, pools = [None, "not_reported"], []
        state = "stale" if s.get("old") else "reported"
        for rank in range(s["ranks"]):
            name = f"dp{rank}" if s["ranks"] > 1 else ""
            for pool in ["full"] + (["swa"] if s.get("swa") else []):
                use = self.use(s, rank, at) * (0.6 if pool == "swa" else 1)
                cap = 2581504 if pool == "full" else 262144
                used = int(cap * use)
                evict = 0 if s.get("plain") else int((cap - used) * 0.8)
                one = dict(rank=name, pool=s.get("pool", pool), tier="host" if s.get("host") else "device", binds=pool == "full", unit="tokens",
                           capacity=[cap, state], used=[used, state], evictable=[evict, "inferred" if s.get("plain") else state],
                           available=[cap - used - evict, state], headroom=[cap - used, "derived" if state == "reported" else state],
                           in_use=[use, state, 0.005] if s.get("plain") else [use, state], occupied=[(used + evict) / cap, state])
                if s.get("mute"):
                    one.update({key: none for key in ("capacity", "used", "evictable", "available", "headroom", "in_use", "occupied")})
                    one["capacity"] = [None, "not_reported", None, "/metrics would say it, but GET /metrics answered 404"]
                if s.get("apart"):
                    one["evictable"] = one["available"] = none
                if s.get("wrong"):
                    one["in_use"] = [None, "impossible", None, "the page says a usage of -0.39"]
                    one["used"], one["headroom"] = [None, "impossible"], [None, "impossible"]
                pools.append(one)
        return pools

    def server(self, s, at):
        down, pools = s["url"] in self.down, self.pools(s, at)
        worst = max([p["in_use"][0] or 0 for p in pools], default=0)
        level = "unknown" if down or s.get("mute") or s.get("wrong") or s.get("old") or s["role"] == "router" else \
            "strained" if worst > 0.95 else "tight" if worst > 0.85 else "calm"
        reason = {"unknown": "no fresh in-use figure", "calm": f"{worst:.1%} in use".replace("%", " %")}.get(
            level, f"{worst * 100:.1f} % of the full pool is in use ({level} from {95 if level == 'strained' else 85}.0 %)")
        if s["role"] == "router":
            reason = "a router has no cache of its own"
        if down:
            for p in pools:
                for key in ("capacity", "used", "evictable", "available", "headroom", "in_use", "occupied"):
                    p[key] = [p[key][0], "stale", None, "no answer", 40.0] if p[key][0] is not None else [None, "unreachable"]
        if s.get("figure"):
            for p in pools:
                p["in_use"] += [None, "the log says it", s["figure"]]
        told = "stale" if down else "reported"
        count = None if s.get("mute") else int(worst * 20)
        return dict(url=s["url"], role=s["role"], engine=s.get("engine", "sglang"), version=s.get("version", "0.5.9"), model=s.get("model"),
                    host=s["url"][7:].split(":")[0], unit=s.get("unit"), level=level, reason=s.get("odd", reason),
                    signs=[{"id": "queue-grows", "what": s.get("odd", "requests wait while the pool is full"),
                            "next": "Send new work elsewhere until the queue falls; look for requests that never end."}] if level == "strained" else [],
                    gaps=2 if s.get("gap") else 0, unreachable="connection refused" if down or s.get("heard") else None, told_by_router=s["role"] in ("prefill", "decode"),
                    age_s=None if s.get("heard") or s.get("mute") and self.kind == "small" else s.get("old", 0.1) + (40.0 if down else 0), every_s=300.0 if s.get("slow") else self.every,
                    took_s=3.0 if s.get("slow") else 0.012, slow=s.get("slow"), running=[count, told if count is not None else "not_reported"],
                    waiting=[None, "not_reported"] if count is None else [None, "stale"] if s.get("swa") else [3 if worst > 0.95 else 0, told],
                    retracted_recent=[0, "inferred"] if s.get("plain") else [None, "not_reported"], pools=pools)

    def gaps(self):
        return [dict(id=ident, server=s["url"], what=s.get("odd", what), evidence="the server was started without --enable-metrics; GET /metrics answered 404",
                     fix=dict(flag=None if s.get("where") else s.get("odd", "--enable-metrics"),
                              where=s.get("where", "/etc/systemd/system/sglang-decode.service line 12"), series=["sglang:kv_used_tokens"]),
                     price="a restart of this server: every running and queued request is lost; about 26 s to start",
                     meanwhile="97.6 % in use now, by /v1/loads num_used_tokens")
                for s in self.made if s.get("gap") for ident, what in (
                    ("kv-series", "KV cache fullness as Prometheus series: off"), ("retractions", "requests thrown out because the pool was full: off"))]

    def overview(self):
        at = self.looked = self.looked if KNOBS["mute"] else clock()
        servers = [self.server(s, at) for s in self.made]
        servers.sort(key=lambda s: (LEVELS.index(s["level"]), -max([p["in_use"][0] or 0 for p in s["pools"]], default=0)))
        counted = [p["in_use"][0] for s in servers for p in s["pools"] if p["in_use"][0] is not None]
        level = servers[0]["level"] if servers else "unknown"
        return dict(schema="plimsoll.overview/1", made_by="plimsoll 0.1.0", taken_at=at, level=level,
                    headline=f"{servers[0]['role']} {servers[0]['url']}: {servers[0]['reason']}" if servers else "no server is watched",
                    fleet=dict(in_use_max=[max(counted, default=None), "reported"], in_use_weighted=[sum(counted) / len(counted) if counted else None, "derived"]),
                    limits=dict(tight=0.85, strained=0.95), servers=servers, gaps=self.gaps(),
                    watch=dict(since=self.since, targets=len(servers), late=0, looks=12345, failed=3, notes=[],
                               history=dict(state="off" if self.kind == "off" else "kept", why=None, dir="/var/lib/plimsoll", bytes=123456789, limit_bytes=1 << 30, **{"from": self.begun})))

    def frame(self):
        whole = self.overview()
        picked = [s for s in whole["servers"] if not s["slow"]]
        return dict(taken_at=whole["taken_at"], level=whole["level"], headline=whole["headline"], fleet=whole["fleet"], servers=picked,
                    order=[s["url"] for s in whole["servers"]], gone=[], watch=whole["watch"])

    def events(self, since, until):
        first = self.made[0]["url"] if self.made else ""
        made = [(1900, "restart", "started again, after 41 s"), (1500, "retracted", "12 requests thrown out in 60 s"), (700, "queue", "requests wait: 14"),
                (240, "verdict", "tight → strained: 97.6 % of the full pool is in use")]
        now = clock()
        return [dict(at=now - ago, server=first, kind=kind, text=self.made[0].get("odd", text), value=None)
                for ago, kind, text in made if first and since <= now - ago <= until]

    def history(self, ask):
        time.sleep(KNOBS["late"])
        now = clock()
        until = float(ask.get("to", [now])[0])
        spans = {"15m": 900, "1h": 3600, "6h": 21600, "24h": 86400, "7d": 604800}
        window = ask.get("window", ["1h"])[0]
        since = float(ask["from"][0]) if "from" in ask else until - spans.get(window, 3600 if window in spans else float(window.rstrip("smhd")))
        series = []
        for s in self.made:
            if ask.get("server") and s["url"] != ask["server"][0]:
                continue
            for signal in ",".join(ask.get("signal", ["in_use"])).split(","):
                level = signal in ("running", "waiting")
                for rank in range(s["ranks"] or int(level)):
                    name = f"dp{rank}" if s["ranks"] > 1 else ""
                    if ask.get("rank", [name])[0] != name:
                        continue
                    value = (lambda at, r=rank: int(self.use(s, r, at) * 30)) if signal != "in_use" else (lambda at, r=rank: self.use(s, r, at))
                    edge, at, looks, steps = max(since, self.begun, now - 1200), max(since, self.begun), [[], [], ""], {k: [] for k in
                        ("at", "step_s", "min", "max", "last", "mean", "fresh", "stale", "not_reported", "unreachable", "impossible")}
                    step = max(60, int((edge - since) / 300))
                    while at < edge - step:
                        if not 2400 < now - at < 2700:
                            told = not 1800 < now - at < 1950
                            few = [value(at + n * step / 7) for n in range(7)]
                            row = dict(at=at, step_s=step, fresh=12 if told else 0, stale=0, not_reported=0, unreachable=0 if told else 12, impossible=0,
                                       min=min(few) if told else None, max=max(few) if told else None, last=few[-1] if told else None,
                                       mean=sum(few) / 7 if told else None)
                            for key, cell in row.items():
                                steps[key].append(cell)
                        at += step
                    at = edge
                    while at < min(until, now):
                        state = "-" if 500 < now - at < 560 or s.get("mute") else "r"
                        looks[0].append(at)
                        looks[1].append(value(at) if state == "r" else None)
                        looks[2] += state
                        at += 5
                    series.append(dict(server=s["url"], rank=name, pool="" if level else s.get("pool", "full"), tier="" if level else "device", signal=signal,
                                       unit="requests" if level else "ratio", kind="gauge", title=signal.replace("_", " "),
                                       looks=dict(at=looks[0], value=looks[1], state=looks[2]), steps=steps))
        return {"schema": "plimsoll.history/1", "from": since, "to": until, "series": series, "notes": []}

    def snapshot(self, url):
        def full(reading, unit):
            value, state = reading[0], reading[1]
            told = state not in ("not_reported", "unreachable", "impossible")
            return dict(value=value if told else None, unit=unit, state=state, source="http://10.0.0.1:30002/v1/loads num_used_tokens" if told else None,
                        age_s=1.2 if told else None, precision=(reading + [None, None])[2], inputs=[],
                        reason=None if told else (reading + [None, None])[3:4][0] if len(reading) > 3 else "/metrics would say it, but GET /metrics answered 404")
        servers = []
        for s in self.made:
            if url and s["url"] != url:
                continue
            short, ranks = self.server(s, clock()), {}
            for p in short["pools"]:
                rank = ranks.setdefault(p["rank"], dict(rank=dict(dp=int(p["rank"][2:] or 0) if p["rank"] else 0, tp=0, pp=0), pools=[],
                    running=full(short["running"], "requests"), waiting=full(short["waiting"], "requests"),
                    retracted_total=full([None, "not_reported"], "requests"), evicted_total=full([1234567, "reported"], "tokens")))
                rank["pools"].append(dict(pool=p["pool"], tier=p["tier"], **{k: full(p[k], "ratio" if k in ("in_use", "occupied") else "tokens")
                    for k in ("capacity", "used", "evictable", "available", "headroom", "in_use", "occupied")}))
            views = [dict(worker=o["url"], role=o["role"], healthy=True, dp=0, in_use=full([self.use(o, 0, clock()), "reported"], "ratio"))
                     for o in self.made if s["role"] == "router" and o["role"] in ("prefill", "decode")][:4]
            servers.append(dict(url=s["url"], host=short["host"], engine=short["engine"], version=short["version"], role=s["role"], model=short["model"],
                unit=short["unit"], pid=4242, numa_nodes=[0], gpus=[dict(index=0, used_mib=83000, total_mib=98304)], unreachable=short["unreachable"],
                ranks=list(ranks.values()), router_view=views, verdict=dict(level=short["level"], reason=short["reason"]), notes=[],
                gaps=[g for g in self.gaps() if g["server"] == s["url"]],
                signs=[dict(evidence=["waiting 3 while 97.6 % in use"], window_s=60, **sign) for sign in short["signs"]]))
        return dict(schema="plimsoll.status/1", made_by="plimsoll 0.1.0", taken_at=clock(), servers=servers, gaps=self.gaps(), fleet={}, self={})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(timestamp or clock())

    def refuse(self, code, sentence):
        self.give(code, "application/json", json.dumps(dict(schema="plimsoll.error/1", error=sentence)).encode())

    def give(self, code, kind, body):
        self.send_response(code)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Content-Security-Policy", POLICY),
                            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-cache")):
            self.send_header(name, value)
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            # Who asked is gone.
            self.close_connection = True

    def sign_in(self):
        with open(os.path.join(ASSETS, "sign_in.html"), "rb") as file:
            self.give(401, TYPES[".html"], file.read())

    def do_POST(self):
        """The form: the token is `right`."""
        if self.rfile.read(int(self.headers["Content-Length"])) != b"token=right":
            return self.sign_in()
        KNOBS["shut"] = 0
        self.send_response(303)
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        fleet, url = self.server.fleet, urlparse(self.path)
        ask = parse_qs(url.query)
        if url.path == "/" and KNOBS["shut"]:
            return self.sign_in()
        if url.path == "/" or url.path.startswith("/assets/"):
            path = os.path.normpath(os.path.join(ASSETS, "index.html" if url.path == "/" else url.path[len("/assets/"):]))
            if path.startswith(os.path.normpath(ASSETS)) and os.path.isfile(path):
                with open(path, "rb") as file:
                    return self.give(200, TYPES.get(os.path.splitext(path)[1], "text/plain"), file.read())
            return self.give(404, "text/plain", b"no such file")
        if url.path == "/mock":
            fleet.down |= set(ask.get("down", []))
            fleet.down -= set(ask.get("up", []))
            KNOBS.update({name: float(ask[name][0]) for name in KNOBS if name in ask})
            return self.give(200, "text/plain", b"ok")
        if url.path == "/healthz":
            return self.give(503 if KNOBS["mute"] else 200, "text/plain", b"ok")
        if KNOBS["shut"] and url.path.startswith("/api/"):
            return self.refuse(401, "a token is needed, and this one or none is not it")
        if KNOBS["full"] and url.path == "/api/v1/stream" or KNOBS["full"] > 1:
            return self.refuse(503, "too many watch at once; /api/v1/overview can still be asked")
        if url.path == "/api/v1/stream":
            return self.stream(fleet)
        since = float(ask.get("from", [clock() - 86400])[0])
        if fleet.kind == "off" and url.path == "/api/v1/history":
            return self.refuse(503, "no history is kept: see the notes of /api/v1/overview")
        if KNOBS["fail"] and url.path == "/api/v1/history":
            return self.refuse(503, "too many ask for this at once")
        made = {"/api/v1/overview": fleet.overview, "/api/v1/history": lambda: fleet.history(ask),
                "/api/v1/snapshot": lambda: fleet.snapshot(ask.get("server", [None])[0]),
                "/api/v1/gaps": lambda: dict(schema="plimsoll.gaps/1", taken_at=clock(), gaps=fleet.gaps()),
                "/api/v1/events": lambda: dict(schema="plimsoll.events/1", notes=[], events=fleet.events(since, clock()))}.get(url.path)
        if not made:
            return self.refuse(404, "no such page")
        self.give(200, "application/json", json.dumps(made()).encode())

    def stream(self, fleet):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

        def say(event, data):
            self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())
            self.wfile.flush()
        try:
            self.wfile.write(b"retry: 500\n\n")
            say("overview", fleet.overview())
            while not KNOBS["shut"]:
                time.sleep(fleet.every)
                if not KNOBS["mute"]:
                    say("servers", fleet.frame())
        except OSError:
            pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fleet", default="small")
    parser.add_argument("--every", type=float, default=1.0)
    args = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    server.daemon_threads = True
    server.fleet = Fleet(args.fleet, args.every)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
