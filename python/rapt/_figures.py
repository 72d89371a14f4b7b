"""Figures in a cell of a notebook, as the library draws them: SVG without a network, in the colors of a light or a dark page. A cell
keeps its HTML, so that each is below LIMIT characters."""
from . import _rapt
from ._html import Html

LIMIT = 100_000
CELL = 12  # characters of a heat map's cell, at most
MAPS = 8   # of an array
POINTS = 500


def heatmap(matrix, rows=None, columns=None, *, title=None, x=None, y=None, low=None, high=None, maps=1):
    """One heat map of a matrix, an Html. It has as many cells as fit if there are `maps` of them in a cell of a notebook."""
    cells = max(8, min(64, int((0.8 * LIMIT / maps / CELL) ** 0.5)))
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
    """A heat map of a matrix, with names for its rows and columns: an Html, which a notebook shows and `save` writes. ValueError:
    the array does not have 2 dimensions, or another number of names."""
    return heatmap(self, rows, columns, title=self.name, **_axes(self))


def _axes(array):
    """The names of the last two dimensions, where they have names."""
    axes = array.axes[-2:]
    return {"y": axes[0], "x": axes[1]} if len(axes) == 2 else {}


def array_html(self):
    """Shape, statistics, and for 2 to 4 dimensions heat maps, at most 8."""
    from html import escape
    shape = " &times; ".join(map(str, self.shape)) or "no dimensions"
    axes = f" ({escape(' '.join(self.axes))})" if self.axes else ""
    text = f"<div><b>{escape(self.name or 'Array')}</b> {self.dtype} {shape}{axes}"
    count = 1
    for size in self.shape:
        count *= size
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
