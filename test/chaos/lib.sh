# The cluster of the chaos harness: where its things are, its addresses, and how each process is
# started. Sourced with DIR as the first argument, not run:
#   . test/chaos/lib.sh DIR
# Each process has a network namespace of its own, on one bridge in the namespace `hub`; nothing of it
# is in the machine's own network.

dir=$(realpath -m "$1")
export CORKBOARD_STATE=$dir
unset CORKBOARD_PORT_BASE
. "$(dirname "${BASH_SOURCE[0]}")/../../deploy/local/lib.sh"
own_things='cluster|target\.json|ready|said|died|board|history|log|run|down|killed|fault|netns|certs|rootfs|.*\.(clock|gate)|(etcd|rep)-[0-9]+'
chaos_dir=$top/test/chaos
out=$top/build/release

ETCD_MB=384 CELL_MB=256 # of the tmpfs of an etcd member's data, and of the cell that may be filled
SMALL_CELL=5            # the cell whose state is on such a tmpfs
roles=(etcd bbs auctioneer converger rep)

# ---- Addresses ----

hub_address=10.77.0.1
address_of() { # NAME
    local first
    case $1 in
    etcd-*) first=10 ;; bbs-*) first=20 ;; auctioneer-*) first=30 ;;
    converger-*) first=35 ;; rep-*) first=40 ;;
    *) die "there is no process $1" ;;
    esac
    echo "10.77.0.$((first + ${1##*-}))"
}
port_of() { # NAME
    case $1 in
    etcd-*) echo 2379 ;; bbs-*) echo 8889 ;; auctioneer-*) echo 9016 ;;
    converger-*) echo 9017 ;; rep-*) echo 1800 ;;
    esac
}
url_of() { echo "https://$(address_of "$1"):$(port_of "$1")"; } # NAME
urls() { # ROLE
    local name urls=
    for name in $(names "$1"); do urls+=${urls:+,}$(url_of "$name"); done
    echo "$urls"
}
all_names() { names "${roles[@]}"; }
zone_of() { echo "z$(((${1##*-} - 1) % $(setting zones) + 1))"; } # REP

admin_url_of() { echo "https://$(address_of "$1"):1801"; } # REP

# Where faults of the network are: a table of nftables, the bridge, a process's port on it.
table=chaos bridge=board in_hub=(nsenter --net="$dir/netns/hub")
wire_of() { echo "port$(all_names | grep -nxF -- "$1" | cut -d: -f1)"; } # NAME, as make_network counts

# Runs COMMAND in the network of process NAME, or of `hub`, which is the harness's own.
inside() { # NAME COMMAND...
    local name=$1
    shift
    nsenter --net="$dir/netns/$name" "$@"
}

# ---- Starting ----

# Each process is in its network, and behind what the harness can disturb it by: etcd behind a gate
# for its syncs; the others with a clock that can be shifted; reps in a control group for their memory.
wrapped() { # NAME COMMAND...
    local name=$1 in_network=(nsenter --net="$dir/netns/$1")
    shift
    case $name in
    etcd-*) start_process "$name" "${in_network[@]}" "$bin/chaos-fsync-gate" "$dir/$name.gate" "$@" ;;
    rep-*) start_process "$name" bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' \
        "$(memory_group "$name")" "${in_network[@]}" env "${clock[@]}" "CHAOS_CLOCK=$dir/$name.clock" "$@" ;;
    *) start_process "$name" "${in_network[@]}" env "${clock[@]}" "CHAOS_CLOCK=$dir/$name.clock" "$@" ;;
    esac
}
clock=("LD_PRELOAD=$bin/chaos-clock-shift.so")
memory_groups=/sys/fs/cgroup/memory/chaos-$(cksum <<<"$dir" | cut -d' ' -f1)
memory_group() { echo "$memory_groups/$1"; } # REP
tls() { # CERTIFICATE
    tls=(--ca "$certs/ca.crt" --cert "$certs/$1.crt" --key "$certs/$1.key")
}

