"""nonfinite.py: runs the program to the first NaN or infinity: `heed nan`."""

from heed_debug import graph, numbers, reports
from heed_debug.commands import command
from heed_debug.control import control
from heed_debug.debugger import debugger
from heed_debug.node import Link, Node
from heed_debug.target import DebuggerError


def nonfinite_counts(array):
    return numbers.count_nonfinite(array.numbers()) if numbers.is_real(array) else (0, 0, 0)


def new_nonfinite(value, inputs, allows_infinity):
    """The counts of nonfinite numbers that an operation produced, or None. Ignores minus infinity if an
    input contained it, or if the operation (a mask) declares that it may write minus infinity."""
    nan, plus, minus = nonfinite_counts(value)
    if nan or plus:
        return nan, plus, minus
    if not minus or allows_infinity:
        return None
    return None if any(nonfinite_counts(node.value)[2] for node in inputs) else (nan, plus, minus)


def input_lines(inputs):
    return ["  input %s, made at %s: %s" % (graph.title(node), node.location, numbers.summary(node.value))
            for node in inputs]


def value_report(op, value, location, inputs, allows_infinity):
    """Lines about the result of an operation, or None if all of it is finite."""
    for node in inputs:
        if node.depth == 0 and nonfinite_counts(node.value)[0]:
            return ["forward: the input %s, made at %s, has %s" % (
                graph.title(node), node.location, numbers.nonfinite_text(nonfinite_counts(node.value)))]
    counts = new_nonfinite(value, inputs, allows_infinity)
    if counts is None:
        return None
    return ["forward: %s %s, made at %s, has %s" % (
        op, numbers.shape_text(value.shape), location, numbers.nonfinite_text(counts))] + input_lines(inputs)


def gradient_report(node, i, part):
    """Lines about a gradient that a node passes to its input i, or None if all of it is finite."""
    if i >= len(node.inputs) or not node.inputs[i].address:
        return None
    counts = nonfinite_counts(part)
    if not any(counts) or not Node(node.target, node.inputs[i]).requires_grad:
        return None
    return ["backward: %s, made at %s, passes a gradient with %s to its input %d" % (
        graph.title(node), node.location, numbers.nonfinite_text(counts), i),
        "  upstream gradient (dy): " + numbers.summary(node.grad)] + input_lines(
            [Node(node.target, link) for link in node.inputs if link.address])


def may_write_infinity(op):
    try:
        return control.may_write_infinity(debugger.target.type("heed::" + op))
    except DebuggerError:
        return False


class NonfiniteWatch:
    """Checks every value passed to heed::finish and every gradient passed to heed::accumulate. The
    methods return True to stop the program. The lines to print are then in `report`."""

    def __init__(self):
        self.report = None

    def check_value(self):
        value, op, location, links = control.finish_arguments()
        self.report = value_report(
            op, value, location, [Node(debugger.target, link) for link in links if link.address],
            may_write_infinity(op))
        return self.report is not None

    def check_gradient(self):
        from_, i, read_part = control.accumulate_arguments()
        node = Node(debugger.target, Link(from_, 0))
        self.report = gradient_report(node, i, read_part())
        return self.report is not None


@command("nan", "run to the first value or gradient that is not finite", kind="running", completes="none")
def run_to_nonfinite(_):
    """Run to the first value or gradient that is not finite, forward or backward.
Usage: heed nan
Prints the operation, the line that called it, and its inputs. Ignores minus
infinity in the output of mask operations, and of operations with an input that contained it."""
    debugger.check_running()
    control.require_function("heed::finish", "heed nan")
    watch = NonfiniteWatch()
    stops = [control.at_entry("heed::finish", watch.check_value)]
    if debugger.target.find_function("heed::accumulate"):  # a program without a backward pass has none
        stops.append(control.at_entry("heed::accumulate", watch.check_gradient))
    if control.run_to(*stops):
        yield from watch.report
    elif not debugger.is_stopped():
        yield ("the program ended; since `heed nan` all values and gradients were finite "
               "(minus infinity is allowed in masks)")
    if debugger.is_stopped():
        for number, frame in reports.user_frames()[:1]:  # the line that made the nonfinite value
            yield from debugger.select(number, frame)
