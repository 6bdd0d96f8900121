# What runs in the shell of another host: these functions, and lines that call them. They only read, write nothing, and
# start no program but cat, curl, date, dd, getent, grep, head, ls, nsenter, python3, readlink, sort, stat, tail, timeout, tr, wget
# and those of crates/sense/src/command.
#
# Each answer is a line with the boundary, the question's key and what came of it, then bytes up to the next boundary.
PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin LC_ALL=C TZ=UTC
export PATH LC_ALL TZ
unset CDPATH GREP_OPTIONS IFS http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
set +e +u
NL='
'
b() { printf '\n%s %s\n' "$B" "$*"; }

# why KEY PATH: that something is not there, or that we have no right to see it
why() {
  p=$2
  case $p in
  /proc/[0-9]*/*)
    p=${p#/proc/} p=/proc/${p%%/*}
    if [ -d "$p" ] && [ ! -r "$p/environ" ]; then b "$1 denied"; else b "$1 gone"; fi
    return
    ;;
  esac
  while case $p in */*) p=${p%/*} ;; *) p= ;; esac && [ -n "$p" ] && [ ! -e "$p" ]; do :; done
  if [ -n "$p" ] && [ -d "$p" ] && [ ! -x "$p" ]; then b "$1 denied"; else b "$1 gone"; fi
}

# stored PATH: on a file system whose files do not act when they are read; the kernel's are no such ones
stored() {
  case $(stat -L -f -c %t -- "$1" 2>/dev/null) in
  9fa0 | 62656572 | 64626720 | 74726163 | 73636673 | 27e0eb | 63677270) return 1 ;;
  '') return 2 ;;
  esac
}

# regular KEY PATH: sets f to a stored regular file that may be read, or tells why not
regular() {
  f=$2
  if [ ! -e "$f" ]; then why "$1" "$f"; return 1; fi
  if [ ! -f "$f" ]; then b "$1 other"; return 1; fi
  if [ ! -r "$f" ]; then b "$1 denied"; return 1; fi
  stored "$f"
  case $? in 0) ;; 1) b "$1 kernel"; return 1 ;; *) b "$1 nostat"; return 1 ;; esac
}

# read KEY CAP PATH
r() {
  case $3 in
  /proc/* | /sys/*)
    f=$3
    if [ ! -e "$f" ]; then why "$1" "$f"; return; fi
    if [ ! -f "$f" ]; then b "$1 other"; return; fi
    if [ ! -r "$f" ]; then b "$1 denied"; return; fi
    ;;
  *) regular "$1" "$3" || return ;;
  esac
  b "$1 ok"
  head -c "$2" <"$f" 2>/dev/null
  b "$1 end $?"
}

# link KEY PATH
k() {
  if t=$(readlink -- "$2" 2>/dev/null); then b "$1 ok"; printf '%s' "$t"; else why "$1" "$2"; fi
}

# list KEY CAP FOLDER: names, each with a zero behind it
l() {
  if [ ! -d "$3" ]; then why "$1" "$3"; return; fi
  if [ ! -r "$3" ] || [ ! -x "$3" ]; then b "$1 denied"; return; fi
  b "$1 ok"
  n=0
  for f in "$3"/* "$3"/.[!.]* "$3"/..?*; do
    [ -e "$f" ] || [ -L "$f" ] || continue
    n=$((n + 1))
    if [ "$n" -gt "$2" ]; then b "$1 more"; return; fi
    printf '%s\000' "${f##*/}"
  done
}

# lines KEY CAP PATH WORD…: those in which one of the words stands
n() {
  key=$1 cap=$2 path=$3
  shift 3
  for w; do set -- "$@" -e "$w"; shift; done
  if [ ! -e "$path" ]; then why "$key" "$path"; return; fi
  if [ ! -f "$path" ]; then b "$key other"; return; fi
  # Whether it may be read is told by opening: the kernel judges some files by more than their mode.
  if ! (: <"$path") 2>/dev/null; then b "$key denied"; return; fi
  b "$key ok"
  head -c 16777216 <"$path" 2>/dev/null | grep -aF "$@" | head -c "$cap"
  b "$key end 0"
}

# open KEY PID: what a process has open
o() {
  if [ ! -r "/proc/$2/fd" ] || [ ! -x "/proc/$2/fd" ]; then why "$1" "/proc/$2/fd"; return; fi
  b "$1 ok"
  ls -ln$Q "/proc/$2/fd" 2>/dev/null
}

