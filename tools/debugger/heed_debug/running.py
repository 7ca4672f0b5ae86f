"""running.py: runs the program to the backward of a node: `heed step`."""

import re

import gdb

from heed_debug import gdb_target, graph, memory, numbers, outputs, passes
from heed_debug.breakpoints import (InternalBreakpoint, function_exists, report_end, require_function,
                                    run_to, stop_at_return)
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError

APPLY_BACKWARD = 2  # the index of Node::apply_backward in the vtable, after two destructors


def first_argument():
    """The value of `this` at the first instruction of a member function."""
    frame = gdb.newest_frame()
    register = "x0" if frame.architecture().name().startswith("aarch64") else "rdi"
    return int(frame.read_register(register)) & (2 ** 64 - 1)


def operation_of(node):
    """The operation of a node: "heed::Softmax" for the type heed::OpNode<heed::Softmax, 1ul>."""
    class_name = memory.node_class(target, node.address)
    found = re.match(r"heed::(?:float64::)?OpNode<(.*?)(?:, \d+ul)?>$", class_name)
    return found.group(1) if found else None


def in_backward_loop():
    """Whether the innermost frame is the overload of heed::backward with a parameter `upstream`."""
    return gdb_target.variable(gdb.newest_frame(), "upstream") is not None


def run_to_pass():
    """Runs to the beginning of the next backward pass."""
    outputs.clear()
    if not run_to(InternalBreakpoint("heed::backward", in_backward_loop, function=True)):
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
    nodes = current.nodes if current else []
    if any(wanted in (node.op, node.name) for node in nodes):
        leaf = [n for n in nodes if n.name == wanted and n.depth == 0]
        if leaf:
            raise DebuggerError("heed: '%s' is a leaf and has no backward; `heed why %s` shows where its "
                                "gradient came from" % (wanted, wanted))
        return
    if re.fullmatch(r"\w+", wanted) and function_exists("heed::%s::backward" % wanted):
        return
    if current:
        raise DebuggerError("heed: this pass has no operation and no tensor named '%s'; `heed graph` "
                            "lists its nodes" % wanted)


def find_next(wanted):
    """Returns the graph and the node to stop at, and the node whose backward runs before it (or None),
    in the running backward pass or else in a later one."""
    matches, count = node_filter(wanted)
    found = passes.running_pass()
    if is_name(wanted):
        check_exists(wanted, found[0] if found else None)
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
    frame = passes.backward_frame()
    while gdb_target.function_name(frame) in ("heed::backward", "heed::Tensor::backward"):
        frame = frame.older()
    return frame


def stop_at_end_of_pass(wanted, current):
    """Runs to the end of a pass that has no node WANTED, and lists what it has."""
    operations = graph.operations_text(current)
    if not run_to(stop_at_return(caller_of_backward())):
        return None
    gdb.newest_frame().select()
    raise DebuggerError("heed: this pass had no '%s', only %s; it has ended, in %s; another `heed step %s` "
                        "searches the next pass" % (
                            wanted, operations, gdb_target.function_name(gdb.newest_frame()), wanted))


def step(wanted):
    """Runs to a node's backward and stops on its first line."""
    gdb_target.check_running()
    require_function("heed::backward", "heed step")
    if re.fullmatch(r"0+|-\d+", wanted):
        raise DebuggerError("heed: `heed step` takes a positive number of steps, an operation, "
                            "a tensor's name, or a node's number such as #3")
    found = find_next(wanted or "1")
    if found is None or not run_to_node(*found):
        return report_end(wanted)
    current, node, before = found
    operation = operation_of(node)
    if operation and function_exists(operation + "::backward"):
        breakpoint = InternalBreakpoint(operation + "::backward", function=True)
        breakpoint.thread = gdb.selected_thread().num
        if not run_to(breakpoint):
            return report_end(wanted)
        enter_inlined(operation + "::backward")
    if current.running is None:
        print(graph.new_pass_text(current))
    for line in outputs.passed_lines() if before is not None else []:
        print(line)
    show_node(node)


def start_of(node):
    """A breakpoint at the beginning of the apply_backward of a node."""
    method = memory.pointer(target, node.vtable + 8 * APPLY_BACKWARD)
    return InternalBreakpoint("*0x%x" % method, lambda: first_argument() == node.address)


def run_to_node(current, node, before):
    """Runs to the apply_backward of a node, and records what the backward of the node before passes."""
    if before is None:
        return run_to(start_of(node))
    runs = current.running is not None and current.nodes[current.running].address == before.address
    if runs and outputs.kept(before) and passes.apply_frame(passes.backward_frame()) is None:
        return run_to(start_of(node))
    if not runs and not run_to(start_of(before)):
        return False
    recorder = outputs.Recorder(current, before)
    if not run_to(start_of(node), recorder.breakpoint):
        return False
    recorder.keep()
    return True


def enter_inlined(function):
    """Enters an inlined function: gdb stops in its caller, from which `step` enters the function."""
    frame = gdb.newest_frame()
    block = gdb.block_for_pc(frame.pc())
    while block is not None and not block.is_global:
        if block.function is not None and block.function.name.split("(")[0] == function:
            if gdb_target.function_name(frame) != memory.plain(function):
                gdb.execute("step", to_string=True)
            return
        block = block.superblock


def show_node(node):
    current, _ = passes.require_pass()
    node = node.reread() or node
    print("%s, made at %s" % (current.title(node), node.location))
    print("upstream gradient (dy) = " + numbers.array_text(node.grad))
    frame = gdb.newest_frame()
    frame.select()
    lines = gdb.execute("frame", to_string=True).strip().split("\n")
    sal = frame.find_sal()
    source = lines[-1].strip() if len(lines) > 1 else ""
    path, line = gdb_target.source_location(frame)
    if path:
        print("%s, %s:%d" % (gdb_target.function_name(frame), graph.short_path(path), line))
    if source and line == sal.line:
        print(source)
