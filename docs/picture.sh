#!/usr/bin/env bash
# Draws docs/status.png from the demo. Needs Debian's aha, chromium and fonts-dejavu-core.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CLICOLOR_FORCE=1 COLUMNS=112 cargo run --release --locked --quiet -- demo --at 28.2 |
    sed -n '/KV cache/,$p' | sed '/plimsoll doctor http/,$d' >"$folder/screen"
{
    echo '<!doctype html><meta charset="utf-8"><style>body{margin:18px;background:#14161a;color:#d8dbe0;font:15px/1.28 "DejaVu Sans Mono",monospace}pre{margin:0;font:inherit}</style>'
    aha --black --no-header <"$folder/screen" | sed '1s/^/<pre>/; $s/$/<\/pre>/'
} >"$folder/screen.html"
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --user-data-dir="$folder/profile" \
    --force-device-scale-factor=1.5 --window-size=1000,715 --hide-scrollbars --screenshot="$folder/status.png" "file://$folder/screen.html" >/dev/null 2>&1
mv "$folder/status.png" docs/status.png
