# etcd restored from a snapshot, by the words of docs/restore.md: what was written after it is lost.
# Sourced by test/chaos/fault.

etcd_revision_above() { [ "$(etcd_revision)" -gt "$1" ]; } # REVISION

# Step 1 to 4. The snapshot is older than what everybody has seen.
make_restore() {
    local name
    etcd_cli "$(url_of etcd-1)" snapshot save "$note/snapshot.db" >/dev/null
    etcd_revision >"$note/snapshot-revision"
    wait_for 20 "writes after the snapshot" etcd_revision_above $(($(<"$note/snapshot-revision") + 5)) ||
        return 1
    # shellcheck disable=SC2046 # names are words
    kill_noted $(names bbs etcd)
    for name in $(names etcd); do
        rm -rf "$dir/$name/data"
        ETCDCTL_API=3 etcdctl snapshot restore "$note/snapshot.db" --data-dir "$dir/$name/data" \
            --name "$name" --initial-cluster "$(etcd_peers)" \
            --initial-advertise-peer-urls "http://$(address_of "$name"):2380" >/dev/null 2>&1 || return 1
        rm -f "$dir/down/$name"
    done
    rm -f "$note/snapshot.db"
    revive
}
probe_restore() {
    local before now
    before=$(<"$note/snapshot-revision") now=$(etcd_revision)
    [ -n "$now" ] && [ "$now" -le $((before + 1)) ] &&
        say "etcd went back to revision $now, beyond which there had been more than $((before + 5))"
}
# Step 5 and 6.
heal_restore() {
    inside hub "$bin/bbs" restore --etcd "$(urls etcd)" --ca "$certs/ca.crt" --cert "$certs/bbs.crt" \
        --key "$certs/bbs.key" >/dev/null || return 1
    start_killed
}
