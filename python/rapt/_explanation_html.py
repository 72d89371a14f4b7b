"""An explanation in a cell of a notebook: tokens, a heat map of attention, predictions, statistics. Well below 100 KB: lists are
cut, and what is left out is counted."""
from html import escape

from ._figures import heatmap
from ._html import SUMMARY

TOKENS = 28 # of a heat map's side, and of a list
PREDICTIONS = 20
ROWS = 80 # of statistics
LABEL = 24 # characters of a token
TABLE = '<table style="color:inherit;font-size:inherit">'


def _label(text):
    return escape(text if len(text) <= LABEL else text[:LABEL - 1] + "\u2026")


def _token(text):
    """A token as it is predicted; a space is an open box, as in labels."""
    return f"<code>{_label(text.replace(' ', chr(0x2423)))}</code>"


def _sequence(name, labels):
    shown = " ".join(f'<code style="border:1px solid #8888;border-radius:3px;padding:0 3px">{_label(label)}</code>'
                     for label in labels[:TOKENS])
    more = f" and {len(labels) - TOKENS} more" if len(labels) > TOKENS else ""
    return f"<div><b>{escape(name)}</b> {shown}{more}</div>"


def _heads_mean(array):
    """[query][key], the mean over the heads."""
    heads, queries, keys = array.shape
    rows = array[:, :TOKENS, :TOKENS].tolist()
    return [[sum(head[q][k] for head in rows) / heads for k in range(min(keys, TOKENS))] for q in range(min(queries, TOKENS))]


def _heat_map(name, weights, rows, columns):
    """The library's, with the largest weight at the end of its colors."""
    return heatmap(weights, rows[:len(weights)], columns[:len(weights[0])], title=f"{name}, mean over the heads", x="key",
                   y="query", low=0, high=max(max(row) for row in weights) or 1, maps=2)


def last_attention(names):
    """The name of the weights of the last cross-attention, or else of the last attention; None: there are none."""
    names = [name for name in names if name.endswith("attention.weights") and not name.startswith("grad:")]
    crossing = [name for name in names if name.endswith("cross_attention.weights")]
    return (crossing or names or [None])[-1]


def _attention(e):
    name = last_attention(e)
    if name is None:
        return ""
    labels = list(e.sequences.values())
    crosses = name.endswith("cross_attention.weights")
    queries = labels[-1] if crosses or not name.startswith("encoder.") else labels[0]
    keys = labels[0] if crosses else queries
    weights = _heads_mean(e[name][0])
    return _heat_map(name, weights, queries, keys) if weights and weights[0] else ""


def _predictions(e):
    labels = list(e.sequences.values())[-1]
    rows = []
    for label, p in list(zip(labels, e.predictions()))[:PREDICTIONS]:
        best = " ".join(f"<td>{_token(token)} {probability:.3f}</td>"
                        for token, probability in list(zip(p.tokens, p.probabilities))[:3])
        rows.append(f"<tr><td><code>{_label(label)}</code></td>{best}</tr>")
    more = f"<div>and after {len(labels) - PREDICTIONS} more tokens</div>" if len(labels) > PREDICTIONS else ""
    head = '<tr><th>after</th><th colspan="3">most probable, with probability</th></tr>'
    return f"{TABLE}{head}{''.join(rows)}</table>{more}" if rows else ""


def _statistics(e):
    steps = e.statistics()
    rows = []
    for step in steps[:ROWS]:
        numbers = "".join(f"<td>{step[key]:.4g}</td>" if isinstance(step[key], (int, float)) else f"<td>{step[key]}</td>"
                          for key in ("min", "mean", "max", "std"))
        name = ("grad:" if step["gradient"] else "") + step["name"]
        rows.append(f"<tr><td>{escape(name)}</td><td>{' &times; '.join(map(str, step['shape']))}</td>{numbers}</tr>")
    more = f"<div>and {len(steps) - ROWS} more: see statistics()</div>" if len(steps) > ROWS else ""
    head = "<tr><th>name</th><th>shape</th><th>min</th><th>mean</th><th>max</th><th>std</th></tr>"
    return f"<details>{SUMMARY}{len(steps)} arrays</summary>{TABLE}{head}{''.join(rows)}</table>{more}</details>"


def page(e):
    """The HTML of a cell."""
    loss = "" if e.loss is None else f"<div>loss {e.loss:.4g} nats per token</div>"
    sequences = "".join(_sequence(name, labels) for name, labels in e.sequences.items())
    return f"<div>{sequences}{loss}{_attention(e)}{_predictions(e)}{_statistics(e)}</div>"
