"""d2l's show_heatmaps, in HTML."""
from . import _rapt
from ._figures import heatmap, side_by_side
from ._html import Html
from ._nn_module import as_tensor


def show_heatmaps(matrices, xlabel, ylabel, titles=None):
    """Heat maps side by side: matrices [rows, columns, queries, keys], [columns, queries, keys] or [queries, keys]; `titles` has
    one for each column. All share one scale of colors, from the smallest element (0 if none is negative) to the largest. Returns
    an Html of less than 100 kB, which a notebook shows and `save` writes: the more maps, the fewer cells each has."""
    X = as_tensor(matrices)
    if not 2 <= len(X.shape) <= 4:
        raise _rapt.InvalidValueError(f"matrices have 2 to 4 dimensions, not {len(X.shape)}")
    grid = X.reshape(*(1,) * (4 - len(X.shape)), *X.shape)
    rows, columns = grid.shape[:2]
    if titles is not None and len(titles) != columns:
        raise _rapt.InvalidValueError(f"there are {len(titles)} titles for {columns} columns")
    if rows * columns > 64:
        raise _rapt.InvalidValueError(f"{rows * columns} heat maps are more than the 64 that fit into a cell; show fewer of them")
    finite = [x for row in grid.tolist() for matrix in row for line in matrix for x in line if abs(x) < float("inf")]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    return Html("".join(
        side_by_side(heatmap(grid[i, j], title=None if titles is None or i else str(titles[j]), x=str(xlabel), y=str(ylabel),
                             low=low, high=high if high > low else low + 1, maps=rows * columns) for j in range(columns))
        for i in range(rows)))
