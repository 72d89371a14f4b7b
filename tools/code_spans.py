"""Runs of code points, for make_unicode.py and compare_unicode.py."""


def spans(codes):
    """[first, last] of runs of code points that follow each other."""
    found = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found
