"""running.py: runs the program to the backward of a node: `heed step`."""

import re

from heed_debug import graph, numbers, outputs, passes
from heed_debug.commands import command
from heed_debug.control import control
from heed_debug.debugger import debugger
from heed_debug.node import node_class
from heed_debug.remembered import remembered
from heed_debug.target import DebuggerError

APPLY_BACKWARD = 2  # the index of Node::apply_backward in the vtable, after two destructors


def operation_of(node):
    """The operation of a node: "heed::Softmax" for the type heed::OpNode<heed::Softmax, 0ul>."""
    class_name = node_class(debugger.target, node.address)
    found = re.match(r"heed::(?:float64::)?OpNode<(.*?)(?:, \d+ul)*>$", class_name)
    return found.group(1) if found else None


def in_backward_loop():
    """Whether the innermost frame is the overload of heed::backward with a parameter `upstream`."""
    return debugger.variable(debugger.newest_frame(), "upstream") is not None


def run_to_pass():
    """Runs to the beginning of the next backward pass. Returns passes.running_pass(), or None."""
    remembered.passed = None
    if not control.run_to(control.at_function("heed::backward", in_backward_loop)):
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
    is_operation = re.fullmatch(r"\w+", wanted) and debugger.target.find_function("heed::%s::backward" % wanted)
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
    if not control.run_to(outputs.at_return_to(caller_of_backward())):
        return None
    raise DebuggerError("heed: this pass had no '%s', only %s; it has ended, in %s; another `heed step %s` "
                        "searches the next pass" % (
                            wanted, operations, debugger.function_name(debugger.newest_frame()), wanted))


@command("step [WHAT]", "run to the backward of a node: the Nth from here, an operation, a name, #3", kind="running")
def step(wanted):
    """Run until the backward of a node starts, and stop on its first line.
Usage: heed step [N | OPERATION | NAME | #NUMBER]
Without an argument it runs to the next node. N selects the Nth node from here; OPERATION, such as
Softmax, the next node of that operation; NAME the tensor with that name; #NUMBER the node with that
number in `heed graph`. If no pass is running, or the pass has no such node left, the program runs to
the next pass. If a pass has no node of that operation or name, the program stops at the end of the
pass. The command prints what the last node before passed to its inputs, and the node's upstream
gradient."""
    debugger.check_running()
    control.require_function("heed::backward", "heed step")
    if re.fullmatch(r"0+|-\d+", wanted):
        raise DebuggerError("heed: `heed step` takes a positive number of steps, an operation, "
                            "a tensor's name, or a node's number such as #3")
    found = find_next(wanted or "1")
    if found is None or not run_to_node(*found):
        control.report_end(wanted)
        return []
    current, node, before = found
    operation = operation_of(node)
    if operation and debugger.target.find_function(operation + "::backward"):
        if not control.enter(operation + "::backward"):
            control.report_end(wanted)
            return []
    lines = [graph.new_pass_text(current)] if current.running is None else []
    lines += outputs.passed_lines() if before is not None else []
    return lines + node_lines(node)


def start_of(node):
    """A breakpoint at the beginning of the apply_backward of a node."""
    method = debugger.target.pointer(debugger.target.pointer(node.address) + 8 * APPLY_BACKWARD)
    return control.at_address(method, lambda: control.first_argument() == node.address)


def run_to_node(current, node, before):
    """Runs to the apply_backward of a node, and records what the backward of the node before passes."""
    if before is None:
        return control.run_to(start_of(node))
    runs = current.running is not None and current.nodes[current.running].address == before.address
    if runs and outputs.kept(before) and passes.apply_frame(debugger.backward_frame()) is None:
        return control.run_to(start_of(node))
    if not runs and not control.run_to(start_of(before)):
        return False
    recorder = outputs.Recorder(current, before)
    if not control.run_to(start_of(node), recorder.breakpoint):
        return False
    recorder.keep()
    return True


def node_lines(node):
    current, _ = passes.require_pass()
    node = node.reread() or node
    return ["%s, made at %s" % (current.title(node), node.location),
            "upstream gradient (dy) = " + numbers.array_text(node.grad)] + control.position_lines()
