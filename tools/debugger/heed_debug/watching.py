"""watching.py: runs the program through training steps: `heed watch`."""

import math
import re

from heed_debug import graph, numbers, outputs, passes, running
from heed_debug.commands import command
from heed_debug.control import control
from heed_debug.debugger import debugger
from heed_debug.node import Node
from heed_debug.target import DebuggerError

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


@command("watch W [N]", "N training steps: norms of value, gradient, update, and update/value", kind="running")
def watch(argument):
    """Run several training steps, and print how a parameter changes in each.
Usage: heed watch NAME | VARIABLE [STEPS]
Each line has a backward pass and the update after it: the norm of the value, of the gradient that the
pass computed, of the update, and update/value. It stops at the beginning of the pass after the last
step. STEPS is 5 unless given."""
    debugger.check_running()
    control.require_function("heed::backward", "heed watch")
    text, count = parse(argument)
    current, node = passes.find_tensor(text)
    check(current, node)
    control.check_can_continue()
    yield from head_lines(node)
    if passes.running_pass() is None and running.run_to_pass() is None:
        return control.report_end("")
    for number in range(1, count + 1):
        if not control.run_to(outputs.at_return_to(running.caller_of_backward())):
            return control.report_end("")
        before = Node(node.target, node.link)
        values, grad = before.value.numbers(), grad_norm(before)
        going_on = running.run_to_pass() is not None
        after = Node(node.target, node.link).value.numbers() if debugger.is_stopped() else None
        yield row(number, values, grad, after)
        if not going_on:
            return control.report_end("")
