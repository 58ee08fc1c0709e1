# Shared by the scripts of deploy/local: where things are, and processes by pid and start time, so
# that a number used again by somebody else is never signalled. Sourced, not run.

set -euo pipefail
local_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$local_dir/../.." && pwd)
state=${CORKBOARD_STATE:-$local_dir/state}
[[ $state = /* ]] || state=$PWD/$state
bin=$top/build/release/bin
certs=$state/certs

say() { printf '%s\n' "$*"; }
die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# What a user got wrong in the command itself: status 2, in one line.
misused() { # WORDS...
    local script
    script=$(realpath -m --relative-to="$top" "$0")
    printf '%s: %s (see %s --help)\n' "$(basename "$0")" "$*" "$script" >&2
    exit 2
}
# Shows the words at the head of the script.
help() {
    awk 'NR > 1 && !/^#/ {exit} NR > 1 {sub(/^# ?/, ""); print}' "$0"
    exit 0
}
unknown() { # ARGUMENT
    [[ $1 != -* ]] || misused "unknown option: $1"
    misused "unknown argument: $1"
}
# Of a script that takes nothing but --help.
no_arguments() { # ARGUMENT...
    [ $# -gt 0 ] || return 0
    [[ $1 != -h && $1 != --help ]] || help
    unknown "$1"
}

setting() { sed -n "s/^$1=//p" "$state/cluster" 2>/dev/null; }

# ---- A centre and its sites (`up --sites`) ----

# Site N of a centre is a cluster of its own in site-N of the centre's state directory.
sites_max=8
site_names=(paris rome oslo bern wien riga cairo tokyo)
site_places=(48.85,2.35 41.9,12.5 59.91,10.75 46.95,7.45 48.21,16.37 56.95,24.11 30.04,31.24 35.68,139.69)
cloudlet_of() { echo "acme/${site_names[$1 - 1]}"; } # SITE_NUMBER
site_dir() { echo "$state/site-$1"; }                # SITE_NUMBER
sites() { seq 1 "$(setting sites)" 2>/dev/null || true; }
# Sets `site`, the number of the one that is called so: 1, paris or acme/paris.
find_site() { # WORD
    for site in $(sites); do
        [[ " $site $(cloudlet_of "$site") ${site_names[site - 1]} " != *" $1 "* ]] || return 0
    done
    [ -n "$(sites)" ] || die "the cluster in $state has no sites; deploy/local/up --sites N makes a centre with N sites"
    die "there is no site \"$1\"; there are:$(for site in $(sites); do printf ' %s' "$site ($(cloudlet_of "$site"))"; done)"
}
# Runs a script of deploy/local for the cluster of a site.
at_site() { # SITE_NUMBER SCRIPT ARGUMENT...
    env -u CORKBOARD_PORT_BASE CORKBOARD_STATE="$(site_dir "$1")" "$local_dir/$2" "${@:3}"
}
# A script that has set `about_sites` takes --site NAME: then it is about that site's cluster.
if [ "${about_sites-}" ] && [ "${1-}" = --site ]; then
    [ -n "${2-}" ] || misused "--site needs a site, like paris"
    [ -e "$state/cluster" ] || die "no local cluster is there (deploy/local/up --sites N starts a centre with N sites)"
    find_site "$2"
    state=$(site_dir "$site") certs=$state/certs
    unset CORKBOARD_PORT_BASE
    shift 2
fi

is_cluster_file() { grep -qE '^port_base=[0-9]+$' "$1" 2>/dev/null && grep -qE '^rep=[0-9]+$' "$1"; } # FILE

# A cluster keeps the ports that it was made with; 63936 leaves room for those of one cell.
port_base=$(setting port_base) || true
port_base=${port_base:-${CORKBOARD_PORT_BASE:-18800}}
[[ $port_base =~ ^[1-9][0-9]{3,4}$ && $port_base -le 63936 ]] ||
    die "CORKBOARD_PORT_BASE must be the first of the ports to use, from 1000 to 63936, not '$port_base'"
[ "${CORKBOARD_PORT_BASE:-$port_base}" = "$port_base" ] ||
    die "the cluster in $state was made with CORKBOARD_PORT_BASE=$port_base, not" \
        "$CORKBOARD_PORT_BASE. Unset it, or set CORKBOARD_STATE for another cluster. Nothing was touched"
etcd_port=$port_base etcd_peer_port=$((port_base + 1))
bbs_port() { echo $((port_base + 10 + $1)); }
bbs_health_port() { echo $((port_base + 20 + $1)); }
locket_port() { echo $((port_base + 40 + $1)); }
auctioneer_port() { echo $((port_base + 30 + $1)); }
converger_port() { echo $((port_base + 35 + $1)); }
crm_port() { echo $((port_base + 50 + $1)); }
rep_port() { echo $((port_base + 100 + $1)); }
rep_admin_port() { echo $((port_base + 200 + $1)); }
instance_ports() { echo $((port_base + 1200 + 200 * $1))-$((port_base + 1399 + 200 * $1)); }

# Dies when the state directory is no directory, or this user may not look into it, or not change it: to a
# script that cannot look, a cluster that runs is not there, and its processes are left over from one
# that was deleted.
check_access() {
    local dir='' part denied='' owner
    while IFS= read -r -d / part || [ -n "$part" ]; do
        dir=${dir%/}/$part
        [ -d "$dir" ] || break
        [ -x "$dir" ] || { denied=$dir && break; }
    done <<<"$(realpath -ms "$state")/"
    [ -d "$dir" ] || [ ! -e "$dir" ] ||
        die "$dir is no directory: set CORKBOARD_STATE to one, or to a path that is free. Nothing was touched"
    if [ -z "$denied" ] && [ -d "$state" ]; then
        [ -r "$state" ] && [ -w "$state" ] && { [ ! -e "$state/cluster" ] || [ -r "$state/cluster" ]; } ||
            denied=$state
    fi
    [ -n "$denied" ] || [ ! -e "$state/cluster" ] || is_cluster_file "$state/cluster" ||
        die "$state/cluster does not describe a cluster: it is not ours. Set CORKBOARD_STATE to a path that" \
            "is free. Nothing was touched"
    if [ -n "$denied" ]; then
        owner=$(stat -c %U "$denied")
        die "permission denied: $denied belongs to $owner. Run this as $owner, or set CORKBOARD_STATE" \
            "to a directory of your own for a cluster of your own. Nothing was touched"
    fi
}

# What a cluster has in its state directory: names, as patterns. Nothing else there is touched, and nothing
# else is ever removed: the directory may be a home, by mistake.
own_things='cluster|cluster\.new|creating|make-certs\.log|certs|secrets\.keys(\.new)?|rootfs|log|run|etcd|rep-[0-9]+|git-[0-9]+'
own_things+='|site-[0-9]+|centre|crms(\.new)?|launch-crm|releases'
foreign_things() { ls -A "$state" 2>/dev/null | grep -vxE "$own_things" || true; }
# Dies unless a new cluster may have the state directory: whatever is in it goes with the cluster.
check_empty() {
    local there
    there=$(ls -A "$state" 2>/dev/null | head -n 3 | paste -sd' ') || true
    [ -z "$there" ] ||
        die "$state is not empty ($there): a cluster needs a directory of its own. Set CORKBOARD_STATE to" \
            "one that is empty, or to a path that is free. Nothing was touched"
}
# Dies unless what is left of the state directory is that of one cluster: what runs below a directory
# with other things, or with a cluster beneath, is not its own.
check_state_is_own() {
    local file
    [ -z "$(foreign_things)" ] || check_empty
    while IFS= read -r file; do
        ! is_cluster_file "$file" ||
            die "$state is no cluster's, but ${file%/cluster} is one's: set CORKBOARD_STATE to that." \
                "Nothing was touched"
    done < <(find "$state" -xdev -mindepth 2 -maxdepth 4 -name cluster 2>/dev/null)
}
# Removes what the cluster had there, and the directory if that was all.
remove_state() {
    local name
    [ -e "$state" ] || return 0
    { ls -A "$state" | grep -xE "$own_things" || true; } | while read -r name; do rm -rf "${state:?}/$name"; done
    rmdir "$state" 2>/dev/null ||
        say "$state stays, with what is not the cluster's: $(foreign_things | head -n 3 | paste -sd' ')" >&2
}

# Dies unless a cluster is there with all that its processes need.
check_cluster() {
    [ -e "$state/cluster" ] || die "no local cluster is there (deploy/local/up starts one)"
    check_created
}
# `up` keeps the file `creating` from its beginning until certificates and root filesystems are made.
check_created() {
    [ ! -e "$state/creating" ] ||
        die "the cluster in $state is not whole: deploy/local/up was interrupted, or still makes it." \
            "Run deploy/local/down, then deploy/local/up"
}

# Dies when processes of this cluster belong to somebody else, whom this user cannot end.
check_strays_are_ours() {
    local pid name owner
    [ "$(id -u)" != 0 ] || return 0
    while read -r pid name; do
        owner=$(stat -c %U "/proc/$pid" 2>/dev/null) || continue
        [ "$owner" = "$(id -un)" ] ||
            die "permission denied: $name (process $pid) belongs to $owner. Run this as $owner." \
                "Nothing was touched"
    done < <(strays)
}

url_of() { echo "https://127.0.0.1:$("${1%-*}_port" "${1##*-}")"; } # NAME
# The URLs of all processes of a kind, comma-separated: bbs, auctioneer, converger.
urls() { # KIND
    local i urls=''
    for ((i = 1; i <= $(setting "$1"); i++)); do
        urls+=${urls:+,}$(url_of "$1-$i")
    done
    echo "$urls"
}

# The names of all processes of these kinds, a line each.
names() { # KIND...
    local kind i
    for kind; do
        [ "$kind" != crm ] || { crm_names && continue; }
        for ((i = 1; i <= $(setting "$kind"); i++)); do echo "$kind-$i"; done
    done
}

# The CRMs of a site are in its file `crms`, NUMBER VERSION a line, the last one that was started last.
# Of an upgrade one remains: those that run are told; where none does, the last one is missing.
crm_names() {
    local number version all=() running=()
    [ -e "$state/crms" ] || return 0
    while read -r number version; do
        all+=("crm-$number")
        ! pid_of "crm-$number" >/dev/null || running+=("crm-$number")
    done <"$state/crms"
    [ ${#running[@]} -gt 0 ] || running=(${all[@]+"${all[-1]}"})
    [ ${#running[@]} = 0 ] || printf '%s\n' "${running[@]}"
}
crm_version() { awk -v number="$1" '$1 == number {print $2}' "$state/crms"; } # CRM_NUMBER

# Start time of a process in clock ticks since boot; nothing if there is none, or only a zombie.
start_time() {
    local stat
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
    stat=${stat##*) }
    [[ $stat == Z* ]] || cut -d' ' -f20 <<<"$stat"
}

# The pid of process NAME if it runs, else nothing and status 1.
pid_of() {
    local pid begun
    [ -e "$state/run/$1.pid" ] || return 1
    read -r pid begun <"$state/run/$1.pid" || return 1
    [ -n "$begun" ] && [ "$(start_time "$pid")" = "$begun" ] || return 1
    echo "$pid"
}

# Whether every process that was started still runs; else `ended` names one that does not.
all_run() {
    local file
    for file in "$state"/run/*.pid; do
        ended=$(basename "$file" .pid)
        pid_of "$ended" >/dev/null || return 1
    done
}

# The processes of this cluster by their arguments and working directory: what `down` has left to go
# by when the state directory was deleted under a running cluster.
strays() {
    local dir args
    for dir in /proc/[0-9]*; do
        { mapfile -d '' -t args <"$dir/cmdline"; } 2>/dev/null || continue
        case ${args[0]-} in
        etcd | */bin/bbs | */bin/auctioneer | */bin/converger | */bin/crm | */bin/rep | */bin/rep-shim) ;;
        *) continue ;;
        esac
        if [[ " ${args[*]}" == *[\ =]"$state/"* ]] ||
            [[ $(readlink "$dir/cwd" 2>/dev/null) == "$state/"* ]]; then
            echo "${dir#/proc/} $(basename "${args[0]}")"
        fi
    done
}

