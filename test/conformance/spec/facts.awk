# Prints what protoc says of a FileDescriptorSet (see descriptor.proto) as facts, one a line:
#   field MESSAGE NAME NUMBER LABEL TYPE DEPRECATED PACKED     as the columns of messages.tsv
#   enum ENUM VALUE NUMBER DEPRECATED                          as those of enums.tsv
# Types of the package are named without it, nested ones as Outer.Inner; fields from 1000 up are
# Corkboard's own and left out.

function text(line) {
    sub(/^[^"]*"/, "", line)
    sub(/"$/, "", line)
    return line
}

function scalar(number) {
    return number == 3 ? "int64" : number == 4 ? "uint64" : number == 5 ? "int32" : \
           number == 8 ? "bool" : number == 9 ? "string" : number == 12 ? "bytes" : \
           number == 13 ? "uint32" : "type-" number
}

function full_name(depth,    i, name) {
    for (i = 1; i <= depth; i++)
        if (kind[i] == "message_type" || kind[i] == "nested_type" || kind[i] == "enum_type")
            name = name (name == "" ? "" : ".") names[i]
    return name
}

# A field is complete; its message's options, and the entries of maps, come later.
function keep_field(message) {
    fields[++field_count] = message
    for (key in field)
        fields[field_count, key] = field[key]
}

function print_fields(    i, label, type, entry, message) {
    for (i = 1; i <= field_count; i++) {
        message = fields[i]
        if (message in is_entry || fields[i, "number"] >= 1000)
            continue
        type = fields[i, "type_name"] == "" ? scalar(fields[i, "type"]) : fields[i, "type_name"]
        label = fields[i, "label"] == 3 ? "repeated" : "optional"
        if (fields[i, "oneof"] != "")
            label = "oneof"
        if (type in is_entry) {
            label = "map"
            type = "map<" entry_type[type, "key"] "," entry_type[type, "value"] ">"
        }
        print "field", message, fields[i, "name"], fields[i, "number"], label, type, \
              fields[i, "deprecated"] ? "yes" : message in is_deprecated ? "msg" : "-", \
              fields[i, "packed"] == "" ? "-" : "packed=" fields[i, "packed"]
    }
}

/{$/ {
    kind[++depth] = $1
    names[depth] = ""
    if ($1 == "field")
        split("", field)
    if ($1 == "value")
        split("", value)
    next
}

/^ *}$/ {
    if (kind[depth] == "field") {
        message = full_name(depth - 1)
        keep_field(message)
        entry_type[message, field["name"]] = field["type_name"] == "" ? scalar(field["type"]) \
                                                                      : field["type_name"]
    }
    if (kind[depth] == "value")
        print "enum", full_name(depth - 1), value["name"], value["number"], \
              value["deprecated"] ? "yes" : "-"
    depth--
    next
}

{
    inside = kind[depth]
    outer = kind[depth - 1]
    if (inside == "field") {
        if ($1 == "name:") field["name"] = text($0)
        if ($1 == "number:") field["number"] = $2
        if ($1 == "label:") field["label"] = $2
        if ($1 == "type:") field["type"] = $2
        if ($1 == "oneof_index:") field["oneof"] = $2
        if ($1 == "type_name:") {
            field["type_name"] = text($0)
            sub(/^\.[a-z]*\./, "", field["type_name"])
        }
    } else if (inside == "value") {
        if ($1 == "name:") value["name"] = text($0)
        if ($1 == "number:") value["number"] = $2
    } else if (inside == "options" && outer == "field") {
        if ($1 == "deprecated:") field["deprecated"] = $2 == "true"
        if ($1 == "packed:") field["packed"] = $2
    } else if (inside == "options" && outer == "value") {
        if ($1 == "deprecated:") value["deprecated"] = $2 == "true"
    } else if (inside == "options") {
        if ($1 == "deprecated:" && $2 == "true") is_deprecated[full_name(depth - 1)] = 1
        if ($1 == "map_entry:" && $2 == "true") is_entry[full_name(depth - 1)] = 1
    } else if ($1 == "name:") {
        names[depth] = text($0)
    }
}

END { print_fields() }
