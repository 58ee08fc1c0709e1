# Faults of etcd's contents, of cells as a whole, of all connections. Sourced by test/chaos/fault.

etcd_revision() {
    etcd_cli "$(urls etcd)" get chaos-no-such-key --write-out=json |
        sed -n 's/.*"revision":\([0-9]*\).*/\1/p'
}

# A bbs hears nothing of etcd, and what it has not seen is compacted away.
make_compaction() { # BBS
    local member
    for member in $(names etcd); do drop_between "$1" "$member" && drop_between "$member" "$1"; done
    etcd_revision >"$note/revision"
}
probe_compaction() { # BBS
    local before now member said
    for member in $(names etcd); do
        send_packets 1 "$1" "$member"
        send_packets 1 "$member" "$1"
    done
    before=$(<"$note/revision") now=$(etcd_revision)
    [ "$now" -gt $((before + 1)) ] || { say "nobody has written since revision $before" && return 1; }
    etcd_cli "$(urls etcd)" compaction "$now" >/dev/null 2>&1 || true
    said=$(etcd_cli "$(urls etcd)" get chaos-no-such-key --rev $((before + 1)) 2>&1 || true)
    [[ $said = *compacted* ]] || { say "not compacted: $said" && return 1; }
    probe_dropped $((2 * $(setting etcd))) >/dev/null &&
        say "compacted at $now; $1 has seen no more than $before"
}
heal_compaction() { heal_network; }

make_evacuate() { # REP
    may_end "$1"
    hold_down "$1"
    inside hub "$bin/rep" evacuate --url "$(admin_url_of "$1")" --timeout 50s \
        --ca-cert-file "$certs/ca.crt" --client-cert-file "$certs/operator.crt" \
        --client-key-file "$certs/operator.key" || true # it may end before it is asked again
}
probe_evacuate() { # REP
    ! pid_of "$1" >/dev/null && [ -z "$("$chaos_dir/cluster" containers "$dir" "cell-${1##*-}")" ] &&
        say "$1 has ended, and no container is left on it"
}
heal_evacuate() {
    rm -f "$dir/down/$1"
    must_not_end "$1"
}

# The kernel ends every connection that it has, with a reset to the other end.
make_storm() {
    local name
    for name in $(all_names); do
        inside "$name" ss -H -K -t -n state established | sed "s/^/$name /"
    done >"$note/reset"
}
# None of them is there any more.
probe_storm() {
    local name left=0
    for name in $(all_names); do
        inside "$name" ss -H -t -n state established | awk '{print $3, $4}' >"$note/now"
        left=$((left + $(awk -v name="$name" '$1 == name {print $4, $5}' "$note/reset" |
            grep -cxF -f "$note/now" || true)))
    done
    [ -s "$note/reset" ] && [ $left = 0 ] || { say "$left connections are left" && return 1; }
    say "$(wc -l <"$note/reset") connections were reset"
}
heal_storm() { true; }
