# The cluster of deploy/compose, as the faults of test/chaos/faults look at it: what lib.sh says of the
# harness's own cluster is said here of containers of Docker. Sourced with DIR as the first argument,
# not run:
#   . test/chaos/compose.sh DIR
# DIR keeps what a run must remember: fault/, down/, killed/, restarts/, certs/.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
. "$top/deploy/compose/lib.sh"
for file in "$chaos_dir"/faults/{processes,network,board,machine}.sh; do . "$file"; done
. "$chaos_dir/verbs.sh"
certs=$dir/certs
client=(--ca-cert-file "$certs/ca.crt" --client-cert-file "$certs/client.crt"
    --client-key-file "$certs/client.key")

# ---- Addresses: those of deploy/compose/docker-compose.yml ----

address_of() { # NAME
    local n=${1##*-}
    case $1 in
    etcd-*) echo "$net.1$n" ;;
    bbs-*) echo "$net.2$n" ;;
    auctioneer-*) echo "$net.3$n" ;;
    converger-*) echo "$net.4$n" ;;
    rep-*) echo "$net.5$n" ;;
    *) die "there is no process $1" ;;
    esac
}
# Not by the ports on loopback: there Docker's own proxy takes the call of a bbs that is gone.
url_of() { # NAME
    case $1 in
    rep-*) echo "https://$(address_of "$1"):1801" ;;
    *) echo "https://$(address_of "$1"):$(port_of "$1")" ;;
    esac
}
admin_url_of() { echo "https://$(address_of "$1"):1802"; } # REP
zone_of() { [ "$1" = rep-2 ] && echo z2 || echo z1; }     # REP

# ---- Containers ----

container_of() { echo "$project-$1"; } # NAME
all_containers() { all_names | sed "s/^/$project-/"; }
# What Docker says of each: NAME STATUS PID RESTARTS, a line each.
containers_say() {
    # shellcheck disable=SC2046 # names are words
    docker inspect -f '{{.Name}} {{.State.Status}} {{.State.Pid}} {{.RestartCount}}' $(all_containers) |
        sed "s,^/$project-,,"
}
# The first process of the container, by its number on this machine.
pid_of() { # NAME
    local pid
    pid=$(docker inspect -f '{{.State.Pid}}' "$(container_of "$1")" 2>/dev/null) || return 1
    [ "$pid" -gt 0 ] && echo "$pid"
}
# A process and all below it, which are all there are in its container.
and_below() { # PID
    ps -e -o pid=,ppid= | awk -v first="$1" '
        {children[$2] = children[$2] " " $1}
        function tell(pid, i, n, list) {
            print pid
            n = split(children[pid], list, " ")
            for (i = 1; i <= n; i++) tell(list[i])
        }
        END {tell(first)}'
}
rep_of() { # PID: of its container's init
    local pid
    for pid in $(and_below "$1"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != rep ] || { echo "$pid" && return; }
    done
    return 1
}
# The containers of instances that run in a rep's container: GUID, and pid and start time there.
instances_on() { # REP
    local root file pid begun rest
    root=/proc/$(pid_of "$1")/root || return 0
    for file in "$root"/var/lib/corkboard/cell/containers/*/pid; do
        [ -e "$file" ] && read -r pid begun rest <"$file" || continue
        [ "$(sed 's/.*) //' "$root/proc/$pid/stat" 2>/dev/null | cut -d' ' -f20)" != "$begun" ] ||
            say "$(basename "$(dirname "$file")") $pid $begun"
    done
}

# ---- The network: Docker's bridge, which is this machine's ----

table=chaos-$project in_hub=(env)
bridge_of() { echo "br-$(docker network inspect -f '{{slice .Id 0 12}}' "$project" 2>/dev/null)"; }
bridge=$(bridge_of) || true
inside() { # NAME COMMAND...
    local name=$1 pid
    shift
    [ "$name" != hub ] || { "$@" && return || return; }
    pid=$(pid_of "$name") || return 1
    nsenter --net="/proc/$pid/ns/net" "$@"
}
# The other end of the container's eth0.
wire_of() { # NAME
    local index
    index=$(inside "$1" ip -o link show eth0 | sed -n 's/.*eth0@if\([0-9]*\):.*/\1/p')
    ip -o link | sed -n "s/^$index: \([^@:]*\).*/\1/p"
}
make_table() {
    nft add table bridge "$table"
    nft add chain bridge "$table" forward '{ type filter hook forward priority 0; }'
}
remove_table() {
    ! nft list table bridge "$table" >/dev/null 2>&1 || nft delete table bridge "$table"
}

# ---- Looking ----