# ends KEY HEAD TAIL PATH
e() {
  regular "$1" "$4" || return
  if ! s=$(stat -L -c '%s %Y %u %d %i' -- "$f" 2>/dev/null); then b "$1 nostat"; return; fi
  b "$1 ok $s"
  s=${s%% *}
  if [ "$2" -gt 0 ]; then head -c "$2" <"$f" 2>/dev/null; fi
  if [ "$3" -gt 0 ] && [ "$s" -gt "$2" ]; then
    a=$(((s - $3) / 4096 * 4096))
    if [ "$a" -lt "$2" ]; then a=$(($2 / 4096 * 4096)); fi
    b "$1 tail $a"
    dd "if=$f" bs=4096 "skip=$((a / 4096))" "count=$(((s - a + 4095) / 4096))" 2>/dev/null
  fi
  b "$1 end 0"
}

# inside ROOT PATH: sets f to a path as it is from that root; links in it lead nowhere else
inside() {
  g=$2 f= n=0
  while [ -n "$g" ]; do
    case $g in */*) c=${g%%/*} g=${g#*/} ;; *) c=$g g= ;; esac
    case $c in '' | .) continue ;; ..) f=${f%/*}; continue ;; esac
    if [ -L "$1$f/$c" ]; then
      n=$((n + 1))
      if [ "$n" -gt 40 ] || ! t=$(readlink -- "$1$f/$c"); then return 1; fi
      case $t in /*) f= ;; esac
      g=$t/$g
    else
      f=$f/$c
    fi
  done
  f=$1$f
}

# under KEY CAP ROOT PATH
u() {
  if ! inside "$3" "$4"; then b "$1 gone"; return; fi
  regular "$1" "$f" || return
  b "$1 ok"
  head -c "$2" <"$f" 2>/dev/null
  b "$1 end $?"
}

# ends under a root: KEY HEAD TAIL ROOT PATH
v() {
  if inside "$4" "$5"; then e "$1" "$2" "$3" "$f"; else b "$1 gone"; fi
}

# sift KEY MOST LONGEST ENDING ROOT FOLDER WORD…: folders, files with the ending, and those in which a word stands
s() {
  key=$1 most=$2 longest=$3 ending=$4 root=$5
  m=0 folders=
  if ! inside "$root" "$6" || [ ! -d "$f" ]; then b "$key gone"; return; fi
  if [ ! -r "$f" ] || [ ! -x "$f" ]; then b "$key denied"; return; fi
  if ! stored "$f"; then b "$key kernel"; return; fi
  folder=$f
  shift 6
  words=
  for w; do words="$words${words:+$NL}$w"; done
  b "$key ok $folder"
  # What lies there belongs to someone else: only regular files are opened, and links only where they lead inside.
  set --
  hits= long=
  for p in "$folder"/* "$folder"/.[!.]*; do
    m=$((m + 1))
    if [ "$m" -gt "$most" ]; then printf 'c\000'; break; fi
    f=$p
    if [ -L "$p" ]; then inside "$root" "${p#"$root"}" || f=; fi
    if [ -d "$f" ]; then
      printf 'd%s\000' "${p##*/}"
      case ${p##*/} in .* | *[!A-Za-z0-9_-]*) ;; *) folders="$folders ${p##*/}" ;; esac
      continue
    fi
    case $p in *"$ending") [ -n "$ending" ] || continue ;; *) continue ;; esac
    # What a link leads to may be anything, and names with these signs are not told apart below.
    case $f in *'|'* | *"$NL"*) f= ;; esac
    if [ ! -f "$f" ] || [ ! -r "$f" ] || { [ -L "$p" ] && ! stored "$f"; }; then printf 'x\000'; continue; fi
    printf 'f%s\000' "${p##*/}"
    if [ ! -L "$p" ]; then set -- "$@" "$p"; elif grep -aqsF -e "$words" -- "$f"; then hit "$p" "$f"; fi
  done
  if [ $# -gt 0 ]; then
    found=$(grep -alsF -e "$words" -- "$@" 2>/dev/null)
    if [ $? -gt 2 ]; then b "$key unsearched"; fi
    IFS=$NL
    set -f
    for p in $found; do hit "$p" "$p"; done
    set +f
    unset IFS
  fi
  IFS=$NL
  set -f
  for p in $long; do b "$key odd $p"; done
  for p in $hits; do
    b "$key file ${p%%|*}"
    head -c "$longest" <"${p#*|}" 2>/dev/null
  done
  set +f
  unset IFS
}

# hit PATH FILE: a file in which a word stands, for later, unless it is too long
hit() {
  if [ "$(stat -L -c %s -- "$2" 2>/dev/null || echo 0)" -gt "$longest" ]; then long="$long${1##*/}$NL"; return; fi
  hits="$hits${1##*/}|$2$NL"
}

