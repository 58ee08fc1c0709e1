# The beginning of the compose test: a Docker of its own in a network of its own, and an end that leaves
# nothing of it. Sourced, not run, as the first thing. Sets top, work, and what deploy/compose reads.
# What is made anew with the network at hand (Debian for the image) is made before that network is left.

set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Debian's docker, which fits Debian's dockerd, before any other.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin:$PATH

# One test, by whose name test/skips lists it.
skip() { # WHY
    echo "$1"
    echo "[  SKIPPED ] docker_is_not_permitted"
    exit 0
}
if [ ! "${OWN_NETWORK-}" ]; then
    [ "$(id -u)" = 0 ] || skip "only root may start dockerd"
    said=$(unshare --net --mount -- ip link add name permitted type bridge 2>&1) ||
        skip "no bridge in a network namespace of its own: $said"
    "$top/deploy/install-packages" --compose || exit 1
    "$top/deploy/compose/build-image" --base || exit 1
    exec "$top/test/tool/own-network" "$0" "$@"
fi

work=$(mktemp -d)
group=/corkboard-compose-test-$$ # all containers' control groups are below it
dockerd_pid='' lost_pid='' registry_pid=''
export DOCKER_HOST=unix://$work/sock DOCKER_CONFIG=$work/config CORKBOARD_COMPOSE_STATE=$work/state
export CORKBOARD_COMPOSE_REGISTRIES=$work/registries.conf
: >"$CORKBOARD_COMPOSE_REGISTRIES"
unset DOCKER_CONTEXT DOCKER_TLS_VERIFY COMPOSE_FILE COMPOSE_PROJECT_NAME CORKBOARD_IMAGE \
    CORKBOARD_COMPOSE_NET CORKBOARD_COMPOSE_PORTS
# Nothing here waits less than this many times as long as a user would.
export CORKBOARD_PATIENCE=5
LONG=300
trap 'end_script $?' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

group_procs() { find /sys/fs/cgroup -path "*$group/*" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u; }
groups_left() { find /sys/fs/cgroup -depth -type d -path "*$group*" 2>/dev/null; }
mounts_left() { awk -v work="$work/" 'index($2, work) == 1 {print $2}' /proc/self/mounts | sort -r; }
loops_left() { grep -lsF "$work/" /sys/block/loop*/loop/backing_file; }
# By their arguments: dockerd and what it starts itself are told where to work.
processes_left() {
    local dir
    for dir in /proc/[0-9]*; do
        [ "${dir#/proc/}" != $$ ] && grep -qsaF -- "$work/" "$dir/cmdline" && echo "${dir#/proc/}"
    done
}
left() {
    groups_left
    mounts_left
    loops_left
    processes_left
}
nothing_is_left() { [ -z "$(left)" ]; }
no_process_left() { [ -z "$(group_procs)$(processes_left)" ]; }

stop_dockerd() {
    [ -n "$dockerd_pid" ] || return 0
    kill -TERM "$dockerd_pid" 2>/dev/null
    wait "$dockerd_pid" 2>/dev/null
    dockerd_pid=
}
# Whatever the reason of the end: the cluster as its users end it, then by force what is left.
end_script() { # STATUS
    local status=$1 pid
    trap '' EXIT INT TERM
    set +e
    [ -z "$lost_pid" ] || kill "$lost_pid" 2>/dev/null
    [ -z "$registry_pid" ] || kill "$registry_pid" 2>/dev/null
    [ "$status" = 0 ] || [ "$status" = 130 ] || last_words
    if [ -n "$dockerd_pid" ]; then
        timeout 120 "$top/deploy/compose/down" --delete --quiet
        stop_dockerd
    fi
    for pid in $(group_procs) $(processes_left); do kill -KILL "$pid" 2>/dev/null; done
    wait_for 10 "processes to end" no_process_left
    mounts_left | while read -r dir; do umount -l "$dir"; done
    groups_left | while read -r dir; do rmdir "$dir" 2>/dev/null; done
    rm -rf "$work"
    wait_for 10 "loop devices to go" nothing_is_left ||
        { echo "left: $(left)" && [ "$status" != 0 ] || status=1; }
    exit "$status"
}
last_words() {
    local name
    [ ! -s "$work/dockerd.log" ] || { echo "---- dockerd:" && tail -n 5 "$work/dockerd.log" | cut -c1-300; }
    docker ps -a --format '{{.Names}} {{.Status}}' 2>/dev/null
    for name in $(docker ps -a --format '{{.Names}}' 2>/dev/null); do
        echo "---- $name:"
        docker logs --tail 3 "$name" 2>&1 | cut -c1-300
    done
}

# overlay2 where it works, else vfs, which is slow and works everywhere.
start_dockerd() {
    local driver
    echo '{}' >"$work/daemon.json"
    for driver in overlay2 vfs; do
        dockerd --config-file "$work/daemon.json" --storage-driver $driver --data-root "$work/docker" \
            --exec-root "$work/exec" --pidfile "$work/dockerd.pid" --host "$DOCKER_HOST" \
            --cgroup-parent "$group" --containerd-namespace "corkboard-$$" \
            --containerd-plugins-namespace "corkboard-plugins-$$" >>"$work/dockerd.log" 2>&1 </dev/null &
        dockerd_pid=$!
        ended_or_answers() { ! kill -0 $dockerd_pid || docker version; }
        if wait_for 30 "dockerd" ended_or_answers && docker version >/dev/null 2>&1; then
            echo "dockerd $(docker version --format '{{.Server.Version}}') with $driver"
            return 0
        fi
        stop_dockerd
    done
    echo "---- the last of dockerd's log:"
    tail -n 5 "$work/dockerd.log"
    return 1
}
