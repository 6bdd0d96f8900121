#!/usr/bin/env bash
# What a look costs: `plimsoll status` on the demo's four recorded servers, 21 times. Prints medians; compare ratios, these
# are wall times of whatever machine this is.
#
#   benches/status.sh [PROGRAM]
set -euo pipefail
program=${1:-target/release/plimsoll}
folder=$(mktemp -d)
"$program" demo --keep >"$folder/demo" &
demo=$!
trap 'kill $demo 2>/dev/null; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
    grep -q '^  plimsoll status' "$folder/demo" && break
    sleep 0.1
done
read -r -a urls < <(sed -n 's/^  plimsoll status //p' "$folder/demo")
for _ in $(seq 21); do
    /usr/bin/time -f '%e %U %S %M' -a -o "$folder/times" "$program" status "${urls[@]}" >/dev/null
done
middle() { cut -d' ' -f"$1" "$folder/times" | sort -g | sed -n 11p; }
printf 'plimsoll status, 4 servers: %s s wall, %s s user, %s s system, %s KiB at most (medians of 21)\n' "$(middle 1)" "$(middle 2)" "$(middle 3)" "$(middle 4)"
printf 'binary: %s bytes\n' "$(stat -c %s "$program")"
