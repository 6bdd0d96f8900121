#!/usr/bin/env bash
# How long a whole host takes over ssh, near and 200 ms away, beside ssh alone: router, prefill, decode and a unified server of
# lab/ on the host of lab/far.py. Wanted: under 3 s of 200 ms away. Needs root and the lab (lab/install.sh).
#
#   benches/far.sh [PROGRAM]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:-target/release/plimsoll}")
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
coproc far { exec python3 -B "$here/../lab/far.py" --servers --unified; }
far_pid=$far_PID
trap 'exec {far[1]}>&- 2>/dev/null || true; wait "$far_pid" || true' EXIT
read -r told <&"${far[0]}" || { echo "the host does not start" >&2; exit 1; }
config=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["ssh_config"])' "$told")
for host in far-root far-slow; do
    "$here/timed.py" 9 "ssh $host true" ssh -F "$config" -o BatchMode=yes "$host" true
    "$here/timed.py" 9 "status ssh://$host" "$program" status --ssh-config "$config" "ssh://$host"
    "$here/timed.py" 9 "doctor ssh://$host" "$program" doctor --ssh-config "$config" "ssh://$host"
done
