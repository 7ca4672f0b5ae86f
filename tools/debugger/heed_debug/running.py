"""running.py: runs the program to the backward of a node, `heed step`, and through training steps."""

import re

from heed_debug import graph, memory, numbers, outputs, passes, watch_text
from heed_debug.debugger import breakpoints, debugger
from heed_debug.memory import DebuggerError

APPLY_BACKWARD = 2  # the index of Node::apply_backward in the vtable, after two destructors


def operation_of(node):
    """The operation of a node: "heed::Softmax" for the type heed::OpNode<heed::Softmax, 1ul>."""
    class_name = memory.node_class(debugger.target, node.address)
    found = re.match(r"heed::(?:float64::)?OpNode<(.*?)(?:, \d+ul)?>$", class_name)
    return found.group(1) if found else None


def in_backward_loop():
    """Whether the innermost frame is the overload of heed::backward with a parameter `upstream`."""
    return debugger.variable(debugger.newest_frame(), "upstream") is not None


def run_to_pass():
    """Runs to the beginning of the next backward pass. Returns passes.running_pass(), or None."""
    outputs.clear()
    if not breakpoints.run_to(breakpoints.at_function("heed::backward", in_backward_loop)):
        return None
    return passes.running_pass()


def node_filter(wanted):
    """Parses WANTED of `heed step WANTED`. Returns (predicate, n): stop at the n-th node that matches."""
    if re.fullmatch(r"\d+", wanted) and int(wanted) > 0:
        return (lambda graph_, node: True), int(wanted)
    if re.fullmatch(r"#\d+", wanted):
        return (lambda graph_, node: graph_.numbers.get(node.address) == int(wanted[1:])), 1
    return (lambda graph_, node: wanted in (node.op, node.name)), 1


def check_exists(wanted, current):
    """Rejects an unknown operation or name before the program continues."""
    named = [node for node in current.nodes if wanted in (node.op, node.name)]
    if any(node.name == wanted and node.depth == 0 for node in named):
        raise DebuggerError("heed: '%s' is a leaf and has no backward; `heed why %s` shows where its "
                            "gradient came from" % (wanted, wanted))
    is_operation = re.fullmatch(r"\w+", wanted) and breakpoints.function_exists("heed::%s::backward" % wanted)
    if not named and not is_operation:
        raise DebuggerError("heed: this pass has no operation and no tensor named '%s'; `heed graph` "
                            "lists its nodes" % wanted)


def find_next(wanted):
    """Returns the graph and the node to stop at, and the node whose backward runs before it (or None),
    in the running backward pass or else in a later one."""
    matches, count = node_filter(wanted)
    found = passes.running_pass()
    if is_name(wanted) and found:
        check_exists(wanted, found[0])
    while True:
        if found is not None:
            current, pending = found
            before = None if current.running is None else current.nodes[current.running]
            for node in reversed(pending):
                if node.depth > 0 and matches(current, node):
                    count -= 1
                    if count == 0:
                        return current, node, before
                before = node
            if re.fullmatch(r"#\d+", wanted):
                raise DebuggerError("heed: the backward of %s does not run later in this pass; "
                                    "only those of the nodes above => in `heed graph` do" % wanted)
            if is_name(wanted) and not any(matches(current, node) for node in current.nodes):
                return stop_at_end_of_pass(wanted, current)
        found = run_to_pass()
        if found is None:
            return None


def is_name(wanted):
    """Whether WANTED of `heed step WANTED` is an operation or a tensor's name, not a number."""
    return re.fullmatch(r"#?\d+", wanted) is None


def caller_of_backward():
    """The frame of the program that called backward()."""
    frame = debugger.backward_frame()
    while debugger.function_name(frame) in ("heed::backward", "heed::Tensor::backward"):
        frame = debugger.older(frame)
    return frame


def stop_at_end_of_pass(wanted, current):
    """Runs to the end of a pass that has no node WANTED, and lists what it has."""
    operations = graph.operations_text(current)
    if not breakpoints.run_to(breakpoints.stop_at_return(caller_of_backward())):
        return None
    raise DebuggerError("heed: this pass had no '%s', only %s; it has ended, in %s; another `heed step %s` "
                        "searches the next pass" % (
                            wanted, operations, debugger.function_name(debugger.newest_frame()), wanted))


def step(wanted):
    """Runs until the backward of a node starts; returns lines about the node before and this one."""
    debugger.check_running()
    breakpoints.require_function("heed::backward", "heed step")
    if re.fullmatch(r"0+|-\d+", wanted):
        raise DebuggerError("heed: `heed step` takes a positive number of steps, an operation, "
                            "a tensor's name, or a node's number such as #3")
    found = find_next(wanted or "1")
    if found is None or not run_to_node(*found):
        breakpoints.report_end(wanted)
        return []
    current, node, before = found
    operation = operation_of(node)
    if operation and breakpoints.function_exists(operation + "::backward"):
        if not breakpoints.enter(operation + "::backward"):
            breakpoints.report_end(wanted)
            return []
    lines = [graph.new_pass_text(current)] if current.running is None else []
    lines += outputs.passed_lines() if before is not None else []
    return lines + node_lines(node)


def start_of(node):
    """A breakpoint at the beginning of the apply_backward of a node."""
    method = memory.pointer(debugger.target, node.vtable + 8 * APPLY_BACKWARD)
    return breakpoints.at_address(method, lambda: breakpoints.first_argument() == node.address)


def run_to_node(current, node, before):
    """Runs to the apply_backward of a node, and records what the backward of the node before passes."""
    if before is None:
        return breakpoints.run_to(start_of(node))
    runs = current.running is not None and current.nodes[current.running].address == before.address
    if runs and outputs.kept(before) and passes.apply_frame(debugger.backward_frame()) is None:
        return breakpoints.run_to(start_of(node))
    if not runs and not breakpoints.run_to(start_of(before)):
        return False
    recorder = outputs.Recorder(current, before)
    if not breakpoints.run_to(start_of(node), recorder.breakpoint):
        return False
    recorder.keep()
    return True


def node_lines(node):
    current, _ = passes.require_pass()
    node = node.reread() or node
    return ["%s, made at %s" % (current.title(node), node.location),
            "upstream gradient (dy) = " + numbers.array_text(node.grad)] + breakpoints.position_lines()


# ---- heed watch


def watch(argument):
    """Runs several backward passes; yields lines about how the tensor changes after each of them."""
    debugger.check_running()
    breakpoints.require_function("heed::backward", "heed watch")
    text, count = watch_text.parse(argument)
    current, node = passes.find_tensor(text)
    watch_text.check(current, node)
    breakpoints.check_can_continue()
    yield from watch_text.head_lines(node)
    if passes.running_pass() is None and run_to_pass() is None:
        return breakpoints.report_end("")
    for number in range(1, count + 1):
        if not breakpoints.run_to(breakpoints.stop_at_return(caller_of_backward())):
            return breakpoints.report_end("")
        before = memory.Node(node.target, node.link)
        values, grad = before.value.numbers(), watch_text.grad_norm(before)
        going_on = run_to_pass() is not None
        after = memory.Node(node.target, node.link).value.numbers() if debugger.is_stopped() else None
        yield watch_text.row(number, values, grad, after)
        if not going_on:
            return breakpoints.report_end("")
