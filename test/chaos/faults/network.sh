# Faults of the network: rules on the bridge, which each packet between two processes crosses. The
# harness itself sits on the bridge, so that it still reaches everybody. Sourced by test/chaos/fault.

rule() { # WORDS...: a rule of this fault
    inside hub nft add rule bridge "$table" forward "$@" comment "\"${note##*/}\""
}
drop_between() { # FROM TO
    rule ip saddr "$(address_of "$1")" ip daddr "$(address_of "$2")" counter drop
}
rules_of_fault() {
    inside hub nft -a list chain bridge "$table" forward | grep -F "comment \"${note##*/}\""
}
heal_network() {
    local handle
    rules_of_fault | sed 's/.*# handle //' | while read -r handle; do
        inside hub nft delete rule bridge "$table" forward handle "$handle" || return 1
    done
    ! rules_of_fault >/dev/null
}
# Packets that mean nothing to anybody, so that a rule is seen to drop them.
send_packets() { # COUNT FROM TO
    inside "$2" bash -c 'for ((i = 0; i < $1; i++)); do echo chaos >/dev/udp/$2/9; done' - \
        "$1" "$(address_of "$3")" 2>/dev/null || true
}
# Each rule has dropped something.
probe_dropped() { # COUNT_OF_RULES
    local rules count
    rules=$(rules_of_fault) || { say "there is no such rule" && return 1; }
    count=$(grep -c drop <<<"$rules")
    [[ $count = "$1" && $rules != *"packets 0 "* ]] || { say "not dropped: $rules" && return 1; }
    say "dropped: $(sed -E 's/.*saddr ([0-9.]+).*daddr ([0-9.]+).*packets ([0-9]+).*/\1 to \2 \3 packets/' \
        <<<"$rules" | sed -E 's/^\s*ip ([sd]addr) ([0-9.]+).*packets ([0-9]+).*/\1 \2 \3 packets/' | paste -sd,)"
}

make_cut() { # A B
    drop_between "$1" "$2" && drop_between "$2" "$1"
}
probe_cut() {
    send_packets 1 "$1" "$2"
    send_packets 1 "$2" "$1"
    probe_dropped 2
}
heal_cut() { heal_network; }

make_cut_one_way() { # A B: B hears nothing of A
    drop_between "$1" "$2"
}
probe_cut_one_way() {
    send_packets 1 "$1" "$2"
    probe_dropped 1
}
heal_cut_one_way() { heal_network; }

make_loss() { # A B PERCENT
    local pair
    for pair in "$1 $2" "$2 $1"; do
        set -- ${pair} "$3"
        rule ip saddr "$(address_of "$1")" ip daddr "$(address_of "$2")" \
            meta random "<=" $((0xffffffff / 100 * $3)) counter drop
    done
}
# Of many packets some are dropped, and not all.
probe_loss() { # A B PERCENT
    local before after dropped sent=200
    before=$(dropped_packets)
    send_packets $sent "$1" "$2"
    after=$(dropped_packets) dropped=$((after - before))
    [ $dropped -gt 0 ] && [ $dropped -lt $sent ] && say "$dropped of $sent packets dropped"
}
dropped_packets() { rules_of_fault | sed -E 's/.*packets ([0-9]+).*/\1/' | awk '{n += $1} END {print n + 0}'; }
heal_loss() { heal_network; }

# From everybody but the harness, which asks its instances as their users do.
cut_off() { # NAME...
    local name
    for name; do
        rule ip saddr "$(address_of "$name")" counter drop
        rule ip daddr "$(address_of "$name")" counter drop
    done
}
probe_cut_off() { # NAME...
    local name
    for name; do
        send_packets 1 "$name" bbs-1
        send_packets 1 bbs-1 "$name"
    done
    probe_dropped $((2 * $#))
}
make_cut_cell() { cut_off "$@"; }
probe_cut_cell() { probe_cut_off "$@"; }
heal_cut_cell() { heal_network; }
make_cut_zone() { cut_off "$@"; }
probe_cut_zone() { probe_cut_off "$@"; }
heal_cut_zone() { heal_network; }

# The bbs still reach it: a leader that cannot lead answers them nothing.
make_cut_etcd_leader() { # MEMBER
    local other
    for other in $(names etcd); do
        [ "$other" = "$1" ] || { drop_between "$1" "$other" && drop_between "$other" "$1"; }
    done
}
probe_cut_etcd_leader() { # MEMBER
    local other
    for other in $(names etcd); do
        [ "$other" != "$1" ] || continue
        send_packets 1 "$1" "$other"
        send_packets 1 "$other" "$1"
    done
    probe_dropped $((2 * ($(setting etcd) - 1)))
}
heal_cut_etcd_leader() { heal_network; }

# The process's wire to the bridge is taken apart, and what passes frames in between holds them up.
make_delay() { # NAME MILLISECONDS
    local port
    port=$(wire_of "$1")
    echo "$port" >"$note/port"
    inside hub sh -e -c "ip link add in-$port type veth peer name out-$port
        ip link set out-$port master $bridge up; ip link set in-$port up; ip link set $port nomaster"
    setsid "${in_hub[@]}" "$bin/chaos-wire" "$note/counts" "$port" "in-$port" "$2" \
        >"$note/said" 2>&1 </dev/null &
    echo "$! $(start_time $!)" >"$note/wire"
}
probe_delay() { # NAME MILLISECONDS
    local passed overtaken
    [ -e "$note/counts" ] || { cat "$note/said" && return 1; }
    passed=$(get_word "$note/counts" 0) overtaken=$(get_word "$note/counts" 1)
    [ "$passed" -gt 0 ] && [ "$overtaken" -gt 0 ] ||
        { say "$passed frames held up, $overtaken overtaken $(<"$note/said")" && return 1; }
    say "$passed frames of $1 were held up, $overtaken of them overtaken"
}
heal_delay() {
    local port pid begun
    read -r port <"$note/port" || return 0
    if read -r pid begun <"$note/wire" && [ "$(start_time "$pid")" = "$begun" ]; then kill "$pid"; fi
    inside hub sh -c "ip link del in-$port; ip link set $port master $bridge"
}
