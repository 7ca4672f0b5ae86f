"""watch_text.py: the table of `heed watch`."""

import math
import re

from heed_debug import graph, numbers
from heed_debug.memory import DebuggerError

MAX_WATCHED = 4000000  # elements of the tensor; a larger one would take seconds per step
HEADS = ("pass", "|value|", "|grad|", "|update|", "update/value")


def difference_norm(a, b):
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)))


def row(number, before, grad, after):
    """A line of the table: `before` and `after` are the values before and after the update."""
    length = math.hypot(*before)
    update = None if after is None else difference_norm(after, before)
    ratio = update / length if update is not None and length > 0 else None
    cells = [str(number)] + ["-" if x is None else numbers.decimal(x) for x in (length, grad, update, ratio)]
    return "  ".join(cell.rjust(12) for cell in cells)


def head_lines(node):
    return ["%s, made at %s" % (graph.title(node), node.location),
            "  ".join(head.rjust(12) for head in HEADS)]


def parse(argument):
    """Returns the tensor's text and the number of steps of `heed watch T [STEPS]`."""
    words = argument.split()
    if len(words) < 2 or not re.fullmatch(r"[-+]?[\d.]+(e\d+)?", words[-1]):
        return argument, 5
    if not re.fullmatch(r"\d+", words[-1]) or int(words[-1]) == 0:
        raise DebuggerError("heed: `heed watch` takes a tensor and a positive number of steps, such as: "
                            "heed watch %s 20" % " ".join(words[:-1]))
    return " ".join(words[:-1]), int(words[-1])


def check(current, node):
    """Raises DebuggerError for a tensor that cannot be watched."""
    if node.depth > 0:
        raise DebuggerError("heed: %s is the result of an operation, which each step computes anew; watch a "
                            "parameter" % current.title(node))
    if node.value.size > MAX_WATCHED:
        raise DebuggerError("heed: %s has more than %d numbers" % (current.title(node), MAX_WATCHED))


def grad_norm(node):
    return math.hypot(*node.grad.numbers()) if node.has_grad else None
