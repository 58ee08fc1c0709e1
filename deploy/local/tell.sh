# How the demos tell what they do, and what they end when they fail. Sourced after fault.sh, not run. Sets
# work, a directory that goes with the script.

bold='' dim='' green='' yellow='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
    bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
fi
demo_begun=$EPOCHREALTIME step_begun='' step_name='' steps=0
seconds() { printf '%d.%d' $(($1 / 1000)) $(($1 / 100 % 10)); } # MILLISECONDS
ms_since() { echo $(((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}) / 1000)); } # a value of EPOCHREALTIME
indent() { sed 's/^/    /'; }
tell() { printf '    %s\n' "$*"; }

step() { # WHAT
    steps=$((steps + 1)) step_name=$1 step_begun=$EPOCHREALTIME
    printf '\n%s%2d  %s%s\n' "$bold" $steps "$1" "$plain"
}
# Shows a command as a user would type it here, and runs it.
command_shown() { # COMMAND...
    local words=("${@#"$work/"}")
    printf '    %s$ %s%s\n' "$dim" "${words[*]#"$top/"}" "$plain"
    "$@" 2>&1 | indent
}
step_done() { printf '    %sdone in %s s%s\n' "$dim" "$(seconds "$(ms_since "$step_begun")")" "$plain"; }

rows=() slow=''
# Closes a step that repaired something: `took_ms` is told beside its bound, and kept for the table.
step_repaired() { # WHAT BOUND_MS [WORD]
    local colour=$green verdict=''
    ((took_ms <= $2)) || colour=$yellow verdict='  over its bound' slow=1
    rows+=("$(printf '%2d  %-58s %s%6s s%s %4d s%s' $steps "$1" "$colour" "$(seconds $took_ms)" "$plain" \
        $(($2 / 1000)) "$verdict")")
    printf '    %s%s in %s s%s, the bound is %d s\n' "$colour" "${3:-repaired}" "$(seconds $took_ms)" "$plain" $(($2 / 1000))
}

finish() { # exit status
    trap - EXIT INT TERM HUP
    [ -t 1 ] && printf '\r\033[K'
    if [ "$1" -gt 128 ]; then
        printf '\ndemo: interrupted at "%s"; ending the cluster\n' "$step_name" >&2
        "$local_dir/down" --quiet || true
    elif [ "$1" != 0 ]; then
        printf '\ndemo: failed at "%s"; ending the cluster\n' "$step_name" >&2
        if [ -e "$state/cluster" ]; then
            rm -rf "$state.failed-log"
            "$local_dir/down" --quiet --keep-logs "$state.failed-log" || true
            printf 'demo: its logs are in %s\n' "$state.failed-log" >&2
        fi
    fi
    rm -rf "$work"
    exit "$1"
}
work=$(mktemp -d)
trap 'finish $?' EXIT
trap 'finish 130' INT
trap 'finish 143' TERM HUP
