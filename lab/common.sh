# Shared by all install scripts: the folder and its lock, Debian's packages, registries, stamps. Sourced, never run.
# Nothing here decides what an install puts down, so no stamp depends on this file; environments.sh is for what does.
set -euo pipefail

files=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lab=${PLIMSOLL_LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/plimsoll/lab}

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

# lock_lab [NAME]: make the folder, and wait until no other install holds the lock.
lock_lab() {
    local lock=$lab/${1:-.lock}
    mkdir -p "$lab"
    exec 9>"$lock"
    flock -w 1200 9 || fail "another install holds $lock"
}

apt_install() {
    apt-get -o Acquire::Retries=2 update
    DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=2 install -y --no-install-recommends "$@"
}

# need_packages NAME...: Debian packages, installed only where one is missing. Before `begin` stands what is needed whenever
# the install is used, as the folder may be kept for a machine that does not have it; behind it what only installing needs.
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

# begin STAMP FILE...: end at once where STAMP says that these very files were installed before; FILEs are all that decide what
# an install puts down, its own script with them. finish writes the stamp, as the last act: an install that was interrupted
# has none and is done anew. Which of Debian's packages a script names changes nothing of what it puts down.
begin() {
    stamp=$lab/$1.stamp
    shift
    wanted=$( (cd "$files" && cat "$@" | sed '/^need_packages /d' && echo "${python-} $lab") | sha256sum | cut -d' ' -f1)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        say "up to date in $lab"
        exit 0
    fi
    rm -f "$stamp"
}

finish() {
    echo "$wanted" >"$stamp.new"
    mv "$stamp.new" "$stamp"
    say "ready in $lab"
}
