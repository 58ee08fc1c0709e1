# Prints "contract FILE NAME" for each prototype in the headers FILE... without a contract: a comment
# above its group, which ends at a blank line, or behind it. void x_init(x), x_done(x) and x_free(x) of one
# argument have theirs in docs/contributing.md, Memory and errors.
FNR == 1 { skip = tail = macro = braces = 0; statement = ""; above = 0 }
skip { if ($0 ~ /\*\//) { skip = 0; above = above || !tail; tail = 0 } next }
/^#/ || macro { macro = $0 ~ /\\$/; next }
/^[ \t]*$/ && statement == "" { above = 0; next }
{
    own = own || $0 ~ /\/\*/
    if (statement == "" && $0 ~ /^\/\*/) { own = 0; if ($0 !~ /\*\//) skip = 1; else above = 1; next }
    line = $0
    gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
    if (sub(/\/\*.*/, "", line)) { skip = tail = 1 }
    statement = statement " " line
    braces += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
    if (braces > 0 || statement !~ /[;}][ \t]*$/) next
    if (statement !~ /[{}]/ && statement !~ /^ *(typedef|[A-Z_]+\()/ && match(statement, /[a-z_0-9]+\(/)) {
        name = substr(statement, RSTART, RLENGTH - 1)
        pair = statement ~ /^ *void [a-z_0-9]+_(init|done|free)\([^,]*\)/
        if (!above && !own && !pair) print "contract", FILENAME, name
    }
    statement = ""; own = 0
}
