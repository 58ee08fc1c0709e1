# What runs in the local cluster, as the demo and the tests look at it. Sourced, not run.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Of each instance on the board of the app web, or of PROCESS, or of all where that is empty: INDEX STATE CELL
# GUID PORT, in order of index.
instances() { # [PROCESS]
    local line key row
    # shellcheck disable=SC2086 # nothing is no word
    "$bin/bbs" ps ${1-web} --output json 2>/dev/null | while read -r line; do
        row=
        for key in index state cell_id instance_guid host_port; do
            # The first one of this name: a record's own fields come before those inside it.
            [[ $line =~ \"$key\":\"?([^\",}]*) ]] && row+="${BASH_REMATCH[1]} "
        done
        [ -z "$row" ] || echo "${row% }" # of a process without instances there is none
    done | sort -n
}

# Exactly N instances are on the board and all are RUNNING, none of them under this GUID. One look at
# the board: two would mix two moments.
running() { # N [GUID]
    local now
    now=$(instances)
    [ "$(grep -c ' RUNNING ' <<<"$now")" = "$1" ] && [ "$(wc -l <<<"$now")" = "$1" ] &&
        { [ -z "${2-}" ] || [[ $now != *"$2"* ]]; }
}

# What an instance's web server says, over plain TCP: nothing but bash is needed.
ask() { # PORT [PATH]
    (
        exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
        printf 'GET %s HTTP/1.0\r\n\r\n' "${2:-/}" >&3
        timeout 5 cat <&3 | tr -d '\r'
    ) 2>/dev/null
}

# Each unit of a service, as `bbs units` tells it: NAME STATE MACHINE ADDRESS:PORT.
units_of() { # SERVICE
    "$bin/bbs" units status "$1" 2>/dev/null | awk -v s="$1/" 'index($1, s) == 1 {print $1, $2, $3, $4}'
}
# That many units of web serve this value, which they have of db.
webs_have() { # COUNT VALUE
    local unit run_state machine at count=0
    while read -r unit run_state machine at; do
        [ "$run_state" = started ] && [ "$(ask "${at##*:}" /value | tail -n 1)" = "$2" ] || return 1
        count=$((count + 1))
    done < <(units_of web)
    [ $count = "$1" ]
}
no_units() { ! "$bin/bbs" units | grep -q '^  *[a-z].*/[0-9]'; }

answers() { # PORT
    local text
    text=$(ask "$1") || return 1
    [[ $text == HTTP/1.?\ 200* ]]
}

# Of each container: its instance guid, and process id and start time of its first process.
processes() {
    local dir pid begun rest
    for dir in "$state"/rep-*/containers/*/; do
        [ -e "${dir}pid" ] || continue
        read -r pid begun rest <"${dir}pid"
        [ "$(start_time "$pid")" = "$begun" ] || begun=ended
        echo "$(basename "$dir") $pid $begun"
    done | sort
}

# What is still there of containers: directories, mounts, processes; and control groups of those
# that `all_seen` names (lines as of `processes`).
all_seen=
leftovers() {
    ls -A "$state"/rep-*/containers/ "$state"/rep-*/runtime/ 2>/dev/null | grep -v -e ':$' -e '^$' |
        sed 's/^/directory of container /'
    mounts | sed 's/^/mount /'
    local pid cwd
    for pid in /proc/[0-9]*; do
        cwd=$(readlink "$pid/cwd" 2>/dev/null) || continue
        [[ $cwd == "$state"/rep-*/containers/* ]] && echo "process ${pid#/proc/} in $cwd"
    done
    [ -z "$all_seen" ] || ls -d /sys/fs/cgroup/corkboard-* /sys/fs/cgroup/*/corkboard-* 2>/dev/null |
        grep -F -f <(awk 'NF {print $1}' <<<"$all_seen") | sed 's/^/control group /'
    true
}
nothing_left() { [ -z "$(leftovers)" ]; }

# ---- A centre and its sites (`up --sites`) ----

# Runs COMMAND, also one of those here, for the cluster of a site.
of_site() ( # SITE_NUMBER COMMAND...
    eval "$("$local_dir/env" --site "$1")"
    state=$(site_dir "$1") certs=$state/certs port_base=
    port_base=$(setting port_base)
    "${@:2}"
)
# What the centre says of a site: the state of the cloudlet, and what its CRM said.
site_is() { # CLOUDLET STATE SITE
    [ "$("$bin/bbs" cloudlets --timeout 2 2>/dev/null | awk -v name="$1" '$1 == name {print $2, $3}')" = "$2 $3" ]
}
# Exactly N instances at a site, all RUNNING, none of them under this GUID.
site_runs() { # SITE_NUMBER N [GUID]
    local now
    now=$(of_site "$1" instances '')
    [ "$(grep -c ' RUNNING ' <<<"$now")" = "$2" ] && [ "$(grep -c . <<<"$now")" = "$2" ] &&
        { [ -z "${3-}" ] || [[ $now != *"$3"* ]]; }
}
