"""nonfinite_text.py: what `heed nan` says about a value or a gradient that is not finite."""

from heed_debug import graph, memory, numbers


def nonfinite_counts(array):
    return numbers.count_nonfinite(array.numbers()) if numbers.is_real(array) else (0, 0, 0)


def new_nonfinite(value, inputs, may_write_infinity):
    """The counts of nonfinite numbers that an operation produced, or None. Ignores minus infinity if an
    input contained it, or if the operation (a mask) declares that it may write minus infinity."""
    nan, plus, minus = nonfinite_counts(value)
    if nan or plus:
        return nan, plus, minus
    if not minus or may_write_infinity:
        return None
    return None if any(nonfinite_counts(node.value)[2] for node in inputs) else (nan, plus, minus)


def input_lines(inputs):
    return ["  input %s, made at %s: %s" % (graph.title(node), node.location, numbers.summary(node.value))
            for node in inputs]


def value_report(op, value, location, inputs, may_write_infinity):
    """Lines about the result of an operation, or None if all of it is finite."""
    for node in inputs:
        if node.depth == 0 and nonfinite_counts(node.value)[0]:
            return ["forward: the input %s, made at %s, has %s" % (
                graph.title(node), node.location, numbers.nonfinite_text(nonfinite_counts(node.value)))]
    counts = new_nonfinite(value, inputs, may_write_infinity)
    if counts is None:
        return None
    return ["forward: %s %s, made at %s, has %s" % (
        op, numbers.shape_text(value.shape), location, numbers.nonfinite_text(counts))] + input_lines(inputs)


def gradient_report(node, i, part):
    """Lines about a gradient that a node passes to its input i, or None if all of it is finite."""
    if i >= len(node.inputs) or not node.inputs[i].address:
        return None
    counts = nonfinite_counts(part)
    if not any(counts) or not memory.Node(node.target, node.inputs[i]).requires_grad:
        return None
    return ["backward: %s, made at %s, passes a gradient with %s to its input %d" % (
        graph.title(node), node.location, numbers.nonfinite_text(counts), i),
        "  upstream gradient (dy): " + numbers.summary(node.grad)] + input_lines(
            [memory.Node(node.target, link) for link in node.inputs if link.address])