ailments() {
    local name status pid restarts role
    containers_say | while read -r name status pid restarts; do
        [ "$status" = running ] || echo "$name is $status"
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

# ---- Killed, started, paused ----

# Docker kills them side by side, and does not start again what it was told to kill. Of each process
# that was there the number and the start are noted; of one that ends meanwhile there is no start.
kill_noted() { # NAME...
    local name pid begun
    for name; do
        pid=$(pid_of "$name") || continue
        for pid in $(and_below "$pid"); do
            begun=$(start_time "$pid")
            [ -z "$begun" ] || echo "$name $pid $begun" >>"$note/killed"
        done
        : >"$dir/killed/$name"
    done
    hold_down "$@"
    # shellcheck disable=SC2046 # names are words
    docker kill $(printf "$project-%s " "$@") >"$note/said" 2>&1 || { cat "$note/said" && return 1; }
}
# None of all processes is there any more. A container has many; said is how many.
probe_killed() {
    local name pid begun gone
    [ -s "$note/killed" ] || { say "nobody was killed" && return 1; }
    while read -r name pid begun; do
        [ "$(start_time "$pid")" != "$begun" ] || { say "$name, process $pid, lives" && return 1; }
    done <"$note/killed"
    gone=$(cut -d' ' -f1 "$note/killed" | uniq -c | awk '{print $2 " (" $1 " processes)"}' | paste -sd,)
    say "gone: ${gone//,/, }"
}
# A rep's container is its cell: all that runs there ends with it.
make_kill_cell() { kill_noted "$@"; }

start_named() { docker start "$(container_of "$1")" >/dev/null; } # NAME
# Starts what ended and is not held down. Docker has started again what ended by itself with a failure, and
# counts that.
revive() {
    local name status pid restarts noted starting=()
    while read -r name status pid restarts; do
        noted=$(cat "$dir/restarts/$name" 2>/dev/null || echo 0)
        [ -e "$dir/killed/$name" ] || [ "$restarts" -le "$noted" ] || tell_of_death "$name"
        echo "$restarts" >"$dir/restarts/$name"
        [[ $status = exited || $status = created || $status = dead ]] && [ ! -e "$dir/down/$name" ] || continue
        [ -e "$dir/killed/$name" ] || tell_of_death "$name"
        rm -f "$dir/killed/$name"
        start_named "$name" &
        starting+=($!)
    done < <(containers_say)
    for pid in "${starting[@]}"; do wait "$pid" || return 1; done
}
tell_of_death() { # NAME
    printf '%s %s ended by itself, last words: %s\n' "$(date +%T)" "$1" \
        "$(docker logs --tail 1 "$(container_of "$1")" 2>&1 | cut -c1-300)" >>"$dir/died"
}

# Of a cell the rep alone is stopped, for pausing its container would stop its instances, too. What the
# probe looks at is noted: Docker's answers about a container that was just paused can take 10 s.
make_pause() { # NAME
    local pid
    pid=$(pid_of "$1") || return 1
    case $1 in
    rep-*)
        pid=$(rep_of "$pid") || return 1
        echo "$pid $(start_time "$pid")" >"$note/pid"
        kill -STOP "$pid"
        ;;
    *)
        echo "$pid $(start_time "$pid")" >"$note/pid"
        docker pause "$(container_of "$1")" >/dev/null
        ;;
    esac
}
# The state of the control group that Docker stops, of version 1 or 2.
freezer_of() { # PID
    local path
    path=$(sed -n 's/^[0-9]*:freezer://p' "/proc/$1/cgroup" 2>/dev/null) || return 0
    if [ -n "$path" ]; then
        cat "/sys/fs/cgroup/freezer$path/freezer.state"
    else
        path=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
        grep -qx 'frozen 1' "/sys/fs/cgroup$path/cgroup.events" && echo FROZEN || echo THAWED
    fi
}
probe_pause() { # NAME
    local pid begun
    read -r pid begun <"$note/pid" || return 1
    [ "$(start_time "$pid")" = "$begun" ] || { say "process $pid of $1 has ended" && return 1; }
    case $1 in
    rep-*) [ "$(process_state "$pid")" = T ] && say "$1 (process $pid) is stopped" ;;
    *) [ "$(freezer_of "$pid")" = FROZEN ] && say "the container of $1 (process $pid) is frozen" ;;
    esac
}
heal_pause() { # NAME
    local pid begun
    read -r pid begun <"$note/pid" || return 0
    [ "$(start_time "$pid")" = "$begun" ] || return 0
    case $1 in
    rep-*) kill -CONT "$pid" ;;
    *) [ "$(freezer_of "$pid")" = THAWED ] || docker unpause "$(container_of "$1")" >/dev/null ;;
    esac
}

# ---- A cell is emptied ----

probe_evacuate() { # REP
    [ "$(docker inspect -f '{{.State.Status}} {{.State.ExitCode}}' "$(container_of "$1")")" = "exited 0" ] &&
        say "$1 has ended in order, and its container with it"
}
