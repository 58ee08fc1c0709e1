# Faults of the local cluster and how long their repair takes: for the demo, the tests and the
# benchmark. Each function makes one fault, waits until it is repaired, and sets `took_ms`; status 1
# when it is not repaired within REPAIR_S. They look at the app `web`. Sourced, not run.

. "$(dirname "${BASH_SOURCE[0]}")/look.sh"

# How long to wait, much longer than any bound.
REPAIR_S=60
# Bounds, in milliseconds: design.md 6; of a request, after how long a client asks the next bbs.
BOUND_CONTAINER_MS=2000 BOUND_CELL_MS=12000 BOUND_LEADER_MS=8000 BOUND_REQUEST_MS=5000
# Of an emptied cell: that of a stop and removal, which takes the longest in it.
BOUND_EMPTY_MS=15000
# Of a unit whose hooks take no time: that is destroyed, until it is removed; and that hears what another one
# has set (docs/units.md, How long it takes).
BOUND_UNIT_MS=5000

took_ms=0
us_now() { echo "${EPOCHREALTIME/[.,]/}"; }
# Waits for the repair of a fault that was made at BEGUN (of us_now).
repaired() { # BEGUN WHAT COMMAND...
    local begun=$1
    shift
    wait_for $REPAIR_S "$@" || return 1
    took_ms=$((($(us_now) - begun) / 1000))
}

# The instance's first process is killed; as many as before are RUNNING again, it not among them.
# Twice: a third crash has a back-off (README).
kill_container() { # INDEX
    local now guid begun
    now=$(instances)
    guid=$(awk -v index_="$1" '$1 == index_ {print $4}' <<<"$now")
    begun=$(us_now)
    kill -KILL "$(processes | awk -v guid="$guid" '$1 == guid {print $2}')" || return 1
    repaired "$begun" "instance $1 to run again" running "$(wc -l <<<"$now")" "$guid"
}

# As when the machine is lost: the rep, its containers and their shims are killed together. As many
# as before are RUNNING on other cells.
kill_cell() { # NUMBER
    local count pids begun
    count=$(instances | wc -l)
    pids="$(pid_of "rep-$1") $(cat "$state/rep-$1"/containers/*/{shim.pid,pid} 2>/dev/null |
        while read -r pid ticks _; do
            [ "$(start_time "$pid")" != "$ticks" ] || echo "$pid"
        done | tr '\n' ' ')"
    begun=$(us_now)
    # shellcheck disable=SC2086 # several pids are several words
    kill -KILL $pids || return 1
    repaired "$begun" "the instances of cell-$1 to run elsewhere" run_beside "cell-$1" "$count"
}
run_beside() { # CELL COUNT
    [ "$(instances | awk -v cell="$1" '$2 == "RUNNING" && $3 != cell' | wc -l)" = "$2" ]
}

# A bbs is killed, the one that clients ask first; COMMAND is a request that another one answers.
kill_bbs() { # NUMBER COMMAND...
    local begun
    begun=$(us_now)
    kill -KILL "$(pid_of "bbs-$1")" || return 1
    shift
    "$@" || return 1
    took_ms=$((($(us_now) - begun) / 1000))
}

# The leader of a role is killed (`killed`, its name), COMMAND is run meanwhile, and another one leads
# (`leads`).
kill_leader() { # ROLE [COMMAND...]
    local role=$1 begun
    shift
    read -r killed _ < <(leader_of "$role")
    begun=$(us_now)
    kill -KILL "$(pid_of "$killed")" || return 1
    [ $# = 0 ] || "$@" || return 1
    repaired "$begun" "the standby to lead" another_leads "$role" "$killed"
}
another_leads() { # ROLE NAME
    read -r leads _ < <(leader_of "$1")
    [ -n "$leads" ] && [ "$leads" != "$2" ]
}

# A cell is emptied: as many as before run on other cells, the cell has left the board, its rep ends.
empty_cell() { # NUMBER
    local count begun
    count=$(instances | wc -l)
    begun=$(us_now)
    "$bin/rep" evacuate --url "https://127.0.0.1:$(rep_admin_port "$1")" --timeout ${REPAIR_S}s || return 1
    repaired "$begun" "the instances of cell-$1 to run elsewhere" run_beside "cell-$1" "$count"
}

# Starts a process that was killed, and waits until it answers.
start_again() { # NAME
    start_named "$1"
    wait_for 30 "$1" answers_again "$1"
}
# Nobody waits for a process that has ended.
wait_until_it_answers() { # NAME
    ended_or_answers() { ! pid_of "$1" || answers_again "$1"; }
    wait_for 30 "$1" ended_or_answers "$1" || die "$1 does not answer; its log: $state/log/$1.log"
    pid_of "$1" >/dev/null || {
        tail -n 3 "$state/log/$1.log" >&2
        die "$1 ended right after its start; its log: $state/log/$1.log"
    }
}
answers_again() { # NAME
    case $1 in
    etcd) etcd_answers ;;
    bbs-*) "$bin/bbs" cells --bbs-url "https://127.0.0.1:$(bbs_port "${1#bbs-}")" --timeout 2 ;;
    rep-*) "$bin/rep" state --url "https://127.0.0.1:$(rep_port "${1#rep-}")" --timeout 2 >/dev/null &&
        "$bin/bbs" cells --timeout 2 --output json | grep '"cell_id":"cell-'"${1#rep-}"'".*"state":"PRESENT"' >/dev/null ;;
    *) [ -n "$(term_of "$1")" ] ;;
    esac
}
