#!/usr/bin/env bash
# What an answer from a log of 10 GB costs: `plimsoll status FILE`, 11 times. All but its last 64 MB is a hole, which reads as
# NUL bytes; beside it `tail` of as much as is read of the file's end. Wanted: under 50 ms.
#
#   benches/large-log.sh [PROGRAM]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-target/release/plimsoll}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/decode.log
# One line in twenty is the scheduler's, the others are of an access log: a busy server.
awk 'BEGIN { for (i = 0; bytes < 64 * 1024 * 1024; i++) {
    at = sprintf("[2026-11-29 %02d:%02d:%02d", 12 + int(i / 72000) % 12, int(i / 1200) % 60, int(i / 20) % 60)
    token = i * 7919 % 60000
    if (i % 20 == 10) line = at " TP0] Decode batch, #running-req: 6, #token: " token ", token usage: " sprintf("%.2f", token / 65536) ", cuda graph: True, gen throughput (token/s): 2557.24, #queue-req: 0"
    else line = at "] INFO:     127.0.0.1:" (1024 + i * 31 % 60000) " - \"POST /v1/chat/completions HTTP/1.1\" 200 OK"
    print line; bytes += length(line) + 1 } }' >"$folder/tail"
truncate -s 10G "$log"
cat "$folder/tail" >>"$log"
"$program" status "$log" | grep -q '(inferred) tokens' || { echo "no figure from the log" >&2; "$program" status "$log" >&2; exit 1; }
"$here/timed.py" 11 "status of a log of $(stat -c %s "$log") bytes" "$program" status "$log"
"$here/timed.py" 11 "tail of its last 4 MiB" tail -c 4194304 "$log"
