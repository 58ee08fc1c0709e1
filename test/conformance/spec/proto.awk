# Makes one .proto of Diego's messages from the facts, for tests that must not decode by our own
# files: awk -f proto.awk enums.tsv messages.tsv
BEGIN {
    FS = "\t"
    print "syntax = \"proto3\";\npackage models;"
}

FNR == 1 { next }

FILENAME ~ /enums.tsv$/ {
    if ($3 != "(reserved)")
        values[$2] = values[$2] "    " $3 " = " $4 ";\n"
    next
}

# Rows of a message stand together.
$2 != message {
    if (message != "") print "}"
    message = $2
    print "message " message " {"
    for (name in values) {
        split(name, part, ".")
        if (part[1] == message)
            printf "  enum %s {\n%s  }\n", part[2], values[name]
    }
}

{
    type = $6
    field = type " " $3 " = " $4 ($10 ~ /packed=false/ ? " [packed = false]" : "") ";"
    if ($5 == "repeated")
        field = "repeated " field
    if ($5 == "oneof")
        field = "oneof one_" $3 " { " field " }"
    print "  " field
}

END { print "}" }
