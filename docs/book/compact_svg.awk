# docs/book/compact_svg.awk: the same SVG picture in fewer bytes, for make_pictures.sh: one path for all cells of a color that follow
# each other. Cells are rectangles as rapt writes them, one a line; other lines stay as they are.

# Cells are drawn 0.6 into the next ones, which come later and hide that. In another order it would be seen.
function end_of_cell(x) { return x - int(x) > 0.59 && x - int(x) < 0.61 ? int(x) : x }

function short_cell(x, y, width, height) { return "M" x " " y "H" end_of_cell(x + width) "V" end_of_cell(y + height) "H" x "z" }

function print_cells(    i) {
    print "<g shape-rendering=\"crispEdges\">"
    for (i = 1; i <= colors; i++)
        print "<path fill=\"" color[i] "\" d=\"" cells[color[i]] "\"/>"
    print "</g>"
    delete cells
    colors = 0
}

/^<rect x=.* fill="#[0-9a-f]*"\/>$/ {
    split($0, part, "\"") # the values of x, y, width, height and fill
    if (!(part[10] in cells)) color[++colors] = part[10]
    cells[part[10]] = cells[part[10]] short_cell(part[2], part[4], part[6], part[8])
    next
}

colors { print_cells() }

{ print }
