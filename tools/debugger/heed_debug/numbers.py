"""numbers.py: formats arrays as text, shortened like NumPy's, and computes min, max, mean, norm."""

import itertools
import math
import operator

MAX_ELEMENTS = 200  # a larger array is shortened
MAX_INLINE = 4  # a brief text has all numbers of an array up to this size
MAX_SUMMARIZED = 400000  # a brief text of a larger array has no norm, which would take 0.1 s to compute
EDGE = 3  # entries kept at each end of a shortened axis


def shape_text(shape):
    return "(" + ", ".join(str(n) for n in shape) + ")"


def expression_text(shape):
    """The text of an xtensor expression, whose own members are thousands of characters."""
    return "unevaluated xtensor expression%s; declare it as Array" % (
        "" if shape is None else " of shape " + shape_text(shape))


def is_real(array):
    return array.code in "fd"


def shown_indices(n, shorten):
    """The indices of an axis that are printed; None stands for the omitted indices."""
    return list(range(n)) if not shorten or n <= 2 * EDGE else [*range(EDGE), None, *range(n - EDGE, n)]


def number_formatter(values, code):
    """Returns a function that formats a number, with one format for the whole array."""
    if code not in "fd":
        return str
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0)
    return ("%.4e" if largest >= 1e8 or 0 < largest < 1e-3 else "%.4f").__mod__


def row_values(array, row, shorten):
    """The numbers of a row that are printed; None stands for the omitted numbers."""
    n = array.shape[-1]
    if not shorten or n <= 2 * EDGE:
        return list(array.numbers(row * n, n))
    return [*array.numbers(row * n, EDGE), None, *array.numbers(row * n + n - EDGE, EDGE)]


def shown_rows(array, shorten):
    """Returns (index, row number) of each printed row; the row number is None for omitted rows."""
    leading = array.shape[:-1]
    result = []
    for index in itertools.product(*[shown_indices(n, shorten) for n in leading]):
        if None in index:
            if all(i == 0 or i is None for i in index[index.index(None) + 1:]):
                result.append((index, None))  # one "..." line, for any number of axes after this one
            continue
        row = 0
        for i, n in zip(index, leading):
            row = row * n + i
        result.append((index, row))
    return result


def matrix_lines(array):
    """The rows as aligned text. From rank 3 on, each matrix has a line with its index."""
    if array.size == 0:
        return ["no elements"]
    if not array.shape:
        value = list(array.numbers())
        return [number_formatter(value, array.code)(value[0])]
    shorten = array.size > MAX_ELEMENTS
    rows = [(index, None if row is None else row_values(array, row, shorten))
            for index, row in shown_rows(array, shorten)]
    shown = [v for _, row in rows if row for v in row if v is not None]
    format_number = number_formatter(shown, array.code)
    width = max(len(format_number(v)) for v in shown)
    lines, matrix_index = [], ()
    for index, row in rows:
        if row is None:
            lines.append("...")
            continue
        if index[:-1] != matrix_index:
            matrix_index = index[:-1]
            lines.append("[" + ", ".join(map(str, matrix_index)) + "]")
        lines.append("  ".join(("..." if v is None else format_number(v)).rjust(3 if v is None else width)
                               for v in row))
    return lines


def size_text(array):
    return shape_text(array.shape) + " %d elements" % array.size


def brief_text(array):
    """The array in one line: "(12, 64, 128) norm 1.3021 [-0.2113, 0.4170]", the last two its minimum
    and maximum. Of an array too large to read in a moment, only the shape and the size."""
    shape = shape_text(array.shape)
    if array.size == 0:
        return shape + " no elements"
    if array.size > MAX_SUMMARIZED:
        return size_text(array)
    values = array.numbers().tolist()
    if array.size <= MAX_INLINE:
        return shape + " " + " ".join(map(number_formatter(values, array.code), values))
    if not is_real(array):
        return "%s [%d, %d]" % (shape, min(values), max(values))
    length, nonfinite = math.hypot(*values), ""
    if not math.isfinite(length):
        nonfinite = ", " + nonfinite_text(count_nonfinite(values))
        values = [v for v in values if math.isfinite(v)]
        length = math.hypot(*values)
    if not values:
        return shape + " " + nonfinite[2:]
    return "%s norm %s [%s, %s]%s" % (
        shape, decimal(length), decimal(min(values)), decimal(max(values)), nonfinite)


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


def count_nonfinite(values):
    """Counts the elements that are NaN, +inf and -inf."""
    if math.isfinite(sum(values)):
        return 0, 0, 0
    return (sum(v != v for v in values), values.count(math.inf), values.count(-math.inf))


def nonfinite_text(counts):
    names = ("NaN", "+inf", "-inf")
    return ", ".join("%d %s" % (n, name) for n, name in zip(counts, names) if n)


def summary(array):
    """min, max, mean and norm of the finite numbers, and the count of nonfinite ones."""
    values = array.numbers()
    if not values:
        return "no elements"
    if not is_real(array):
        return "min %d, max %d, mean %s" % (min(values), max(values), decimal(sum(values) / len(values)))
    counts = count_nonfinite(values)
    finite = [v for v in values if math.isfinite(v)] if any(counts) else values
    if not finite:
        return "no finite number: " + nonfinite_text(counts)
    length = math.sqrt(sum(map(operator.mul, finite, finite)))
    result = "min %s, max %s, mean %s, norm %s" % tuple(
        decimal(x) for x in (min(finite), max(finite), math.fsum(finite) / len(finite), length))
    return result + (", of the finite numbers; not finite: " + nonfinite_text(counts)
                     if any(counts) else ", all finite")
