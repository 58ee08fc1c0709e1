# The beginning of each test script: a network and a place of its own, patience, and an end that leaves
# nothing and, when a test has failed, tells what the processes said last. Sourced, not run, as the
# first thing:
#   . "$(dirname "$0")/begin.sh"
# Sets top, work (a directory that goes with the script) and what deploy/local reads.

[ "${OWN_NETWORK-}" ] || exec "$(dirname "${BASH_SOURCE[0]}")/../tool/own-network" "$0" "$@"
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
export CORKBOARD_STATE=$work/state CORKBOARD_PORT_BASE=18800
# Nothing here asserts how fast the machine is: whatever deploy/local or a test waits for has so many
# times its time, and a command that is to succeed has LONG seconds.
export CORKBOARD_PATIENCE=10
LONG=300
trap 'end_script $?' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

end_script() { # STATUS
    trap '' EXIT INT TERM
    set +e # or the end of a script that has it ends at the first word that fails, and leaves all else
    [ "$1" = 0 ] || [ "$1" = 130 ] || last_words
    "$top/deploy/local/down" --quiet
    rm -rf "$work"
    exit "$1"
}

# The last lines of each process, and all that it warned of.
last_words() {
    local log
    for log in "$CORKBOARD_STATE"/log/*.log "$CORKBOARD_STATE".failed-log/*.log \
        "$CORKBOARD_STATE"/site-*/log/*.log; do
        [ -s "$log" ] || continue
        echo "---- ${log#"$CORKBOARD_STATE/"}: $(wc -l <"$log") lines"
        { grep -nE '"level":"(warn|error)"|Sanitizer|runtime error' "$log" | tail -n 5
            tail -n 6 "$log"; } | cut -c1-400
    done
}

# Milliseconds that the cluster's processes, all threads together, were ready to run and had to wait
# for a core, since they began: the kernel's own record (schedstat). What a repair took and the machine
# did not let the cluster work is not the cluster's.
waited_for_a_core_ms() {
    cat $(sed -n 's|^\([0-9]*\) .*|/proc/\1/task|p' "$CORKBOARD_STATE"/run/*.pid |
        sed 's|$|/*/schedstat|') 2>/dev/null | awk '{ns += $2} END {print int(ns / 1000000)}'
}
