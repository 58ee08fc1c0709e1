# Faults of what a process stands on: clock, disk, memory. Sourced by test/chaos/fault.

# ---- Words of 8 bytes in the files that chaos-clock-shift.so and chaos-fsync-gate map ----

put_word() { # FILE NUMBER_OF_WORD VALUE
    local value=$3 i bytes=
    for ((i = 0; i < 8; i++)); do
        printf -v bytes '%s\\x%02x' "$bytes" $((value >> 8 * i & 255))
    done
    printf "$bytes" | dd of="$1" bs=8 seek="$2" conv=notrunc status=none
}
get_word() { # FILE NUMBER_OF_WORD
    od -An -td8 -j $((8 * $2)) -N 8 "$1" | tr -d ' '
}

# ---- Clock ----

make_clock() { # NAME SECONDS
    put_word "$dir/$1.clock" 1 0
    put_word "$dir/$1.clock" 0 $(($2 * 1000000000))
}
probe_clock() { # NAME SECONDS
    local readings
    readings=$(get_word "$dir/$1.clock" 1)
    [ "$(get_word "$dir/$1.clock" 0)" = $(($2 * 1000000000)) ] && [ "$readings" -gt 0 ] && say "$1 read its clock $readings times, shifted by $2 s"
}
heal_clock() { put_word "$dir/$1.clock" 0 0; } # NAME

# ---- Disk ----

# Fills to the last byte and goes on, for what the process frees, or for at most two minutes.
fill_disk() { # DIRECTORY
    setsid bash -c 'end=$((SECONDS + 120))
        while [ -e "$1/words" ] && [ $SECONDS -lt $end ]; do
            cat /dev/zero >>"$0/chaos-fill" 2>/dev/null
            sleep 0.02
        done' "$1" "$note" >/dev/null 2>&1 </dev/null &
    echo "$! $(start_time $!)" >"$note/filler"
}
probe_full() { # DIRECTORY
    local size
    size=$(stat -c %s "$1/chaos-fill" 2>/dev/null) || return 1
    # A probe that could be written must give its page back, or the next one finds it.
    if [ "$size" = 0 ] || { echo x >"$1/chaos-probe"; } 2>/dev/null; then
        rm -f "$1/chaos-probe"
        return 1
    fi
    say "no byte can be written in $1, beside $size bytes of the harness"
}
empty_disk() { # DIRECTORY
    local pid begun
    read -r pid begun <"$note/filler" || return 0
    [ "$(start_time "$pid")" != "$begun" ] || kill -KILL "$pid"
    rm -f "$1/chaos-fill" "$1/chaos-probe"
}
# It may end by such a fault, and is started again.
may_end() { echo while >"$dir/killed/$1"; } # NAME: as often as its fault makes it
must_not_end() {                      # NAME
    revive
    rm -f "$dir/killed/$1"
}

make_disk_etcd() { # MEMBER
    may_end "$1"
    fill_disk "$dir/$1"
}
probe_disk_etcd() { probe_full "$dir/$1"; }
heal_disk_etcd() {
    empty_disk "$dir/$1"
    must_not_end "$1"
}
make_disk_cell() { fill_disk "$dir/$1"; } # REP
probe_disk_cell() { probe_full "$dir/$1"; }
heal_disk_cell() { empty_disk "$dir/$1"; }

# ---- Syncs of etcd ----

make_fsync() { # MEMBER MILLISECONDS ERRNO
    put_word "$dir/$1.gate" 2 0
    put_word "$dir/$1.gate" 0 "$2"
    put_word "$dir/$1.gate" 1 "$3"
}
probe_fsync() { # MEMBER WHAT
    local count
    count=$(get_word "$dir/$1.gate" 2)
    [ "$count" -gt 0 ] && say "$count syncs of $1 $2"
}
make_fsync_slow() { make_fsync "$1" "$2" 0; } # MEMBER MILLISECONDS
probe_fsync_slow() { probe_fsync "$1" "took $2 ms longer"; }
heal_fsync_slow() { make_fsync "$1" 0 0; }
make_fsync_fail() { # MEMBER
    may_end "$1"
    make_fsync "$1" 0 5
}
probe_fsync_fail() { probe_fsync "$1" "failed with EIO"; }
heal_fsync_fail() {
    make_fsync "$1" 0 0
    must_not_end "$1"
}

# ---- Memory ----

oom_kills() { sed -n 's/^oom_kill //p' "$(memory_group "$1")/memory.oom_control"; } # REP
make_memory() { # REP
    may_end "$1"
    hold_down "$1"
    oom_kills "$1" >"$note/before"
}
# Something beside it takes all the memory there is, and the kernel ends the rep for it. (It refuses a
# limit below what is in use, so a limit alone kills nobody.)
probe_memory() { # REP
    local group pid
    group=$(memory_group "$1")
    if pid=$(pid_of "$1"); then
        echo 1000 >"/proc/$pid/oom_score_adj"
        echo $((32 << 20)) >"$group/memory.limit_in_bytes" || return 1
        # In a shell that says nothing of how it ended: the kernel ends it, too.
        { timeout 10 bash -c 'echo $$ >"$0/cgroup.procs" && exec tail /dev/zero' "$group" &
            wait $!; } >/dev/null 2>&1 || true
    fi
    [ "$(oom_kills "$1")" -gt "$(<"$note/before")" ] && ! pid_of "$1" >/dev/null &&
        say "the kernel killed $1 for want of memory"
}
heal_memory() { # REP
    echo -1 >"$(memory_group "$1")/memory.limit_in_bytes"
    rm -f "$dir/down/$1"
    must_not_end "$1"
}
