# Shared by install.sh and install-older.sh. Sourced, never run.
set -euo pipefail

files=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lab=${PLIMSOLL_LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/plimsoll/lab}
uv_version=0.13.9

# torch and the engines need exactly this Python: the lock files hold its wheels.
python_version=3.11

say() { echo "lab: $*" >&2; }
fail() { say "failed: $*"; exit 1; }
skip() { say "skipped: $*"; exit 75; } # EX_TEMPFAIL: not today, nothing is wrong here

# What apt, pip and uv print when nobody answers, or when the answer is "not now". pip says nothing
# of an index page that it could not get, only that it then knows of no version at all.
no_answer='dns error|error sending request|client error \(connect\)|timed? ?out|connection (failed|refused|reset|closed|aborted)|
could ?n.t (connect|resolve)|could not (connect|resolve)|unable to connect|temporary failure (in name resolution|resolving)|
newconnectionerror|nameresolutionerror|max retries exceeded|network is unreachable|no route to host|
status server error|50[0-9] (server error|internal|bad gateway|service|gateway)|too many requests|from versions: none'
no_answer=${no_answer//$'\n'/}

# from_registry WHAT COMMAND...: run COMMAND, which gets WHAT from a registry.
# A registry that does not answer is no fault of ours and ends in 75; the rest is 1.
from_registry() {
    local what=$1 log=$lab/.registry.log
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 15 "$log" >&2
    if grep -qiE "$no_answer" "$log"; then
        skip "no registry answered for $what"
    fi
    fail "could not install $what"
}

apt_install() {
    apt-get -o Acquire::Retries=2 update
    DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=2 install -y --no-install-recommends "$@"
}

# need_packages NAME...: Debian packages, installed only where one is missing.
need_packages() {
    local missing=() name
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || fail "root must first run: apt-get install ${missing[*]}"
    say "apt packages: ${missing[*]}"
    from_registry "apt packages ${missing[*]}" apt_install "${missing[@]}"
}

# The system's own Python first: one from a version manager may be moved away.
find_python() {
    local candidate
    for candidate in "/usr/bin/python$python_version" "python$python_version"; do
        if "$candidate" -c 'import ensurepip' 2>/dev/null; then
            python=$candidate
            return
        fi
    done
    fail "needs Python $python_version with its venv module"
}

need_uv() {
    if [ "$("$lab/uv/bin/uv" --version 2>/dev/null | cut -d' ' -f2)" = "$uv_version" ]; then return; fi
    rm -rf "$lab/uv"
    "$python" -m venv "$lab/uv"
    from_registry "uv" "$lab/uv/bin/pip" install -q --timeout 30 --retries 2 "uv==$uv_version"
}

# new_environment NAME: an empty environment $lab/NAME with what NAME.lock lists.
new_environment() {
    local name=$1
    rm -rf "${lab:?}/$name"
    "$lab/uv/bin/uv" venv -q --no-config --python "$python" "$lab/$name"
    say "packages of $name"
    from_registry "$name" "$lab/uv/bin/uv" pip install -q --no-config --no-deps \
        --python "$lab/$name/bin/python" -r "$files/sglang/$name.lock"
}

# adapt_to_cpu NAME: let an SGLang environment run where there is no GPU.
adapt_to_cpu() {
    local packages
    packages=$("$lab/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "$python" "$files/sglang/cuda_stubs.py" "$packages/torch/lib"
    mkdir -p "$packages/sgl_kernel"
    cp "$files/sglang/sgl_kernel_stub.py" "$packages/sgl_kernel/__init__.py"
}

# begin STAMP FILE...: prepare the folder; end at once where STAMP says that these very
# files were installed before. finish writes the stamp, as the last act: an install that
# was interrupted has none and is done anew.
begin() {
    stamp=$lab/$1.stamp
    shift
    mkdir -p "$lab"
    exec 9>"$lab/.lock"
    flock -w 1200 9 || fail "another install holds $lab/.lock"
    # Mooncake links to the first four; the stubs are made with gcc and readelf.
    need_packages libibverbs1 librdmacm1 libnuma1 liburing2 gcc binutils python3-venv
    find_python
    wanted=$( (cd "$files" && cat "$@" && echo "$python $lab") | sha256sum | cut -d' ' -f1)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        say "up to date in $lab"
        exit 0
    fi
    rm -f "$stamp"
    export UV_CACHE_DIR=$lab/uv-cache UV_PYTHON_DOWNLOADS=never UV_HTTP_TIMEOUT=30
    unset UV_INDEX_STRATEGY VIRTUAL_ENV PYTHONPATH PYTHONHOME
}

finish() {
    echo "$wanted" >"$stamp.new"
    mv "$stamp.new" "$stamp"
    say "ready in $lab"
}
