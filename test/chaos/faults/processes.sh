# Faults of processes: killed, stopped. Sourced by test/chaos/fault.

# Kills these at once and keeps them down. Notes whom, by process id and start time.
kill_noted() { # NAME...
    local name pid pids=()
    for name; do
        pid=$(pid_of "$name") || continue
        pids+=("$pid")
        echo "$name $pid $(start_time "$pid")" >>"$note/killed"
        : >"$dir/killed/$name"
    done
    hold_down "$@"
    [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}"
}
# None of them is there any more.
probe_killed() {
    local name pid begun gone=
    [ -s "$note/killed" ] || { say "nobody was killed" && return 1; }
    while read -r name pid begun; do
        [ "$(start_time "$pid")" != "$begun" ] || { say "$name, process $pid, lives" && return 1; }
        gone+=${gone:+, }"$name (process $pid)"
    done <"$note/killed"
    say "gone: $gone"
}
start_killed() {
    local name rest
    while read -r name rest; do rm -f "$dir/down/$name"; done < <(cat "$note/killed" 2>/dev/null)
    revive
}

make_kill() { kill_noted "$@"; }
probe_kill() { probe_killed; }
heal_kill() { start_killed; }

make_kill_leader() { kill_noted "$@"; }
probe_kill_leader() { probe_killed; }
heal_kill_leader() { start_killed; }

make_kill_etcd_leader() { kill_noted "$@"; }
probe_kill_etcd_leader() { probe_killed; }
heal_kill_etcd_leader() { start_killed; }

# In one call of kill, so that nobody sees a part of it.
make_kill_all() {
    # shellcheck disable=SC2046 # names are words
    kill_noted $(all_names)
}
probe_kill_all() { probe_killed; }
heal_kill_all() { start_killed; }

# As when the machine is lost: nothing on it is left.
make_kill_cell() { # REP
    local pid begun rest name=$1
    while read -r pid begun rest; do
        [ "$(start_time "$pid")" = "$begun" ] || continue
        echo "$name $pid $begun" >>"$note/killed"
        kill -KILL "$pid" 2>/dev/null || true
    done < <(pid_of "$name" >/dev/null && echo "$(pid_of "$name") $(start_time "$(pid_of "$name")")"
        cat "$dir/$name"/containers/*/{shim.pid,pid} 2>/dev/null)
    : >"$dir/killed/$name"
    hold_down "$name"
}
probe_kill_cell() { probe_killed; }
heal_kill_cell() { start_killed; }

make_pause() { # NAME
    pid_of "$1" >"$note/pid" && kill -STOP "$(<"$note/pid")"
}
probe_pause() { # NAME
    local pid
    pid=$(<"$note/pid")
    [ "$(process_state "$pid")" = T ] && say "$1 (process $pid) is stopped"
}
heal_pause() { # NAME
    kill -CONT "$(<"$note/pid")" 2>/dev/null || true
}
