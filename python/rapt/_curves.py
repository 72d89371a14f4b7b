"""Curves of a run as a small SVG."""
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 280, 56, 16, 24, 36
POINTS = 500 # of a curve, at most
COLORS = ("#1f6fb4", "#d1495b")


def _thinned(points):
    """Every n-th point, and the last."""
    step = max(1, -(-len(points) // POINTS))
    return points[::step] + (points[-1:] if step > 1 else [])


def _ticks(low, high):
    """Some round numbers between two bounds."""
    span = (high - low) or 1
    unit = 10 ** len(str(int(span)))
    while span / unit < 3:
        unit /= 10
    unit *= next(f for f in (1, 2, 5) if span / (unit * f) <= 6 or f == 5)
    first = -(-low // unit)
    return [k * unit for k in range(int(first), int(high // unit) + 1)]


def svg(curves, title):
    """curves: (name, [(step, value)]) each; points whose value is None are left out."""
    curves = [(name, _thinned([p for p in points if p[1] is not None])) for name, points in curves]
    curves = [(name, points) for name, points in curves if points]
    every = [p for _, points in curves for p in points]
    if not every:
        return f"<p>{escape(title)}: no report yet</p>"
    x0, x1 = min(p[0] for p in every), max(p[0] for p in every)
    y0, y1 = min(p[1] for p in every), max(p[1] for p in every)

    def x(step):
        return LEFT + (step - x0) / ((x1 - x0) or 1) * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - (value - y0) / ((y1 - y0) or 1) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif" '
           f'font-size="11"><title>{escape(title)}</title>']
    for tick in _ticks(y0, y1):
        out.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#888" stroke-opacity=".3"/>'
                   f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end" fill="#888">{tick:.6g}</text>')
    for tick in _ticks(x0, x1):
        out.append(f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" fill="#888">{tick:.6g}</text>')
    for i, (name, points) in enumerate(curves):
        color = COLORS[i % len(COLORS)]
        line = " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in points)
        dot = "".join(f'<circle cx="{x(s):.1f}" cy="{y(v):.1f}" r="2.5" fill="{color}"/>' for s, v in points[-1:])
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>{dot}'
                   f'<text x="{LEFT + 150 * i}" y="14" fill="{color}">{escape(name)} {points[-1][1]:.4g}</text>')
    out.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end" fill="#888">step</text></svg>')
    return "".join(out)
