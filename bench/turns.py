"""Two sides measured in turns, for the scripts of this folder: machines drift, so that only figures of one minute compare."""
import importlib.util
import json
import statistics
import time


def has(package):
    return importlib.util.find_spec(package) is not None


def in_turns(rounds, **sides):
    """The figures of each side: functions that return one, called in turns."""
    figures = {name: [] for name in sides}
    for _ in range(rounds):
        for name, measure in sides.items():
            figures[name].append(measure())
    return figures


def seconds(work, *arguments):
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def ratios(ours, theirs, more_is_better=True):
    """How many times better rapt is, round by round."""
    return [a / b if more_is_better else b / a for a, b in zip(ours, theirs)]


class Figure:
    """A figure in every round: ours, and where there is another side theirs, which `beside` names with its version."""

    def __init__(self, name, unit, ours, theirs=None, beside=None, more_is_better=True):
        self.name, self.unit, self.ours, self.theirs, self.beside = name, unit, ours, theirs, beside
        self.more_is_better = more_is_better

    def summary(self):
        """For JSON: medians, and the least, the median and the greatest of the rounds' ratios, above 1 if rapt is the better one."""
        row = dict(name=self.name, unit=self.unit, rounds=len(self.ours), rapt=statistics.median(self.ours))
        if self.theirs:
            times = ratios(self.ours, self.theirs, self.more_is_better)
            row.update(beside=self.beside, other=statistics.median(self.theirs), least=min(times), times=statistics.median(times),
                       most=max(times))
        return row


def print_json(figures):
    """What a script with --json prints: one line, which side_by_side.py reads."""
    print(json.dumps([figure.summary() for figure in figures]), flush=True)
