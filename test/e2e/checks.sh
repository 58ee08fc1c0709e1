# What test scripts check with, and how they tell it: a line a test, as the C tests do. Sourced after
# begin.sh and what else the script sources. Sets failed, with which the script exits.

set +e # each check says itself what failed
failed=0

fail() { # WORDS...
    echo "   $*"
    return 1
}

verdict() { # NAME STATUS
    if [ "$2" = 0 ]; then
        echo "[       OK ] $1"
    else
        echo "[  FAILED  ] $1"
        failed=1
    fi
}

run_tests() { # FUNCTION...
    local name
    for name in "$@"; do
        "$name"
        verdict "$name" $?
    done
}

# The same until one fails: those after it would only tell of that.
run_tests_in_turn() { # FUNCTION...
    local name at
    for name in "$@"; do
        at=$SECONDS
        "$name"
        verdict "$name" $?
        [ $failed = 0 ] || { tail -n 5 "$state"/log/*.log; return; }
        echo "   $((SECONDS - at)) s"
    done
}

exit_status() { # EXPECTED COMMAND...: what it says is in $work/out
    local expected=$1 got=0
    shift
    "$@" >"$work/out" 2>&1 || got=$?
    [ "$got" = "$expected" ] || fail "'$*' ended with $got, not with $expected: $(cat "$work/out")"
}

says() { # EXPECTED_STATUS TEXT COMMAND...
    local expected=$1 text=$2
    shift 2
    exit_status "$expected" "$@" || return 1
    grep -qF -- "$text" "$work/out" || fail "'$*' does not say \"$text\": $(cat "$work/out")"
}

# The last test of a script whose cells have made containers: none has left anything. What a rep
# removes at this moment is waited for.
audit_finds_nothing() {
    local dir
    for dir in "$CORKBOARD_STATE"/rep-*; do
        wait_for 60 "nothing to be left in $(basename "$dir")" says 0 "nothing is left" \
            "$bin/rep" audit --state-dir "$dir" || fail "$(cat "$work/out")" || return 1
    done
}

# The file of the README's first app: the first yaml block below its heading.
first_app() {
    awk '/^## Your first app/ {at = 1} at && /^```yaml/ {on = 1; next} on && /^```/ {exit} on' "$top/README.md"
}
# A containers-registries.conf(5) by which a registry of ours answers for Docker Hub.
mirror_of_docker_hub() { # HOST:PORT
    printf '[[registry]]\nlocation = "docker.io"\n[[registry.mirror]]\nlocation = "%s"\ninsecure = true\n' "$1"
}