# walk LEVELS MOST LONGEST ENDING ROOT FOLDER WORD…: a folder and those below it, but for skipped ones
walk() {
  case $6 in *'|'* | *"$NL"*) return ;; esac
  levels=$1 all=$2 queue="1|$6"
  wl=$3 we=$4 wr=$5
  shift 6
  ww=$(IFS=$NL; printf '%s' "$*")
  while [ -n "$queue" ] && [ "$all" -gt 0 ]; do
    wf=${queue%%"$NL"*}
    case $queue in *"$NL"*) queue=${queue#*"$NL"} ;; *) queue= ;; esac
    level=${wf%%|*} wf=${wf#*|}
    s "walk|$wf|" "$all" "$wl" "$we" "$wr" "$wf" "$ww"
    all=$((all - m))
    if [ "$level" -ge "$levels" ]; then continue; fi
    for d in $folders; do
      if new "$skipped" "$d"; then queue="$queue${queue:+$NL}$((level + 1))|$wf/$d"; fi
    done
  done
}

# commands KEY CAP WORD…: processes in whose command lines one of the words stands
c() {
  key=$1 cap=$2
  shift 2
  if [ $# = 0 ]; then b "$key none"; return; fi
  for w; do set -- "$@" -e "$w"; shift; done
  P=
  cd /proc || return
  all=0 one=0
  for p in [0-9]*; do all=$((all + 1)); done
  if [ -d 1 ]; then one=1; fi
  for p in $(grep -asF -l "$@" -- [0-9]*/cmdline 2>/dev/null | sort -n); do
    p=${p%%/*}
    # our own search holds the words, too
    if [ "$p" = $$ ] || [ ! -e "$p/cmdline" ]; then continue; fi
    P="$P $p"
    b "$key process $p"
    head -c "$cap" <"$p/cmdline" 2>/dev/null
  done
  b "$key ok $all $one"
  cd /
}

# kin KEY
a() {
  b "$1 ok"
  (cd /proc && cat [0-9]*/stat 2>/dev/null)
}

# pipes KEY: the open pipes of all processes
i() {
  b "$1 ok"
  (cd /proc && ls -ln$Q [0-9]*/fd 2>&1 | grep -a -e '/fd:$' -e 'pipe:\[' -e 'ermission denied')
}

# run KEY CAP SECONDS PROGRAM ARGUMENT…
x() {
  key=$1 cap=$2 patience=$3
  shift 3
  if ! command -v "$1" >/dev/null 2>&1; then b "$key none"; return; fi
  if command -v timeout >/dev/null 2>&1; then set -- timeout "$patience" "$@"; fi
  b "$key ok"
  # Its output goes on, the end of its complaints is kept, and its exit code behind a sign that no text has.
  {
    e=$({
      { { "$@" 2>&3 4>&- 5>&-; printf '\001%s\001' "$?" >&5; } | head -c "$cap" >&4; } 3>&1 | tail -c 8192
    } 5>&1)
  } 4>&1
  b "$key said"
  printf '%s' "$e"
}

# page URL HOST PORT PATH: its head and body go to 6, status and seconds to 1
page() {
  case $T in
  curl)
    set -- -q -s -S -i -g --http1.1 --noproxy '*' --connect-timeout 1 -m 3 --max-filesize "$M" -A "$AGENT" \
      -H 'Accept-Encoding: identity' -o /dev/fd/6 -w '%{http_code} %{time_total}' -- "$1"
    if [ -n "$A" ]; then printf 'header = "%s"\n' "$A" | $N curl -K - "$@" 2>/dev/null; else $N curl "$@" 2>/dev/null; fi
    ;;
  python3)
    printf '%s' "$A" | $N python3 -I -c "$PY" "$2" "$3" "$4" "$AGENT" "$M" 2>/dev/null
    ;;
  wget)
    # One that may follow where it is led is not used.
    { $N wget --no-config --no-proxy --max-redirect=0 -q -S -O - -t 1 -T 3 -U "$AGENT" "$1" 3>&- 2>&7 1>&6; echo " $?"; } 7>&1 | head -c 16384
    return 0
    ;;
  esac
}

# get KEY URL HOST PORT PATH
g() {
  b "$1 body"
  { st=$({ { page "$2" "$3" "$4" "$5" 6>&1 1>&3 4>&-; printf ' %s' "$?" >&3; } | head -c "$M" >&4; } 3>&1); } 4>&1
  b "$1 end $(date +%s.%N)"
  printf '%s' "$st"
}

