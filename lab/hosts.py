"""What far.py's host is made of: who may log in, what its sshd allows them, and an alias for each thing that can be the
matter with a host."""

USUAL, BARE, NOBODY = 22, 2222, 9  # ports: all programs are there; HIDDEN ones are not; nothing listens
# What a script may fetch a page with, on a host that has none of it.
HIDDEN = ("curl*", "wget*", "python*", "pip*", "perl*", "nc", "nc.*", "ncat", "netcat*", "socat", "telnet", "busybox",
          "bash", "rbash", "ruby*", "php*", "node*", "lua*", "tclsh*", "gawk", "openssl", "ssh")  # fmt: skip
# {user: its shell}; {folder} is the temporary one.
USERS = {
    "root": "/bin/bash",
    "far-user": "/bin/sh",
    "far-bare": "/bin/sh",
    "far-noforward": "/bin/sh",
    "far-neither": "/bin/sh",
    "far-banner": "{folder}/talking-shell",
    "far-bashrc": "/bin/bash",
    "far-password": "/bin/sh",
    "far-nologin": "/usr/sbin/nologin",
    "far-one-session": "/bin/sh",
}
SSHD_CONFIG = """\
HostKey {folder}/keys/host
AuthorizedKeysFile {folder}/keys/client.pub
Banner none
KbdInteractiveAuthentication no
LogLevel VERBOSE
MaxStartups 100
PasswordAuthentication no
PermitRootLogin prohibit-password
PermitUserRC no
PidFile none
PrintLastLog no
PrintMotd no
StrictModes no
UsePAM no
Match User far-noforward,far-neither
    AllowStreamLocalForwarding no
    AllowTcpForwarding no
Match User far-banner
    Banner {folder}/banner
Match User far-password
    PasswordAuthentication yes
    PubkeyAuthentication no
Match User far-one-session
    MaxSessions 1
"""
TALKS = """\
#!/bin/sh
# A login shell that talks before it does what it is asked to.
echo "Welcome to far. You have no mail."
echo '{"notice": "maintenance on Sunday"}'
echo "quota: none" >&2
exec /bin/sh "$@"
"""
SSH_CONFIG = """\
Host {alias}
    HostName {host}
    Port {port}
    User {user}
    UserKnownHostsFile {known}
"""
SSH_CONFIG_ALL = """\
Host *
    GlobalKnownHostsFile /dev/null
    IdentityAgent none
    IdentitiesOnly yes
    IdentityFile {folder}/keys/client
"""
# {alias: (user, port or arguments of relay.py, file of known hosts)}
HOSTS = {
    **{user: (user, USUAL, "known") for user in USERS if user != "root"},
    "far-root": ("root", USUAL, "known"),
    "far-bare": ("far-bare", BARE, "known"),
    "far-neither": ("far-neither", BARE, "known"),
    "far-slow": ("root", "--delay 0.1", "known"),
    "far-cut-early": ("root", "--cut-after 1500", "known"),  # in the key exchange
    "far-cut": ("root", "--cut-after 12000", "known"),
    "far-cut-late": ("root", "--cut-after 60000", "known"),
    "far-stall": ("root", "--stall-after 12000", "known"),
    "far-silent": ("root", "--silent", "known"),
    "far-refused": ("root", NOBODY, "known"),
    "far-unknown": ("root", USUAL, "none"),
    "far-changed": ("root", USUAL, "changed"),
}
