# Turns what `ragel -V` prints into a picture with the names of the source: states from the to-state
# actions (in_waiting), events from the list in x_events.h, which comes first on the command line.
#
# Where many states lead to one, lines would cover the picture: such arrows are written into the boxes
# that they leave, with the name of the state they lead to, which is drawn darker and at the bottom.

BEGIN {
    LEFT = "<br align=\"left\"/>"
    MANY = 6
}

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
    if (!does)
        does = "   &#8212;" LEFT
    arrows++
    from[arrows] = $1
    to[arrows] = $3
    events[arrows] = half[1]
    actions[arrows] = does
    if ($1 != $3 && !leads[$1, $3]++)
        sources[$3]++
}

$1 == "ENTRY" && $2 == "->" { first = $3 }

# "7, 10..11" to the names, a line each, with what comes behind each
function events_of(list, behind,    parts, ends, n, i, k, names) {
    n = split(list, parts, ", ")
    for (i = 1; i <= n; i++) {
        if (split(parts[i], ends, "[.][.]") == 1)
            ends[2] = ends[1]
        for (k = ends[1] + 0; k <= ends[2] + 0; k++)
            names = names "<b>" event[k] "</b>" behind LEFT
    }
    return names
}

END {
    name[first] = initial
    for (i = 1; i <= arrows; i++) {
        pair = from[i] SUBSEP to[i]
        if (from[i] == to[i])
            inside[from[i]] = inside[from[i]] events_of(events[i], "") actions[i]
        else if (sources[to[i]] >= MANY)
            ways[from[i]] = ways[from[i]] events_of(events[i], " &#8594; " name[to[i]]) actions[i]
        else {
            if (!(pair in text))
                edge[++edges] = i
            text[pair] = text[pair] events_of(events[i], "") actions[i]
        }
    }
    print "digraph " title " {"
    print "    graph [ranksep = 0.5, nodesep = 0.4, fontname = \"Helvetica\"];"
    print "    node [shape = box, style = \"rounded,filled\", fillcolor = \"#eef3fa\", fontname = \"Helvetica-Bold\"];"
    print "    edge [fontname = \"Helvetica\", fontsize = 9];"
    print "    begin [shape = point, width = 0.15, label = \"\"];"
    print "    begin -> " name[first] ";"
    for (i = 1; i <= edges; i++) {
        k = edge[i]
        print "    " name[from[k]] " -> " name[to[k]] " [label = <" text[from[k], to[k]] ">" \
            (sources[from[k]] >= MANY ? ", constraint = false" : "") "];"
    }
    for (i = 1; i <= states; i++) {
        k = order[i]
        if (inside[k] || ways[k])
            print "    " name[k] " [label = <<b>" name[k] "</b><br/>" \
                "<font point-size=\"9\" face=\"Helvetica\">" inside[k] ways[k] "</font>>];"
        if (!leaves[k])
            print "    " name[k] " [peripheries = 2];"
        if (sources[k] >= MANY)
            print "    { rank = sink; " name[k] " [fillcolor = \"#c9d7ea\"]; }"
    }
    print "}"
}