# found: the last page was there
found() { case $st in 200\ * | *\ 200\ *) return 0 ;; *) return 1 ;; esac; }

# hopeless: the last page told that others of its target are not worth asking
hopeless() {
  case $st in *\ [67]) return 0 ;; *\ 28) late=$((late + 1)) ;; esac
  [ "$late" -ge 2 ]
}
PY='
import os, sys, time, http.client as h
_, host, port, path, agent, most = sys.argv
out, begun, code, why = os.fdopen(6, "wb"), time.time(), 0, 0
try:
    head = {"User-Agent": agent, "Accept": "*/*", "Accept-Encoding": "identity"}
    door = sys.stdin.read()
    if door:
        head["Authorization"] = door.partition(": ")[2]
    link = h.HTTPConnection(host, int(port), timeout=3)
    link.request("GET", path, headers=head)
    said = link.getresponse()
    code = said.status
    out.write(b"HTTP/1.1 %d -\r\n" % code)
    for name, value in said.getheaders():
        if name.lower() in ("content-type", "content-encoding", "location"):
            out.write(("%s: %s\r\n" % (name, value)).encode("latin-1"))
    out.write(b"\r\n")
    left = int(most)
    while left > 0:
        if time.time() - begun > 3:
            raise TimeoutError
        part = said.read1(65536)
        if not part:
            break
        out.write(part[:left])
        left -= len(part)
    if left > 0 and said.length:
        why = 18
except ConnectionRefusedError:
    why = 7
except TimeoutError:
    why = 28
except h.RemoteDisconnected:
    why = 52
except h.BadStatusLine:
    why = 1
except h.IncompleteRead:
    why = 18
except Exception:
    why = 56
try:
    out.close()
except OSError:
    pass
sys.stdout.write("%d %.6f" % (code, time.time() - begun))
sys.stdout.flush()
os._exit(why)
'
# tools KEY: which programs there are; a wget that cannot be told to stay where it is sent is none
z() {
  w=
  for p in curl python3 nsenter journalctl systemctl nvidia-smi; do command -v "$p" >/dev/null 2>&1 && w="$w $p"; done
  # What all answers are made with; a program that is there and does something else is as bad as none.
  for p in cat dd grep head ls readlink sort stat tail tr; do command -v "$p" >/dev/null 2>&1 || w="$w !$p"; done
  [ "$(printf 'one\ntwo\n' | cat | grep -F -e two | head -c 3 | sort)" = two ] || w="$w !cat,grep,head,sort"
  if wget --no-config --no-proxy --max-redirect=0 -V >/dev/null 2>&1; then w="$w wget"; fi
  b "$1 ok$w"
}

# new LIST WORD: a word that is not in the list yet
new() { case " $1 " in *" $2 "*) return 1 ;; *) return 0 ;; esac; }

