# docs/book/compact_svg.awk: the same SVG picture in fewer bytes, for make_pictures.sh: colours as #rrggbb, two digits
# after the point, no spaces and no attributes that are the default, and one path for all cells of a colour that follow
# each other. Knows how cairo writes paths, one a line; a line of another form stays as it is.

function hex(percent) { return sprintf("%02x", int(percent * 2.55 + 0.5)) }

function short(x) {
    x = sprintf("%.2f", x)
    sub(/\.?0+$/, "", x)
    if (x == "-0" || x == "") x = "0"
    sub(/^0\./, ".", x)
    sub(/^-0\./, "-.", x)
    return x
}

# A number behind another one: a space where it would grow together with it.
function join(text, x) { return text (text ~ /[0-9]$/ && x !~ /^-/ && !(x ~ /^\./ && text ~ /\.[0-9]*$/) ? " " : "") x }

# In hundredths, so that roundings don't add up.
function hundredths(x) { return int(x * 100 + (x < 0 ? -0.5 : 0.5)) }

# Lines and curves count from where the last one ended; the "M x y" that cairo adds behind "Z" goes.
function short_path(d,    n, p, i, k, x, y, dx, dy, text) {
    n = split(d, p, " ")
    if (n > 3 && p[n - 2] == "M" && p[n - 3] == "Z") n -= 3
    for (i = 1; i <= n; i++) {
        if (p[i] == "Z") { text = text "z"; continue }
        if (p[i] == "M") {
            x = hundredths(p[++i]); y = hundredths(p[++i])
            text = join(join(text "M", short(x / 100)), short(y / 100))
            continue
        }
        text = text tolower(p[i])
        k = p[i] == "C" ? 3 : 1
        while (k-- > 0) {
            dx = hundredths(p[++i]) - x; dy = hundredths(p[++i]) - y
            text = join(join(text, short(dx / 100)), short(dy / 100))
        }
        x += dx; y += dy
    }
    return text
}

function is_cell(d,    p) {
    return split(d, p, " ") == 16 && p[13] == "Z" && p[2] == p[11] && p[3] == p[6] && p[5] == p[8] && p[9] == p[12]
}

# Cells are drawn 0.6 into the next ones, which come later and hide that. In another order it would be seen.
function end_of_cell(x) { return x - int(x) > 0.59 && x - int(x) < 0.61 ? int(x) : x }

function short_cell(d,    p) {
    split(d, p, " ")
    return "M" short(p[2]) " " short(p[3]) "H" short(end_of_cell(p[5])) "V" short(end_of_cell(p[9])) "H" short(p[2]) "z"
}

function print_cells(    i) {
    print "<g shape-rendering=\"crispEdges\">"
    for (i = 1; i <= colours; i++)
        print "<path fill=\"" colour[i] "\" d=\"" cells[colour[i]] "\"/>"
    print "</g>"
    delete cells
    colours = 0
}

/rgb\([^)]*%\)/ {
    while (match($0, /rgb\([^)]*\)/)) {
        split(substr($0, RSTART + 4, RLENGTH - 5), part, /[%, ]+/)
        $0 = substr($0, 1, RSTART - 1) "#" hex(part[1]) hex(part[2]) hex(part[3]) substr($0, RSTART + RLENGTH)
    }
}

/<stop/ {
    sub(/style="stop-color:/, "stop-color=\"")
    sub(/;stop-opacity:1;"/, "\"")
}

/<path/ && match($0, / d="[^"]*"/) {
    before = substr($0, 1, RSTART - 1)
    d = substr($0, RSTART + 4, RLENGTH - 5)
    after = substr($0, RSTART + RLENGTH)
    sub(/ style=" *stroke:none;fill-rule:nonzero;fill:/, " fill=\"", before)
    sub(/ style="stroke:none;"/, "", before)
    sub(/ fill-rule="nonzero"/, "", before)
    sub(/;fill-opacity:1;"/, "\"", before)
    sub(/ fill-opacity="1"/, "", before)
    sub(/ style="fill:none;stroke-width:/, " fill=\"none\" stroke-width=\"", before)
    sub(/;stroke-linecap:butt;stroke-linejoin:miter;stroke:/, "\" stroke=\"", before)
    sub(/;stroke-opacity:1;stroke-miterlimit:10;"/, "\"", before)
    if (is_cell(d) && match(before, /fill="#[0-9a-f]*"/)) {
        fill = substr(before, RSTART + 6, 7)
        if (!(fill in cells)) colour[++colours] = fill
        cells[fill] = cells[fill] short_cell(d)
        next
    }
    if (match(after, /matrix\(1,0,0,1,[0-9.]*,[0-9.]*\)/))
        after = substr(after, 1, RSTART - 1) "translate(" substr(after, RSTART + 15, RLENGTH - 15) substr(after, RSTART + RLENGTH)
    $0 = before " d=\"" short_path(d) "\"" after
}

colours { print_cells() }

{ print }
