# What cites a page or a section that is not there, a line each: FILE:LINE: what it says.
# awk -f citations.awk PAGE... checked=1 FILE...: pages for their headings, then what is looked at.

# ---- Pages and their headings ----

FNR == 1 {
    if (file != "") {
        finish()
    }
    file = FILENAME
    wanted = checked
    text = ""
    lines = 0
    fenced = 0
    page = FILENAME ~ /\.md$/
    if (page) {
        name = FILENAME
        sub(/.*\//, "", name)
        pages[name] = FILENAME
        section = ""
    }
}

page && /^```/ { fenced = !fenced }

page && !fenced && /^##/ {
    title = $0
    sub(/^#+ +/, "", title)
    number = title
    if (match(number, /^[0-9]+(\.[0-9]+)?[a-z]?\.? /)) {
        number = substr(number, 1, RLENGTH - 1)
        sub(/\.$/, "", number)
        title = substr(title, RLENGTH + 1)
        headings[name, number] = 1
        if ($0 ~ /^## /) {
            section = number
        }
    } else if ($0 ~ /^## /) {
        section = ""
    }
    add_title(name, section, title)
}

function add_title(name, section, title) {
    title_count[name]++
    titles[name, title_count[name]] = tolower(title)
    title_section[name, title_count[name]] = section
}

# ---- Texts: comments and strings are joined over the ends of lines ----

{
    line = $0
    gsub(/\t/, " ", line)
    if (text ~ /" *$/ && line ~ /^ *"/) {
        sub(/" *$/, "", text) # a string that goes on
        sub(/^ *"/, "", line)
    } else {
        if (FILENAME !~ /\.md$/) {
            sub(/^ *(\/\*|\*\/?|\/\/|#) ?/, "", line)
        }
        sub(/^ +/, "", line)
        text = text " "
    }
    lines++
    starts[lines] = length(text) + 1
    sub(/ +$/, "", line)
    text = text line
}

END {
    finish()
    for (i = 1; i <= kept; i++) {
        check(kept_files[i], kept_texts[i], kept_starts[i])
    }
}

# Kept until all headings are known.
function finish(    i, all) {
    if (!wanted) {
        return
    }
    kept++
    kept_files[kept] = file
    kept_texts[kept] = text
    all = ""
    for (i = 1; i <= lines; i++) {
        all = all starts[i] " "
    }
    kept_starts[kept] = all
}

function report(file, starts, at, what,    list, n, i) {
    n = split(starts, list, " ")
    for (i = 1; i < n && list[i + 1] <= at; i++) {
    }
    print file ":" i ": " what
}

function check(file, text, starts,    rest, at, token, before) {
    rest = text
    at = 0
    while (match(rest, /[A-Za-z0-9_.\/-]*[A-Za-z0-9_-]\.(md|tsv)/)) {
        token = substr(rest, RSTART, RLENGTH)
        before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : " "
        at += RSTART + RLENGTH - 1
        rest = substr(rest, RSTART + RLENGTH)
        if (before ~ /[$*{}<>?]/ || token ~ /^\/[a-z]+\.tsv/ || rest ~ /^[A-Za-z0-9_\/]/) {
            continue # a pattern, a part of another name
        }
        cited(file, starts, at, token, rest)
    }
    if (file ~ /\.md$/) {
        links(file, text, starts)
    }
    refuse(file, text, starts, "[^A-Za-z_]DESIGN[^A-Za-z_]", "a paper that is not in the tree")
    refuse(file, text, starts, "[^A-Za-z0-9_]U [0-9]", "a paper that is not in the tree")
    refuse(file, text, starts, "[Tt]he seed's [A-Za-z]", "a paper that is not in the tree")
    refuse(file, text, starts, "[(;] ?seed(:|, [A-Z])", "a paper that is not in the tree")
}

# Links to what is not a page; pages are looked at above.
function links(file, text, starts,    rest, at, path, dir) {
    dir = file
    if (!sub(/\/[^\/]*$/, "", dir)) {
        dir = "."
    }
    rest = text
    at = 0
    while (match(rest, /\]\([^)]*\)/)) {
        path = substr(rest, RSTART + 2, RLENGTH - 3)
        at += RSTART + RLENGTH - 1
        rest = substr(rest, RSTART + RLENGTH)
        sub(/#.*/, "", path)
        if (path != "" && path !~ /^https?:/ && path !~ /\.md$/ && !is_file(dir "/" path)) {
            report(file, starts, at, path ": there is no such file")
        }
    }
}

function refuse(file, text, starts, pattern, why,    rest, at) {
    rest = text
    at = 0
    while (match(rest, pattern)) {
        at += RSTART + RLENGTH - 1
        report(file, starts, at, substr(rest, RSTART, 50) ": " why)
        rest = substr(rest, RSTART + RLENGTH)
    }
}

function is_file(path,    line, r) {
    if (!(path in file_known)) {
        r = (getline line < path)
        close(path)
        file_known[path] = r >= 0
    }
    return file_known[path]
}

# The page that is meant, or "".
function resolve(file, token,    name, dir) {
    name = token
    sub(/.*\//, "", name)
    if (token ~ /\.tsv$/) {
        return (token == name || token == "test/conformance/spec/" name) &&
            is_file("test/conformance/spec/" name) ? name : ""
    }
    if (token == name) {
        return name in pages ? name : ""
    }
    dir = file
    if (!sub(/\/[^\/]*$/, "", dir)) {
        dir = "."
    }
    return is_file(token) || (file ~ /\.md$/ && is_file(dir "/" token)) ? name : ""
}

function cited(file, starts, at, token, rest,    name, numbers, count, list, i, section, title) {
    name = resolve(file, token)
    if (name == "") {
        report(file, starts, at, token ": there is no such page")
        return
    }
    if (token ~ /\.tsv$/) {
        return
    }
    sub(/^\]\([^)]*\)/, "", rest) # the rest of a link
    section = ""
    if (match(rest, /^ +[0-9]+(\.[0-9]+)?[a-z]?((,| and| to|, and|;)? [0-9]+(\.[0-9]+)?[a-z]?)*/)) {
        numbers = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
        if (rest ~ /^ (s|ms|times|min|MiB|KiB|bytes|h|days|%)[^a-z]/) {
            sub(/(,| and| to|;)? [0-9.]+$/, "", numbers) # that is an amount
        }
        gsub(/,|and|to|;/, " ", numbers)
        count = split(numbers, list, " ")
        for (i = 1; i <= count; i++) {
            if (!((name, list[i]) in headings)) {
                report(file, starts, at, token " " list[i] ": there is no such section")
            } else {
                section = list[i]
            }
        }
        sub(/\..*/, "", section)
    }
    if (match(rest, /^,? "?[A-Z][a-z]/) && (rest ~ /^,/ || rest ~ /^ "/)) {
        sub(/^,? "?/, "", rest)
        for (i = 1; i <= title_count[name]; i++) {
            title = titles[name, i]
            if ((section == "" || title_section[name, i] == section) &&
                tolower(substr(rest, 1, length(title))) == title) {
                return
            }
        }
        for (i = 1; i <= title_count[name]; i++) { # its first word alone
            title = titles[name, i]
            sub(/[ :,].*/, "", title)
            if ((section == "" || title_section[name, i] == section) &&
                tolower(substr(rest, 1, length(title))) == title &&
                substr(rest, length(title) + 1, 1) !~ /[A-Za-z]/) {
                return
            }
        }
        sub(/[;).(].*/, "", rest)
        report(file, starts, at, token ", " substr(rest, 1, 40) ": there is no such heading")
    }
}
