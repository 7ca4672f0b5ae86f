"""checking.py: `heed check`, which calls heed::check_text in the program."""

import gdb

from heed_debug import gdb_target, graph, memory, outputs, passes
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError


def check(text):
    gdb_target.check_running()
    current, node = passes.find_tensor(text) if text else running_node()
    graph.check_can_check(current, node)
    print(graph.check_report(current, node, call_check(node)))


def running_node():
    current, _ = passes.require_pass()
    if current.running is None:
        raise DebuggerError(outputs.NO_BACKWARD)
    return current, current.nodes[current.running]


def call_check(node):
    """Calls heed::check_text, with breakpoints disabled so that the call cannot stop."""
    enabled = [b for b in gdb.breakpoints() if b.enabled]
    for breakpoint in enabled:
        breakpoint.enabled = False
    try:
        with gdb_target.selection_restored():
            result = gdb.parse_and_eval("(const char*) %s((const %s*) 0x%x)" % (
                gdb_target.find_function("heed::check_text"), target.type("heed::Node"), node.address))
            return memory.c_text(target, int(result))
    except gdb.error as error:
        text = gdb_target.reason(error)
        if "cannot be called" in text or "without a process" in text or "No symbol" in text:
            text = "`heed check` calls the program, so it needs a running program, not a core file"
        raise DebuggerError("heed: " + text)
    finally:
        for breakpoint in enabled:
            breakpoint.enabled = True
