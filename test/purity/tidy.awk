# Holds what test/purity/tidy gathered against test/purity/layers and test/purity/untidy.
# Input, a line each: "columns FILE N", "include FOLDER FOLDER FILE", "contract FILE FUNCTION" (it has
# none), "tag NAME FILE", "defined FILE SYMBOL", "wanted FILE SYMBOL", "assertions FOLDER LINES
# COUNT"; before them the two lists.

FILENAME ~ /layers$/ {
    sub(/#.*/, "")
    if (split($0, part, ":") < 2) next
    folder = part[1]
    n = split(part[2], list, " ")
    known[folder] = 1
    for (i = 1; i <= n; i++) {
        other = list[i]
        exception = sub(/^!/, "", other)
        may[folder, other] = exception ? "exception" : "yes"
        unused[folder " may include " other] = 1
    }
    next
}
FILENAME ~ /untidy$/ {
    sub(/#.*/, "")
    if ($1 == "columns") long_lines[$2] = $3
    if ($1 == "assertions") least = $2
    next
}
$1 == "columns" {
    if ($3 > long_lines[$2]) complain($2 ": " $3 " lines of more than 100 columns (allowed: " long_lines[$2] + 0 ")")
    if ($3 < long_lines[$2]) complain($2 ": only " $3 " lines of more than 100 columns: lower its number in test/purity/untidy")
    delete long_lines[$2]
}
$1 == "include" && $2 != $3 {
    from = ($2 in known) ? $2 : all_of($2)
    to = ((from, $3) in may) ? $3 : all_of($3)
    if (!(from in known)) complain($2 ": has no line in test/purity/layers")
    else if (!((from, to) in may)) complain($4 ": " $2 " may not include " $3)
    delete unused[from " may include " to]
}
$1 == "assertions" { pure_lines += $3; asserted += $4; rate[$2] = 1000 * $4 / $3 }
$1 == "contract" { complain($2 ": " $3 "() has no contract: a comment above its group, or behind it") }
$1 == "tag" {
    if (!($2 in tagged)) tagged[$2] = $3
    else if (tagged[$2] != $3) complain($3 ": " $2 " is another struct or enum in " tagged[$2])
}
$1 == "defined" && $3 != "main" {
    if ($3 in home && home[$3] != $2) complain($2 ": " $3 "() is another function in " home[$3])
    home[$3] = $2
    files[$2] = 1
}
$1 == "wanted" { wants[$2] = wants[$2] " " $3 }

# "bbs/*" of "bbs/lock": the line of the folders there that have none of their own.
function all_of(folder) { return sub(/\/[^\/]*$/, "/*", folder) ? folder : "none" }

function complain(text) { print "test/purity/tidy: " text; failed = 1 }

# Whether calls lead from this file back to it.
function returns(file,    queue, head, tail, seen, n, list, i, to) {
    queue[tail = 1] = file
    for (head = 1; head <= tail; head++) {
        n = split(calls[queue[head]], list, " ")
        for (i = 1; i <= n; i++) {
            to = list[i]
            if (to == file) return 1
            if (!(to in seen)) { seen[to] = 1; queue[++tail] = to }
        }
    }
    return 0
}

END {
    for (file in long_lines) complain(file ": has no longer lines: take it out of test/purity/untidy")
    for (text in unused) complain(text " in test/purity/layers, and does not: take it out")
    for (file in files) {
        n = split(wants[file], list, " ")
        split("", called)
        for (i = 1; i <= n; i++)
            if (list[i] in home && home[list[i]] != file) called[home[list[i]]] = 1
        for (other in called) calls[file] = calls[file] " " other
    }
    for (file in files) if (returns(file)) complain(file ": calls lead from it back to it")
    if (1000 * asserted < least * pure_lines) {
        for (folder in rate) if (rate[folder] < least) lacking = lacking sprintf(" %s (%.1f)", folder, rate[folder])
        complain(sprintf("%.2f assertions a thousand lines of pure code, of %s at least; these have fewer:%s", 1000 * asserted / pure_lines, least, lacking))
    }
    exit failed
}
