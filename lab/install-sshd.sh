#!/bin/bash
# An sshd for far.py, and what it needs besides; into the same folder and with the same exit codes as install.sh.
# Debian's program is only unpacked: installed as a package it would be started, at once or when the machine is.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

download_sshd() {
    apt-get -o Acquire::Retries=2 update
    (cd "$new" && apt-get -o Acquire::Retries=2 download openssh-server)
}

lock_lab .sshd.lock # its own: it is soon done, and the other installs may take long
need_packages openssh-client iproute2 curl python3 libwrap0
[ ! -x "$lab/sshd/usr/sbin/sshd" ] || exit 0
new=$lab/sshd.new
rm -rf "$new" "$lab/sshd"
mkdir "$new"
from_registry openssh-server download_sshd
dpkg -x "$new"/openssh-server_*.deb "$new"
# It has no option that only says its version, but says it when it complains.
[[ $("$new/usr/sbin/sshd" -? 2>&1) == *OpenSSH_* ]] || fail "sshd does not load"
mv "$new" "$lab/sshd"
say "sshd is in $lab/sshd"
