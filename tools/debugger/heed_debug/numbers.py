"""numbers.py: arrays as text, cut like NumPy's, and what is said about all of their numbers."""

import itertools
import math
import operator

MOST_SHOWN = 200  # elements; a larger array is cut
EDGE = 3  # at each end of an axis that is cut


def shape_text(shape):
    return "(" + ", ".join(str(n) for n in shape) + ")"


def is_real(array):
    return array.code in "fd"


def indices(n, cut):
    return list(range(n)) if not cut or n <= 2 * EDGE else [*range(EDGE), None, *range(n - EDGE, n)]


def written(values, code):
    """How a number is written, the same for all of an array."""
    if code not in "fd":
        return str
    most = max((abs(v) for v in values if math.isfinite(v)), default=0)
    return ("%.4e" if most >= 1e8 or 0 < most < 1e-3 else "%.4f").__mod__


def row_values(array, row, cut):
    """The numbers of a row that are shown; None stands for those left out."""
    n = array.shape[-1]
    if not cut or n <= 2 * EDGE:
        return list(array.numbers(row * n, n))
    return [*array.numbers(row * n, EDGE), None, *array.numbers(row * n + n - EDGE, EDGE)]


def rows_shown(array, cut):
    """(place, number of the row) of each row that is shown; None for those left out."""
    leading = array.shape[:-1]
    result = []
    for place in itertools.product(*[indices(n, cut) for n in leading]):
        if None in place:
            if all(i == 0 or i is None for i in place[place.index(None) + 1:]):
                result.append((place, None))  # once, however many axes lie behind it
            continue
        row = 0
        for i, n in zip(place, leading):
            row = row * n + i
        result.append((place, row))
    return result


def matrix_lines(array):
    """The rows, aligned; before each matrix of a longer list stands its place."""
    if array.size == 0:
        return ["no elements"]
    if not array.shape:
        value = list(array.numbers())
        return [written(value, array.code)(value[0])]
    cut = array.size > MOST_SHOWN
    rows = [(place, None if row is None else row_values(array, row, cut))
            for place, row in rows_shown(array, cut)]
    shown = [v for _, row in rows if row for v in row if v is not None]
    write = written(shown, array.code)
    width = max(len(write(v)) for v in shown)
    lines, block = [], ()
    for place, row in rows:
        if row is None:
            lines.append("...")
            continue
        if place[:-1] != block:
            block = place[:-1]
            lines.append("[" + ", ".join(map(str, block)) + "]")
        lines.append("  ".join(("..." if v is None else write(v)).rjust(3 if v is None else width)
                               for v in row))
    return lines


def array_text(array, indent="  "):
    lines = matrix_lines(array)
    if array.size == 0:
        return shape_text(array.shape) + " " + lines[0]
    if len(array.shape) < 2:
        return shape_text(array.shape) + "  " + lines[0]
    return shape_text(array.shape) + "".join("\n" + indent + line for line in lines)


def norm(array):
    values = array.numbers()
    return math.sqrt(sum(map(operator.mul, values, values)))


def decimal(x):
    return "%.4e" % x if math.isfinite(x) and (abs(x) >= 1e8 or 0 < abs(x) < 1e-3) else "%.4f" % x


def count_not_finite(values):
    """(NaN, +inf, -inf)"""
    if math.isfinite(sum(values)):
        return 0, 0, 0
    return (sum(v != v for v in values), values.count(math.inf), values.count(-math.inf))


def not_finite_text(counts):
    names = ("NaN", "+inf", "-inf")
    return ", ".join("%d %s" % (n, name) for n, name in zip(counts, names) if n)


def summary(array):
    """min, max, mean and norm of the finite numbers, and how many are not."""
    values = array.numbers()
    if not values:
        return "no elements"
    if not is_real(array):
        return "min %d, max %d, mean %s" % (min(values), max(values), decimal(sum(values) / len(values)))
    counts = count_not_finite(values)
    finite = [v for v in values if math.isfinite(v)] if any(counts) else values
    if not finite:
        return "no finite number: " + not_finite_text(counts)
    length = math.sqrt(sum(map(operator.mul, finite, finite)))
    result = "min %s, max %s, mean %s, norm %s" % tuple(
        decimal(x) for x in (min(finite), max(finite), math.fsum(finite) / len(finite), length))
    return result + (", of the finite ones; not finite: " + not_finite_text(counts)
                     if any(counts) else ", all finite")
