# What the benchmarks of a running cluster share: a temporary place and free ports (or those from
# CORKBOARD_PORT_BASE on) for a cluster of their own, and what it is compared with: a bare etcd,
# bundles for bare runc. Sourced, not run; it ends everything on exit and on Ctrl-C.

work=$(mktemp -d)
# A range of ports that nobody listens in, below those that the kernel hands out.
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
free_port_base() {
    local base port
    for _ in {1..20}; do
        base=$((24000 + RANDOM % 300 * 20))
        for port in {0..3} 11 12 21 22 31 32 36 37 101 102 103; do
            ! listens $((base + port)) || continue 2
        done
        echo $base
        return
    done
    echo "$(basename "$0"): no free ports were found" >&2
    return 1
}
CORKBOARD_PORT_BASE=${CORKBOARD_PORT_BASE:-$(free_port_base)}
export CORKBOARD_STATE=$work/state CORKBOARD_PORT_BASE
. "$(dirname "${BASH_SOURCE[0]}")/../../deploy/local/fault.sh"

# Ends a container of bare runc. Not by delete --force: on a busy machine that gives up on its control
# groups before its processes have gone.
end_bare() { # ID
    local root=$work/bundles/runtime
    runc --root="$root" kill "$1" KILL 2>/dev/null || true
    wait_for 20 "$1 to end" runc --root="$root" delete "$1"
}

unmount_bundles() {
    awk -v dir="$work/bundles/" 'index($2, dir) == 1 {print $2}' /proc/mounts | while read -r dir; do
        umount "$dir"
    done
}

finish() { # exit status
    trap - EXIT INT TERM HUP
    set +e
    local id
    [ "$1" = 0 ] || [ "$1" = 130 ] || [ ! -d "$state/log" ] || tail -n 3 "$state"/log/*.log >&2
    for id in "$work"/bundles/runtime/*; do
        [ ! -e "$id" ] || end_bare "${id##*/}"
    done
    unmount_bundles
    [ ! -e "$state/cluster" ] || stop_processes etcd-bare
    "$local_dir/down" --quiet
    [ -e "$state/cluster" ] || rm -rf "$work"
    exit "$1"
}
trap 'finish $?' EXIT
trap 'finish 130' INT
trap 'finish 143' TERM HUP

quietly() { # COMMAND...
    "$@" >"$work/output" 2>&1 || { cat "$work/output" >&2 && return 1; }
}

# Beside the cluster's own: started as deploy/local/up starts that one, with nobody looking at it.
start_bare_etcd() {
    local client="https://127.0.0.1:$((port_base + 2))" peer="http://127.0.0.1:$((port_base + 3))"
    local flags=() word skip=''
    while read -r -d '' word; do
        case $word in
        --listen-client-urls | --advertise-client-urls) flags+=("$word" "$client") skip=1 ;;
        --listen-peer-urls | --initial-advertise-peer-urls) flags+=("$word" "$peer") skip=1 ;;
        --initial-cluster) flags+=("$word" "corkboard=$peer") skip=1 ;;
        --data-dir) flags+=("$word" "$state/etcd-bare") skip=1 ;;
        *) [ -n "$skip" ] && skip='' || flags+=("$word") ;;
        esac
    done <"/proc/$(pid_of etcd)/cmdline"
    start_process etcd-bare "${flags[@]}"
    export BENCH_ETCD=$client BENCH_ETCD_CERT=$certs/bbs.crt BENCH_ETCD_KEY=$certs/bbs.key
}

app() { # NAME INSTANCES
    printf 'name: %s\ninstances: %s\nrootfs: preloaded:busybox\nmemory: 32M\ndisk: 0\ncommand: [sleep, "100000"]\n' \
        "$1" "$2" >"$work/$1.yaml"
    quietly "$bin/bbs" apply "$work/$1.yaml" --wait
}

# Bundles as the driver makes them, from the configuration of a container that it prepared.
make_bundles() { # COUNT
    local i dir config guid
    app model 1
    guid=$("$bin/bbs" ps model --output json | sed 's/.*"instance_guid":"\([^"]*\)".*/\1/')
    config=$(ls -d "$state"/rep-*/containers/"$guid"/config.json)
    for ((i = 0; i < $1; i++)); do
        dir=$work/bundles/bare-$i
        mkdir -p "$dir"/{rootfs,upper,work}
        sed "s|\"cgroupsPath\":\"[^\"]*\"|\"cgroupsPath\":\"/corkboard-bench-$$-$i\"|" "$config" >"$dir/config.json"
        mount -t overlay overlay -o "lowerdir=$state/rootfs/busybox,upperdir=$dir/upper,workdir=$dir/work" "$dir/rootfs"
    done
    quietly "$bin/bbs" rm model --wait
}
