#!/usr/bin/env bash
# What a look at a real deployment costs: router, prefill and decode of lab/ on this host, found and asked in all ways that
# there are, 21 times. Wanted: under 100 ms of its own time. Needs root and the lab (lab/install.sh).
#
#   benches/everything.sh [PROGRAM]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:-target/release/plimsoll}")
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
logs=$(mktemp -d)
coproc lab { exec python3 -B "$here/../lab/deploy.py" --folder "$logs"; }
lab_pid=$lab_PID
trap 'exec {lab[1]}>&- 2>/dev/null || true; wait "$lab_pid" || true; rm -rf "$logs"' EXIT
read -r told <&"${lab[0]}" || { echo "the lab does not start" >&2; exit 1; }
netns=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["netns_pid"])' "$told")
inside=(nsenter -t "$netns" -n)
# So that there are batch lines and a filled cache to read.
"${inside[@]}" python3 -B "$here/../lab/load.py" 29000 -n 12 -p 800 -o 120 -c 6 --seed 3 >/dev/null
found=$("${inside[@]}" "$program" status --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["servers"]))')
echo "$found servers found"
"$here/timed.py" 21 "status, nothing given" "${inside[@]}" "$program" status
"$here/timed.py" 21 "doctor, nothing given" "${inside[@]}" "$program" doctor
"$here/timed.py" 21 "nsenter alone" "${inside[@]}" true