# The kernel writes a blank in a path as \040.
mounts() {
    local mount
    while read -r _ mount _; do
        printf -v mount %b "$mount"
        [[ $mount != "$state/"* ]] || printf '%s\n' "$mount"
    done </proc/mounts
}

# The ports on which the processes of a cluster listen, a line each: PORT NAME.
ports() { # BBS AUCTIONEERS CONVERGERS CELLS [CRMS]
    local i
    printf '%s\n' "$etcd_port etcd" "$etcd_peer_port etcd"
    for ((i = 1; i <= $1; i++)); do
        printf '%s\n' "$(bbs_port $i) bbs-$i" "$(bbs_health_port $i) bbs-$i" "$(locket_port $i) bbs-$i"
    done
    for ((i = 1; i <= $2; i++)); do echo "$(auctioneer_port $i) auctioneer-$i"; done
    for ((i = 1; i <= $3; i++)); do echo "$(converger_port $i) converger-$i"; done
    for ((i = 1; i <= $4; i++)); do printf '%s\n' "$(rep_port $i) rep-$i" "$(rep_admin_port $i) rep-$i"; done
    for ((i = 1; i <= ${5:-0}; i++)); do echo "$(crm_port $i) crm-$i"; done
}

# Where somebody listens on 127.0.0.1, or on all addresses, as the kernel tells it: PORT INODE.
listeners() {
    local at port inode
    awk '$4 == "0A" {split($2, at, ":"); print at[1], at[2], $10}' /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        while read -r at port inode; do
            case $at in
            0100007F | 00000000 | 00000000000000000000000000000000 | 0000000000000000FFFF00000100007F)
                echo "$((16#$port)) $inode" ;;
            esac
        done
}

