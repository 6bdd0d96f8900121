#!/usr/bin/env bash
# Installs what compare.py compares, into FOLDER: a venv with the tools of PyPI, and toptop, which is compiled (45 s of two
# cores). What a registry refuses is left out, and said.
#
#   benches/peers/install.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?where to}
mkdir -p "$folder"
[ -x "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
pip=("$folder/venv/bin/pip" install --disable-pip-version-check --quiet)
if ! "${pip[@]}" -r "$here/requirements.txt"; then
    # One by one, so that one that is gone does not take the others with it.
    grep -v '^#' "$here/requirements.txt" | while read -r one; do
        "${pip[@]}" --no-deps "$one" || echo "skipped: $one" >&2
    done
fi
if [ ! -x "$folder/toptop/bin/toptop" ]; then
    nice -n 19 cargo install --quiet --locked -j1 --root "$folder/toptop" --target-dir "$folder/target" toptop@1.1.1 ||
        echo "skipped: toptop 1.1.1" >&2
    rm -rf "$folder/target"
fi
