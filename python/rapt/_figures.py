"""Figures in a cell of a notebook, as the library draws them: SVG without a network, in the colors of a light or a dark page. A
notebook keeps its cells' HTML: each is below LIMIT characters."""
from math import prod

from . import _rapt
from ._html import SUMMARY, Html

LIMIT = 100_000
AROUND, CELL = 6000, 12  # characters around a heat map, and of a cell
MAPS = 8   # of an array
POINTS = 500


def heatmap(matrix, rows=None, columns=None, *, title=None, x=None, y=None, low=None, high=None, maps=1):
    """One heat map of a matrix, an Html. It has as many cells as fit if there are `maps` of them in a cell of a notebook."""
    cells = int(max(8, min(64, (max(0, LIMIT / maps - AROUND) / CELL) ** 0.5)))
    options = {"title": title, "x": x, "y": y, "low": low, "high": high, "cells": cells}
    return Html(_rapt.heatmap_svg(matrix, rows, columns, options))


def side_by_side(figures):
    """Figures in a row that wraps."""
    parts = "".join(f"<div style='flex:none'>{figure}</div>" for figure in figures)
    return Html(f"<div style='display:flex;flex-wrap:wrap;gap:8px'>{parts}</div>")


def curves(lines, title, x="step"):
    """Curves of (name, [(x, y)]); points whose y is None are left out, and lines without a point."""
    drawn = []
    for name, points in lines:
        points = [point for point in points if point[1] is not None]
        step = max(1, -(-len(points) // POINTS))
        points = points[::step] + (points[-1:] if step > 1 else [])
        if points:
            drawn.append((name, [point[0] for point in points], [point[1] for point in points]))
    if not drawn:
        from html import escape
        return Html(f"<p>{escape(title)}: no report yet</p>")
    return Html(_rapt.curves_svg(tuple(drawn), {"title": title, "x": x}))


def matrices(array):
    """The matrices of an array of 2 to 4 dimensions, with the indices of each."""
    if len(array.shape) == 2:
        return [((), array)]
    return [((i, *rest), matrix) for i in range(array.shape[0]) for rest, matrix in matrices(array[i])]


def _finite(values):
    """All finite numbers of nested lists."""
    if isinstance(values, list):
        for value in values:
            yield from _finite(value)
    elif abs(values) < float("inf"):
        yield values


def array_heatmap(self, rows=None, columns=None):
    """Array.heatmap."""
    return heatmap(self, rows, columns, title=self.name, **_axes(self))


def _axes(array):
    """The names of the last two dimensions, where they have names."""
    axes = array.axes[-2:]
    return {"y": axes[0], "x": axes[1]} if len(axes) == 2 else {}


def array_html(self):
    """Of an Array or Tensor: shape, statistics, and for 2 to 4 dimensions heat maps, at most 8."""
    from html import escape
    shape = " &times; ".join(map(str, self.shape)) or "no dimensions"
    axes = f" ({escape(' '.join(self.axes))})" if self.axes else ""
    text = f"<div><b>{escape(self.name or type(self).__name__)}</b> {self.dtype} {shape}{axes}"
    count = prod(self.shape)
    if 0 < count <= 1 << 20: # larger ones would take seconds to read
        numbers = list(_finite(self.tolist()))
        if numbers:
            text += f": min {min(numbers):.4g}, mean {sum(numbers) / len(numbers):.4g}, max {max(numbers):.4g}"
            text += f", {count - len(numbers)} not finite" if len(numbers) < count else ""
    text += "</div>"
    if not 2 <= len(self.shape) <= 4 or count == 0:
        return text
    found = matrices(self) if count <= 1 << 20 else [((), self)] if len(self.shape) == 2 else []
    shown = found[:MAPS]
    more = f"<div>{len(shown)} of {len(found)} matrices</div>" if len(shown) < len(found) else ""
    return text + side_by_side(heatmap(matrix, title=f"[{', '.join(map(str, place))}]" if place else None, maps=len(shown),
                                       **_axes(self)) for place, matrix in shown) + more


def translation_html(self):
    """The best translation, and where it has an alignment, a heat map of it."""
    from html import escape
    text = f"<div><b>{escape(self.text)}</b></div>"
    best = self.hypotheses[0] if self.hypotheses else None
    if best is None or best.alignment is None or 0 in best.alignment.shape:
        return text
    return text + heatmap(best.alignment, x="source token (the last: <eos>)", y="target token", low=0, high=1)


def model_html(self):
    """The modules of a model with shapes and counts of parameters; parts below the third level are added up."""
    from html import escape
    parameters = {name: array.shape for name, array in self.parameters.items()}
    sizes = {name: prod(shape) for name, shape in parameters.items()}
    groups = {}
    for name in parameters:
        groups.setdefault(".".join(name.split(".")[:-1][:3]) or name, []).append(name)
    rows = "".join(f"<tr><td>{escape(group)}</td><td>{sum(sizes[name] for name in names):,}</td>"
                   f"<td>{escape(_shapes(names, parameters))}</td></tr>" for group, names in list(groups.items())[:200])
    more = f"<div>and {len(groups) - 200} more modules</div>" if len(groups) > 200 else ""
    head = "<tr><th>module</th><th>parameters</th><th>shapes</th></tr>"
    return (f"<div><b>{escape(repr(self))}</b>: {sum(sizes.values()):,} parameters</div>"
            f"<details>{SUMMARY}{len(groups)} modules</summary><table>{head}{rows}</table></details>{more}")


def _shapes(names, parameters):
    """The first shapes of a module's parameters."""
    shown = ", ".join(f"{name.rsplit('.', 1)[-1]} {list(parameters[name])}" for name in names[:4])
    return shown + (", ..." if len(names) > 4 else "")