# Whose socket it is: "etcd (process 17)".
holder_of() { # INODE
    local fd
    fd=$(find /proc/[0-9]*/fd -lname "socket:\[$1\]" -print -quit 2>/dev/null) || true
    [ -n "$fd" ] || { echo "a process that this user may not look into" && return; }
    fd=${fd#/proc/}
    echo "$(cat "/proc/${fd%%/*}/comm") (process ${fd%%/*})"
}

# Dies when a port of a cluster that is to be started is taken: its process would end right after its start.
of_site_named=
check_ports() { # as of ports
    local taken port name inode
    taken=$(listeners)
    while read -r port name; do
        inode=$(awk -v port="$port" '$1 == port {print $2; exit}' <<<"$taken")
        [ -z "$inode" ] ||
            die "port $port, which $name${of_site_named:+ of $of_site_named} needs, is taken by $(holder_of "$inode"): end that, or set" \
                "CORKBOARD_PORT_BASE for other ports. Nothing was started"
    done < <(ports "$@")
}

# Closes what the caller has open beside input, output and errors: who lives on would hold a pipe or a
# lock of his.
close_others() {
    local fd
    for fd in "/proc/$BASHPID/fd"/*; do
        fd=${fd##*/}
        [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-" # 255: bash's own, which no program gets
    done
}

# Starts NAME in a session of its own, and in the control group `in_group` if that is said and there; its
# output is appended to its log.
in_group=
start_process() { # NAME COMMAND...
    local name=$1 pid
    shift
    mkdir -p "$state/run" "$state/log"
    (join_group && close_others && exec setsid "$@") >>"$state/log/$name.log" 2>&1 </dev/null &
    pid=$!
    echo "$pid $(start_time $pid)" >"$state/run/$name.pid"
    disown "$pid" 2>/dev/null || true
}

join_group() {
    [ -z "$in_group" ] || [ ! -e "$in_group/cgroup.procs" ] || echo $BASHPID >"$in_group/cgroup.procs"
}

# Ends all of them at once: TERM, after 10 s KILL. Quiet about those that do not run.
stop_processes() { # NAME...
    local name i
    for name; do signal_process "$name" TERM; done
    for name; do
        for ((i = 0; i < 100; i++)); do
            pid_of "$name" >/dev/null || break
            sleep 0.1
        done
        signal_process "$name" KILL
        rm -f "$state/run/$name.pid"
    done
}
signal_process() { # NAME SIGNAL
    local pid
    if pid=$(pid_of "$1"); then
        kill "-$2" "$pid" 2>/dev/null || true
    fi
}

# What is waited for, and how long already: on a terminal one line that counts, elsewhere a line each
# 5 s. `progress_end` takes the line away.
progress() { # SECONDS WHAT
    if [ -t 1 ]; then
        printf '\r\033[Kwaiting for %s ... %d s' "$2" "$1"
    elif (($1 >= ${progress_next:-5})); then
        progress_next=$(($1 + 5))
        printf 'waiting for %s ... %d s\n' "$2" "$1"
    fi
}
progress_end() {
    progress_next=
    [ ! -t 1 ] || printf '\r\033[K'
}

# Waits until COMMAND succeeds, at most SECONDS, showing progress. CORKBOARD_PATIENCE multiplies the
# limit, for machines that are slow.
wait_for() { # SECONDS WHAT COMMAND...
    local limit=$(($1 * ${CORKBOARD_PATIENCE:-1})) what=$2 begun=$EPOCHREALTIME us
    shift 2
    until "$@" >/dev/null 2>&1; do
        us=$((${EPOCHREALTIME/[.,]/} - ${begun/[.,]/}))
        if ((us > limit * 1000000)); then
            progress_end
            return 1
        fi
        progress $((us / 1000000)) "$what"
        sleep 0.05
    done
    progress_end
}

# Runs COMMAND to its end, showing progress; what it prints goes to LOG. Its status is given back. A signal
# ends it first, and then has the effect that it has without it.
run_with_progress() { # LOG WHAT COMMAND...
    local log=$1 what=$2 begun=$SECONDS pid traps caught='' status=0
    shift 2
    traps=$(trap -p INT TERM)
    "$@" >"$log" 2>&1 &
    pid=$!
    # A background process does not hear Ctrl-C by itself.
    trap 'caught=INT; kill $pid 2>/dev/null' INT
    trap 'caught=TERM; kill $pid 2>/dev/null' TERM
    while kill -0 $pid 2>/dev/null; do
        progress $((SECONDS - begun)) "$what"
        sleep 0.1
    done
    progress_end
    wait $pid || status=$?
    trap - INT TERM
    eval "$traps"
    [ -z "$caught" ] || kill -s $caught $BASHPID
    return $status
}

# Exports for clients of the cluster, in the names that Diego's command line reads and in ours.
client_env() {
    local i
    printf 'export %s=%q\n' BBS_URL "$(urls bbs | cut -d, -f1)" CORKBOARD_BBS_URLS "$(urls bbs)" \
        LOCKET_API_LOCATION "127.0.0.1:$(locket_port 1)" CA_CERT_FILE "$certs/ca.crt" \
        CLIENT_CERT_FILE "$certs/client.crt" CLIENT_KEY_FILE "$certs/client.key" \
        AUCTIONEER_URL "$(urls auctioneer)" CONVERGER_URL "$(urls converger)"
    printf 'export PATH=%q:$PATH\n' "$bin"
    [ ! -e "$state/crms" ] || printf 'export CRM_URL=%q\n' "$(url_of "$(crm_names | tail -n 1)")"
    for i in $(sites); do echo "# $(cloudlet_of "$i"): eval \"\$(deploy/local/env --site ${site_names[i - 1]})\""; done
    for ((i = 1; i <= $(setting rep); i++)); do
        echo "# rep-$i: rep state --url https://127.0.0.1:$(rep_port "$i"), rep evacuate --url https://127.0.0.1:$(rep_admin_port "$i")"
    done
}

# Batch limits as measured: transactions with compares collapse after a write burst otherwise.
start_etcd() {
    start_process etcd etcd --name corkboard --data-dir "$state/etcd" \
        --listen-client-urls "https://127.0.0.1:$etcd_port" --advertise-client-urls "https://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$etcd_peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$etcd_peer_port" \
        --initial-cluster "corkboard=http://127.0.0.1:$etcd_peer_port" \
        --client-cert-auth --trusted-ca-file "$certs/ca.crt" --cert-file "$certs/etcd.crt" --key-file "$certs/etcd.key" \
        --backend-batch-limit 500 --backend-batch-interval 10ms --quota-backend-bytes $((8 << 30)) \
        --logger zap --log-level warn
}

etcd_answers() {
    ETCDCTL_API=3 etcdctl --endpoints "https://127.0.0.1:$etcd_port" --command-timeout 2s \
        --cacert "$certs/ca.crt" --cert "$certs/bbs.crt" --key "$certs/bbs.key" endpoint health
}

start_bbs() { # NUMBER
    local i=$1 keys=()
    [ ! -e "$state/secrets.keys" ] || keys=(--keys "$state/secrets.keys") # none: of an older version
    start_process "bbs-$i" "$bin/bbs" serve --name "bbs-$i" \
        --listen "127.0.0.1:$(bbs_port "$i")" --url "https://127.0.0.1:$(bbs_port "$i")" \
        --health "127.0.0.1:$(bbs_health_port "$i")" --locket "127.0.0.1:$(locket_port "$i")" \
        --etcd "https://127.0.0.1:$etcd_port" \
        --etcd-ca "$certs/ca.crt" --etcd-cert "$certs/bbs.crt" --etcd-key "$certs/bbs.key" \
        --ca "$certs/ca.crt" --cert "$certs/bbs.crt" --key "$certs/bbs.key" "${keys[@]}"
}

start_auctioneer() { # NUMBER
    start_candidate auctioneer "$1"
}
start_converger() { # NUMBER
    start_candidate converger "$1" --git-dir "$state/git-$1" --allow-file --system-domain local.test
}
# Of a role of which one leads and the others stand by.
start_candidate() { # ROLE NUMBER OPTION...
    local role=$1 name=$1-$2 port
    port=$("$1_port" "$2")
    start_process "$name" "$bin/$role" serve --name "$name" \
        --listen "127.0.0.1:$port" --url "https://127.0.0.1:$port" --bbs "$(urls bbs)" \
        --ca "$certs/ca.crt" --cert "$certs/$role.crt" --key "$certs/$role.key" "${@:3}"
}

# The CRM of a site: it has the site's certificates, and the centre's CA and its own certificate by that in
# `centre`, as somebody who installs a site has carried them there.
start_crm() { # NUMBER
    local i=$1 port
    port=$(crm_port "$i")
    make_group
    in_group=$(link_group) start_process "crm-$i" "$(crm_program "$(crm_version "$i")")" serve --name "crm-$i" \
        --cloudlet "$(setting cloudlet)" --release "$(crm_version "$i")" \
        --listen "127.0.0.1:$port" --url "https://127.0.0.1:$port" --bbs "$(urls bbs)" \
        --ca "$certs/ca.crt" --cert "$certs/site.crt" --key "$certs/site.key" \
        --centre "$(setting centre)" --centre-ca "$state/centre/ca.crt" \
        --centre-cert "$state/centre/crm.crt" --centre-key "$state/centre/crm.key" --launch "$state/launch-crm"
}
# Of a release that was unpacked in releases/VERSION of the site; else the one that was built, under that name.
crm_program() { # VERSION
    if [ -x "$state/releases/$1/bin/crm" ]; then echo "$state/releases/$1/bin/crm"; else echo "$bin/crm"; fi
}

# ---- The link of a site to its centre ----

# By the control group of its CRMs the packets of a site are known: all else about them is as of any other
# site on this machine. Nothing where control groups of version 2 are not to be had.
groups_root() { awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts; }
link_name() { echo "corkboard-link-$(printf %s "$state" | cksum | cut -d' ' -f1)"; }
link_group() { [ -z "$(groups_root)" ] || echo "$(groups_root)/$(link_name)"; }
link_table() { link_name | tr - _; }
make_group() { [ -z "$(groups_root)" ] || mkdir -p "$(link_group)" 2>/dev/null || true; }
# A site that is cut off has a table of rules, and one that is not has none.
is_cut() { [ "$(id -u)" = 0 ] && command -v nft >/dev/null && nft list table inet "$(link_table)" >/dev/null 2>&1; }
# Takes all of it away; the control group when the last CRM has ended.
remove_link() {
    ! is_cut || nft delete table inet "$(link_table)"
    [ ! -d "$(link_group)" ] || wait_for 5 "the CRM to end" rmdir "$(link_group)" ||
        say "the control group $(link_group) stays: something runs in it" >&2
}

# What a process of a role with one leader says of itself: TERM if it leads, 0 if it stands by;
# nothing if it does not answer.
term_of() { # NAME
    local role=${1%-*} said
    said=$("$bin/$role" state --url "$(url_of "$1")" --timeout 2 \
        --ca-cert-file "$certs/ca.crt" --client-cert-file "$certs/client.crt" \
        --client-key-file "$certs/client.key" --output json 2>/dev/null) || return 0
    if [[ $said =~ \"leads\":true.*\"term\":([0-9]+) ]]; then
        echo "${BASH_REMATCH[1]}"
    else
        echo 0
    fi
}

# The process that leads, as NAME TERM; nothing if none does.
leader_of() { # ROLE
    local name term leads='' highest=0
    for name in $(names "$1"); do
        pid_of "$name" >/dev/null || continue
        term=$(term_of "$name")
        [ "${term:-0}" -le "$highest" ] || leads="$name $term" highest=$term
    done
    [ -z "$leads" ] || echo "$leads"
}

# Starts the process of this name, like bbs-2 or etcd.
start_named() { # NAME
    [ "$1" != etcd ] || { start_etcd && return; }
    "start_${1%-*}" "${1##*-}"
}

# The user ids of a cell's containers: no other cell of this cluster, of its sites or its centre has one of
# them. All cells together have 50,000 ranges from 1,000,000,000 on.
ids() { # CELL_NUMBER
    local each before all
    before=$(setting cells_before) all=$(setting cells_in_all) # none: a cluster that an older version made
    each=$((50000 / ${all:-$(setting rep)}))
    [ $each -le "$(setting containers)" ] || each=$(setting containers)
    before=$((${before:-0} + $1 - 1))
    echo "$((1000000000 + before * each * 65536))-$((1000000000 + (before + 1) * each * 65536 - 1))"
}

# The option that says of which type a cell is; nothing where none are given.
type_option() { # CELL_NUMBER
    local types
    IFS=, read -ra types <<<"$(setting types)"
    [ ${#types[@]} = 0 ] || echo "--optional-placement-tag=type:${types[($1 - 1) % ${#types[@]}]}"
}

# Where containers reach each other's host ports. One that has a network of its own is alone at
# 127.0.0.1; a machine without an address has no other.
cell_address() { # NETWORK
    local address=''
    [ "$1" = host ] || address=$(ip -4 -o addr show scope global 2>/dev/null |
        awk '$2 !~ /^veth/ {sub("/.*", "", $4); print $4; exit}')
    echo "${address:-127.0.0.1}"
}

start_rep() { # CELL_NUMBER
    local i=$1 zones rootfs privileged network registries options type
    zones=$(setting zones) privileged=$(setting privileged) registries=$(setting registries)
    network=$(setting network) # none: a cluster that an older version made
    mapfile -t rootfs < <(setting rootfs)
    mapfile -t options < <(setting rep_option)
    type=$(type_option "$i")
    start_process "rep-$i" "$bin/rep" serve --cell-id "cell-$i" --zone "z$(((i - 1) % zones + 1))" \
        --listen "127.0.0.1:$(rep_port "$i")" --url "https://127.0.0.1:$(rep_port "$i")" \
        --admin-listen "127.0.0.1:$(rep_admin_port "$i")" --on-term leave \
        --bbs "$(urls bbs)" --address "$(cell_address "${network:-host}")" --state-dir "$state/rep-$i" \
        "${rootfs[@]/#/--rootfs=}" ${type:+"$type"} \
        --memory-mb "$(setting memory_mb)" --disk-mb "$(setting disk_mb)" --containers "$(setting containers)" \
        ${registries:+--registries "$registries"} --privileged "${privileged:-deny}" --ids "$(ids "$i")" \
        --driver "$(setting driver)" --network "${network:-host}" --shim "$bin/rep-shim" --ports "$(instance_ports "$i")" \
        --ca "$certs/ca.crt" --cert "$certs/cell-$i.crt" --key "$certs/cell-$i.key" "${options[@]}"
}
