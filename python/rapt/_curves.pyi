from collections.abc import Sequence

WIDTH: int
HEIGHT: int
LEFT: int
RIGHT: int
TOP: int
BOTTOM: int
POINTS: int
COLORS: tuple[str, ...]

def svg(curves: Sequence[tuple[str, Sequence[tuple[float, float | None]]]], title: str) -> str: ...