# survey WORD…: what a look for processes with these words in their command lines will ask. Keys are questions, their words
# parted by bars.
survey() {
  S=65537
  z tools
  for p in /proc/stat /sys/devices/system/node/online /sys/devices/system/node/node[0-9]*/cpulist; do
    [ -e "$p" ] && r "read|$p" 1048577 "$p"
  done
  grounds self
  if [ $# -gt 0 ]; then
    c commands 2097153 "$@"
    a kin
    L=$(readlink /proc/self/ns/net 2>/dev/null) spaces= units= known= logs= m=0
    # Helpers that a server starts give themselves a title, or are Python's own: of them what they have open is enough.
    X=" $(cd /proc && grep -asF -l -e :: -e multiprocessing -- [0-9]*/cmdline 2>/dev/null | tr -s '/a-z\n' ' ')"
    for p in $P; do
      if ! new "$X" "$p" && ! new "$known" "$p"; then continue; fi
      m=$((m + 1))
      if [ "$m" -gt 64 ]; then break; fi
      process "$p"
    done
  fi
  t time
}

# grounds PID: the network namespace of a process
grounds() {
  for w in tcp tcp6; do n "lines|/proc/$1/net/$w| 0A " 1048577 "/proc/$1/net/$w" ' 0A '; done
  if [ "$2" = mine ]; then return; fi
  for w in fib_trie if_inet6; do r "read|/proc/$1/net/$w" 4194305 "/proc/$1/net/$w"; done
  k "link|/proc/$1/ns/net" "/proc/$1/ns/net"
}

# process PID
process() {
  for w in status cgroup stat; do r "read|/proc/$1/$w" $S "/proc/$1/$w"; done
  for w in environ cmdline; do r "read|/proc/$1/$w" 2097153 "/proc/$1/$w"; done
  for w in exe cwd; do k "link|/proc/$1/$w" "/proc/$1/$w"; done
  s=$(readlink "/proc/$1/ns/net" 2>/dev/null)
  k "link|/proc/$1/ns/net" "/proc/$1/ns/net"
  if [ -z "$s" ] || new "$spaces" "$s"; then
    spaces="$spaces $s"
    if [ "$s" = "$L" ]; then grounds "$1" mine; else grounds "$1"; fi
  fi
  family "$1"
  if [ "$deep" = 1 ]; then
    n "lines|/proc/$1/maps|/site-packages/|/dist-packages/" 16777217 "/proc/$1/maps" /site-packages/ /dist-packages/
    for w in ns/mnt root; do k "link|/proc/$1/$w" "/proc/$1/$w"; done
  fi
  for w in 1 2; do
    e "ends|descriptor|$1|$w|0|0" 0 0 "/proc/$1/fd/$w"
    if [ -f "/proc/$1/fd/$w" ] && s=$(stat -L -c %d:%i "/proc/$1/fd/$w" 2>/dev/null) && new "$logs" "$s"; then
      logs="$logs $s"
      e "ends|descriptor|$1|$w|524288|1048576" 524288 1048576 "/proc/$1/fd/$w"
      u "under|/proc/$1/root|/etc/localtime" $S "/proc/$1/root" /etc/localtime
    fi
  done
  s=$(cat "/proc/$1/cgroup" 2>/dev/null)
  case $s in *.service*) ;; *) return ;; esac
  s=${s%.service*}.service
  s=${s##*/}
  case $s in *[!A-Za-z0-9:_.@-]* | user@*) return ;; esac
  if new "$units" "$s"; then units="$units $s"; unit "$s"; fi
}

# family PID: what a process and its descendants have open
family() {
  if ! new "$known" "$1"; then return; fi
  known="$known $1"
  if [ ! -r "/proc/$1/fd" ] || [ ! -x "/proc/$1/fd" ]; then
    why "list|/proc/$1/fd" "/proc/$1/fd"
  else
    x=$(ls -ln$Q "/proc/$1/fd" 2>/dev/null)
    b "list|/proc/$1/fd ok"
    printf '%s\n' "$x"
    case $x in *' -> /dev/shm/'*) shared "$1" "$x" ;; esac
  fi
  kids=
  if [ -r "/proc/$1/task/$1/children" ]; then read -r kids <"/proc/$1/task/$1/children"; fi
  for q in $kids; do family "$q"; done
}

# shared PID LIST: what it shares its memory by, of the files in a list of what it has open
shared() {
  printf '%s\n' "$2" | while read -r _ _ _ _ _ _ _ _ w _ s; do
    if slab "$s"; then
      r "read|/proc/$1/status" $S "/proc/$1/status"
      r "read|/proc/$1/fdinfo/$w" 4097 "/proc/$1/fdinfo/$w"
      e "ends|descriptor|$1|$w|16777228|0" 16777228 0 "/proc/$1/fd/$w"
    fi
  done
}

# unit NAME: its files, wherever systemd may have them
unit() {
  set -- "$1" service
  case $1 in *@*) set -- "$1" "${1%%@*}@.service" service ;; esac
  for d in /etc/systemd/system.control /run/systemd/system.control /run/systemd/transient /etc/systemd/system \
    /run/systemd/system /usr/local/lib/systemd/system /usr/lib/systemd/system /lib/systemd/system; do
    for w; do
      if [ "$w" != service ]; then settings "$d/$w"; fi
      l "list|$d/$w.d" 64 "$d/$w.d"
      for s in "$d/$w.d"/*.conf; do
        case $s in *[!A-Za-z0-9:_.@/-]*) continue ;; esac
        [ -f "$s" ] && settings "$s"
      done
    done
  done
}

# settings FILE: one file of a unit, and the files of variables that it names
settings() {
  r "read|$1" 1048577 "$1"
  if [ ! -f "$1" ]; then return; fi
  grep -a '^EnvironmentFile=' "$1" 2>/dev/null | while IFS= read -r w; do
    w=${w#*=} w=${w#-}
    case $w in *[!A-Za-z0-9:_.@/-]*) ;; /*) r "read|$w" 1048577 "$w" ;; esac
  done
}

# time KEY
t() { b "$1 ok $(date +%s.%N)"; }
Q=
if ls -lq /proc/self/fd >/dev/null 2>&1; then Q=q; fi
