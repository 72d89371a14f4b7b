"""Heat maps of attention weights for notebooks: pictures inside of HTML, which needs no network and no package."""
from ._html import Html
from ._nn_module import as_tensor

LIMIT = 100_000  # characters: a notebook keeps the HTML of each cell


def _palette():
    """256 colors from white over red to dark red, each step evenly between its ends."""
    ends = ((255, 245, 240), (251, 106, 74), (103, 0, 13))
    colors = bytearray()
    for i in range(256):
        half, t = (0, i / 127.5) if i < 128 else (1, i / 127.5 - 1)
        colors += bytes(round(a + (b - a) * min(t, 1)) for a, b in zip(ends[half], ends[half + 1]))
    return bytes(colors)


def _png(rows, low, high):
    """A picture of a matrix, a pixel an element, as a data: address."""
    import base64
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    scale = 255 / (high - low) if high > low else 0.0
    lines = b"".join(b"\0" + bytes(min(255, max(0, round((x - low) * scale))) if x == x else 0 for x in row) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"PLTE", _palette()) +
            chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def show_heatmaps(matrices, xlabel, ylabel, titles=None):
    """Heat maps side by side: matrices [rows, columns, queries, keys], [columns, queries, keys] or [queries, keys]; `titles` has
    one for each column. Returns an Html, which a notebook shows and `save` writes. White is the smallest element (0 if none is
    negative), dark red the largest. ValueError: the pictures would take more than 100 kB; show fewer of them."""
    import html
    X = as_tensor(matrices)
    if not 2 <= len(X.shape) <= 4:
        raise ValueError(f"matrices have 2 to 4 dimensions, not {len(X.shape)}")
    grid = X.reshape(*(1,) * (4 - len(X.shape)), *X.shape).tolist()
    if titles is not None and len(titles) != len(grid[0]):
        raise ValueError(f"there are {len(titles)} titles for {len(grid[0])} columns")
    elements = [x for row in grid for matrix in row for line in matrix for x in line if x == x]
    low, high = min([0.0, *elements]), max([0.0, *elements])
    pixels = max(3, min(24, 240 // max(X.shape[-2:])))
    width, height = X.shape[-1] * pixels, X.shape[-2] * pixels
    x, y = html.escape(str(xlabel)), html.escape(str(ylabel))
    parts = ["<div style='font:12px sans-serif'><table style='border-collapse:collapse'>"]
    for i, row in enumerate(grid):
        parts.append("<tr>")
        for j, matrix in enumerate(row):
            title = f"<div>{html.escape(str(titles[j]))}</div>" if titles is not None and i == 0 else ""
            place = f"{y} from top to bottom, {x} from left to right, row {i}, column {j}"
            parts.append(f"<td style='text-align:center;padding:4px'>{title}<img alt='{place}' title='{place}' "
                         f"src='{_png(matrix, low, high)}' width='{width}' height='{height}' "
                         f"style='image-rendering:pixelated;border:1px solid #999'></td>")
        parts.append("</tr>")
    parts.append(f"</table><div>{y} &darr; &nbsp; {x} &rarr; &nbsp; white {low:.4g}, dark red {high:.4g}</div></div>")
    text = "".join(parts)
    if len(text) > LIMIT:
        raise ValueError(f"the pictures would take {len(text)} characters; a cell of a notebook gets at most {LIMIT}: "
                         "show fewer of them")
    return Html(text)
