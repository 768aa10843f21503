# Turns what `ragel -V` prints into a picture with the names of the source: states from the to-state
# actions (in_waiting), events from the list in x_events.h, which comes first on the command line.

BEGIN { LEFT = "<br align=\"left\"/>" }

# "    CMD_READY = 1,  /* the session can take it */"
FILENAME ~ /_events\.h$/ {
    if ($2 == "=" && $3 ~ /^[0-9]+,$/)
        event[$3 + 0] = $1
    next
}

# the glue's init, since no arrow need lead to the first state: "    machine->state = HE2B_COMMAND_WAITING;"
FILENAME ~ /\.rl$/ {
    if ($1 == "machine->state" && $2 == "=") {
        initial = tolower($3)
        sub("^he2b_" title "_", "", initial)
        sub(/;$/, "", initial)
    }
    next
}

# "	1 -> 2 [ label = "1 / send_start, in_starting" ];"
$2 == "->" && $3 ~ /^[0-9]+$/ && $1 ~ /^[0-9]+$/ {
    if (!seen[$3]++)
        order[++states] = $3
    leaves[$1] = 1
    label = $0
    sub(/^[^"]*"/, "", label)
    sub(/"[^"]*$/, "", label)
    split(label, half, " / ")
    count = split(half[2], action, ", ")
    name[$3] = substr(action[count], 4)
    does = ""
    for (i = 1; i < count; i++)
        does = does "   " action[i] LEFT
    if ($1 == $3) {
        # what leaves the state as it is stands inside of it
        inside[$1] = inside[$1] events_of(half[1]) does
    } else {
        edges++
        from[edges] = $1
        to[edges] = $3
        text[edges] = events_of(half[1]) does
    }
}

$1 == "ENTRY" && $2 == "->" { first = $3 }

# "7, 10..11" to the names, a line each
function events_of(list,    parts, ends, n, i, k, names) {
    n = split(list, parts, ", ")
    for (i = 1; i <= n; i++) {
        if (split(parts[i], ends, "[.][.]") == 1)
            ends[2] = ends[1]
        for (k = ends[1] + 0; k <= ends[2] + 0; k++)
            names = names "<b>" event[k] "</b>" LEFT
    }
    return names
}

END {
    name[first] = initial
    print "digraph " title " {"
    print "    graph [ranksep = 0.6, nodesep = 0.5, fontname = \"Helvetica\"];"
    print "    node [shape = box, style = \"rounded,filled\", fillcolor = \"#eef3fa\", fontname = \"Helvetica-Bold\"];"
    print "    edge [fontname = \"Helvetica\", fontsize = 9];"
    print "    begin [shape = point, width = 0.15, label = \"\"];"
    print "    begin -> " name[first] ";"
    for (i = 1; i <= edges; i++)
        print "    " name[from[i]] " -> " name[to[i]] " [label = <" text[i] ">];"
    for (i = 1; i <= states; i++) {
        if (inside[order[i]])
            print "    " name[order[i]] " [label = <<b>" name[order[i]] "</b><br/>" \
                "<font point-size=\"9\" face=\"Helvetica\">" inside[order[i]] "</font>>];"
        if (!leaves[order[i]])
            print "    " name[order[i]] " [peripheries = 2];"
    }
    print "}"
}