etcd_peers() {
    local name peers=
    for name in $(names etcd); do peers+=${peers:+,}$name=http://$(address_of "$name"):2380; done
    echo "$peers"
}
start_etcd_member() { # NAME
    local at url
    at=http://$(address_of "$1"):2380 url=$(url_of "$1")
    wrapped "$1" etcd --name "$1" --data-dir "$dir/$1/data" \
        --listen-client-urls "$url" --advertise-client-urls "$url" \
        --listen-peer-urls "$at" --initial-advertise-peer-urls "$at" \
        --initial-cluster "$(etcd_peers)" --initial-cluster-state new \
        --client-cert-auth --trusted-ca-file "$certs/ca.crt" --cert-file "$certs/etcd.crt" \
        --key-file "$certs/etcd.key" --backend-batch-limit 500 --backend-batch-interval 10ms \
        --quota-backend-bytes $((8 << 30)) --logger zap --log-level warn
}
start_board() { # NAME
    local at tls
    at=$(address_of "$1")
    tls bbs
    wrapped "$1" "$bin/bbs" serve --name "$1" --listen "$at:8889" --url "$(url_of "$1")" \
        --health "$at:8890" --etcd "$(urls etcd)" "${tls[@]}"
}
start_leader_role() { # NAME
    local role=${1%-*} tls
    tls "$role"
    wrapped "$1" "$bin/$role" serve --name "$1" --listen "$(address_of "$1"):$(port_of "$1")" \
        --url "$(url_of "$1")" --bbs "$(urls bbs)" "${tls[@]}"
}
start_cell() { # NAME
    local at i=${1##*-} tls
    at=$(address_of "$1")
    tls "cell-$i"
    wrapped "$1" "$bin/rep" serve --name "$1" --cell-id "cell-$i" --zone "$(zone_of "$1")" \
        --listen "$at:1800" --url "$(url_of "$1")" --admin-listen "$at:1801" --on-term leave \
        --bbs "$(urls bbs)" --address "$at" --state-dir "$dir/$1" \
        --rootfs "busybox=$dir/rootfs/busybox" --memory-mb 2048 --disk-mb 2048 --containers 100 \
        --driver oci --shim "$bin/rep-shim" --ports 61000-61999 "${tls[@]}"
}
start_named() { # NAME
    case $1 in
    etcd-*) start_etcd_member "$1" ;;
    bbs-*) start_board "$1" ;;
    auctioneer-* | converger-*) start_leader_role "$1" ;;
    rep-*) start_cell "$1" ;;
    *) die "there is no process $1" ;;
    esac
}

# ---- Looking ----

client=(--ca-cert-file "$certs/ca.crt" --client-cert-file "$certs/client.crt"
    --client-key-file "$certs/client.key")
bbs_cli() { inside hub "$bin/bbs" "$@" "${client[@]}"; } # COMMAND...: a command of bbs
etcd_cli() { # ENDPOINTS COMMAND...
    local at=$1
    shift
    ETCDCTL_API=3 inside hub etcdctl --endpoints "$at" --command-timeout 3s --cacert "$certs/ca.crt" \
        --cert "$certs/bbs.crt" --key "$certs/bbs.key" "$@"
}
# TERM if it leads, 0 if it stands by; nothing if it does not answer.
term_of() { # NAME
    local said
    said=$(inside hub "$bin/${1%-*}" state --url "$(url_of "$1")" --timeout 2 "${client[@]}" \
        --output json 2>/dev/null) || return 0
    if [[ $said =~ \"leads\":true.*\"term\":([0-9]+) ]]; then echo "${BASH_REMATCH[1]}"; else echo 0; fi
}
# The member that leads etcd, by the words of whoever answers; nothing if none leads.
etcd_leader() {
    local name
    for name in $(names etcd); do
        if etcd_cli "$(url_of "$name")" endpoint status 2>/dev/null | grep -q ', true, false,'; then
            echo "$name"
            return
        fi
    done
}

# Each thing that is not well, a line each; nothing when the cluster is healthy.
ailments() {
    local name role status
    for name in $(all_names); do
        pid_of "$name" >/dev/null || { echo "$name does not run" && continue; }
        [[ $(process_state "$(pid_of "$name")") != T ]] || echo "$name is stopped"
    done
    status=$(etcd_cli "$(urls etcd)" endpoint health 2>&1 | grep -v 'is healthy') &&
        echo "etcd: ${status%%$'\n'*}"
    for name in $(names bbs); do
        status=$(bbs_cli cells --bbs-url "$(url_of "$name")" --timeout 2 --output json 2>&1) ||
            echo "$name: ${status%%$'\n'*}"
        [ "$(grep -o '"state":"PRESENT"' <<<"$status" | wc -l)" = "$(setting rep)" ] ||
            echo "$name does not tell of $(setting rep) cells that are PRESENT"
    done
    for role in auctioneer converger; do
        [ -n "$(leader_of "$role")" ] || echo "no $role leads"
    done
}
process_state() { # PID
    local stat
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
    stat=${stat##*) }
    echo "${stat%% *}"
}
healthy() { [ -z "$(ailments)" ]; }

# ---- Who is down on purpose ----

hold_down() { # NAME...
    local name
    for name; do : >"$dir/down/$name"; done
}
# Starts what does not run and is not held down, as a supervisor would. Tells of each that nobody had
# killed.
revive() {
    local name
    for name in $(all_names); do
        [ ! -e "$dir/down/$name" ] && ! pid_of "$name" >/dev/null || continue
        [ -e "$dir/killed/$name" ] || tell_of_death "$name"
        [ -s "$dir/killed/$name" ] || rm -f "$dir/killed/$name" # may_end lasts as long as its fault
        start_named "$name"
    done
}
tell_of_death() { # NAME
    printf '%s %s ended by itself, last words: %s\n' "$(date +%T)" "$1" \
        "$(tail -n 1 "$dir/log/$1.log" | cut -c1-300)" >>"$dir/died"
}
