#!/usr/bin/env bash
# How long a whole host takes over ssh, near and 200 ms away: ./far.sh [RUNS]. Needs root (lab/far.py); prints for each way
# ssh alone and plimsoll beside it, in seconds, least, middle and most.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-7}
cargo build --quiet --release --locked -p plimsoll
program=target/release/plimsoll

coproc FAR { exec lab/far.py --servers --unified; }
trap 'eval "exec ${FAR[1]}>&-"' EXIT
read -r told <&"${FAR[0]}"
config=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["ssh_config"])' "$told")

measure() {
    local name=$1 times=()
    shift
    for _ in $(seq "$runs"); do
        local begun=${EPOCHREALTIME/./}
        "$@" >/dev/null 2>&1 || true # doctor finds gaps
        times+=($((${EPOCHREALTIME/./} - begun)))
    done
    printf '%s\n' "${times[@]}" | sort -n |
        awk -v name="$name" '{ t[NR] = $1 / 1e6 } END { printf "%-44s %6.2f %6.2f %6.2f\n", name, t[1], t[int((NR + 1) / 2)], t[NR] }'
}

printf '%-44s %6s %6s %6s\n' "seconds" least middle most
for host in far-root far-slow; do
    measure "ssh $host true" ssh -F "$config" -o BatchMode=yes "$host" true
    measure "plimsoll status ssh://$host" "$program" status --ssh-config "$config" "ssh://$host"
    measure "plimsoll doctor ssh://$host" "$program" doctor --json --ssh-config "$config" "ssh://$host"
done
