# What test/chaos/fault and test/chaos/compose do with a fault. Sourced, not run. Each kind is three
# functions, make_KIND, probe_KIND and heal_KIND. What a kind must remember stands in $dir/fault, a
# directory a fault, which is $note.

heal_all() {
    local file words left=0
    for file in "$dir"/fault/*/words; do
        [ -e "$file" ] || continue
        read -ra words <"$file"
        (do_verb heal "${words[@]}") || { say "not healed: ${words[*]}" && left=1; }
    done
    return $left
}

do_verb() { # make|probe|heal KIND [NAME...] [NUMBER], or heal-all
    local verb=$1 kind=${2-} words
    [ "$verb" != heal-all ] || { heal_all && return || return 1; }
    shift $(($# < 2 ? $# : 2))
    declare -F "${verb}_$kind" >/dev/null || misused "there is no ${verb}_$kind"
    words="$kind $*"
    note=$dir/fault/${words// /,}
    case $verb in
    make)
        mkdir -p "$note"
        echo "$words" >"$note/words"
        "make_$kind" "$@"
        ;;
    probe)
        [ -e "$note" ] || { say "$words: was not made" && exit 1; }
        "probe_$kind" "$@"
        ;;
    heal)
        # What is not there needs no healing: Ctrl-C may come twice.
        [ ! -e "$note" ] || { "heal_$kind" "$@" && rm -r "$note"; }
        ;;
    esac
}
