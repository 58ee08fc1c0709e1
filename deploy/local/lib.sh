# Shared by the scripts of deploy/local: where things are, and processes by pid and start time, so
# that a number used again by somebody else is never signalled. Sourced, not run.

set -euo pipefail
local_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$local_dir/../.." && pwd)
state=${CORKBOARD_STATE:-$local_dir/state}
[[ $state = /* ]] || state=$PWD/$state
bin=$top/build/release/bin
certs=$state/certs
port_base=${CORKBOARD_PORT_BASE:-18800}

say() { printf '%s\n' "$*"; }
die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

[[ $port_base =~ ^[1-9][0-9]{3,4}$ ]] ||
    die "CORKBOARD_PORT_BASE must be the first of the ports to use, like 18800, not '$port_base'"
etcd_port=$port_base etcd_peer_port=$((port_base + 1))
auctioneer_port=$((port_base + 30)) converger_port=$((port_base + 31))
bbs_port() { echo $((port_base + 10 + $1)); }
bbs_health_port() { echo $((port_base + 20 + $1)); }
rep_port() { echo $((port_base + 100 + $1)); }
instance_ports() { echo $((port_base + 1200 + 200 * $1))-$((port_base + 1399 + 200 * $1)); }

setting() { sed -n "s/^$1=//p" "$state/cluster" 2>/dev/null; }

bbs_urls() {
    local i urls=
    for ((i = 1; i <= $(setting bbs); i++)); do
        urls+=${urls:+,}https://127.0.0.1:$(bbs_port "$i")
    done
    echo "$urls"
}

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
        etcd | */bin/bbs | */bin/auctioneer | */bin/converger | */bin/rep | */bin/rep-shim) ;;
        *) continue ;;
        esac
        if [[ " ${args[*]}" == *[\ =]"$state/"* ]] ||
            [[ $(readlink "$dir/cwd" 2>/dev/null) == "$state/"* ]]; then
            echo "${dir#/proc/} $(basename "${args[0]}")"
        fi
    done
}

mounts() { awk -v dir="$state/" 'index($2, dir) == 1 {print $2}' /proc/mounts; }

# Starts NAME in a session of its own, its output appended to its log.
start_process() { # NAME COMMAND...
    local name=$1 pid
    shift
    mkdir -p "$state/run" "$state/log"
    setsid "$@" >>"$state/log/$name.log" 2>&1 </dev/null &
    pid=$!
    echo "$pid $(start_time $pid)" >"$state/run/$name.pid"
    disown "$pid" 2>/dev/null || true
}

# Ends NAME: TERM, after 10 s KILL. Quiet when it does not run.
stop_process() { # NAME [SIGNAL]
    local name=$1 pid i
    if pid=$(pid_of "$name"); then
        kill "-${2:-TERM}" "$pid" 2>/dev/null || true
        for ((i = 0; i < 100; i++)); do
            pid_of "$name" >/dev/null || break
            sleep 0.1
        done
        if pid=$(pid_of "$name"); then
            kill -KILL "$pid" 2>/dev/null || true
        fi
    fi
    rm -f "$state/run/$name.pid"
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

# Waits until COMMAND succeeds, at most SECONDS, showing progress.
wait_for() { # SECONDS WHAT COMMAND...
    local limit=$1 what=$2 begun=$EPOCHREALTIME us
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

# Runs COMMAND to its end, showing progress; what it prints goes to LOG. Its status is given back.
run_with_progress() { # LOG WHAT COMMAND...
    local log=$1 what=$2 begun=$SECONDS pid
    shift 2
    "$@" >"$log" 2>&1 &
    pid=$!
    # A background process does not hear Ctrl-C by itself.
    trap 'kill $pid 2>/dev/null; progress_end; exit 130' INT TERM
    while kill -0 $pid 2>/dev/null; do
        progress $((SECONDS - begun)) "$what"
        sleep 0.2
    done
    progress_end
    trap - INT TERM
    wait $pid
}

# Exports for clients of the cluster, in the names that Diego's command line reads and in ours.
client_env() {
    cat <<EOF
export BBS_URL=$(bbs_urls | cut -d, -f1)
export CORKBOARD_BBS_URLS=$(bbs_urls)
export CA_CERT_FILE=$certs/ca.crt
export CLIENT_CERT_FILE=$certs/client.crt
export CLIENT_KEY_FILE=$certs/client.key
export CONVERGER_URL=https://127.0.0.1:$converger_port
export PATH=$bin:\$PATH
EOF
}

start_bbs() { # NUMBER
    local i=$1
    start_process "bbs-$i" "$bin/bbs" serve --name "bbs-$i" \
        --listen "127.0.0.1:$(bbs_port "$i")" --url "https://127.0.0.1:$(bbs_port "$i")" \
        --health "127.0.0.1:$(bbs_health_port "$i")" --etcd "https://127.0.0.1:$etcd_port" \
        --etcd-ca "$certs/ca.crt" --etcd-cert "$certs/bbs.crt" --etcd-key "$certs/bbs.key" \
        --ca "$certs/ca.crt" --cert "$certs/bbs.crt" --key "$certs/bbs.key"
}

start_auctioneer() {
    start_process auctioneer "$bin/auctioneer" serve --name auctioneer \
        --listen "127.0.0.1:$auctioneer_port" --url "https://127.0.0.1:$auctioneer_port" \
        --bbs "$(bbs_urls)" --ca "$certs/ca.crt" --cert "$certs/auctioneer.crt" \
        --key "$certs/auctioneer.key"
}

start_converger() {
    start_process converger "$bin/converger" serve --name converger \
        --listen "127.0.0.1:$converger_port" --url "https://127.0.0.1:$converger_port" \
        --bbs "$(bbs_urls)" --ca "$certs/ca.crt" --cert "$certs/converger.crt" \
        --key "$certs/converger.key"
}

start_rep() { # CELL_NUMBER
    local i=$1 zones
    zones=$(setting zones)
    start_process "rep-$i" "$bin/rep" serve --cell-id "cell-$i" --zone "z$(((i - 1) % zones + 1))" \
        --listen "127.0.0.1:$(rep_port "$i")" --url "https://127.0.0.1:$(rep_port "$i")" \
        --bbs "$(bbs_urls)" --address 127.0.0.1 --state-dir "$state/rep-$i" \
        --rootfs "busybox=$state/rootfs/busybox" --memory-mb 4096 --disk-mb 8192 --containers 100 \
        --driver "$(setting driver)" --shim "$bin/rep-shim" --ports "$(instance_ports "$i")" \
        --ca "$certs/ca.crt" --cert "$certs/cell-$i.crt" --key "$certs/cell-$i.key"
}
