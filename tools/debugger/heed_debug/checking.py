"""checking.py: `heed check`, which calls heed::check_text in the program."""

from heed_debug import graph, outputs, passes
from heed_debug.debugger import breakpoints, debugger


def check(text):
    debugger.check_running()
    current, node = passes.find_tensor(text) if text else outputs.running_node()
    graph.check_can_check(current, node)
    return graph.check_report(current, node, breakpoints.call_check(node))
