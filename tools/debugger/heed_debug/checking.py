"""checking.py: `heed check`, which calls heed::check_text in the program."""

from heed_debug import outputs, passes
from heed_debug.commands import command
from heed_debug.control import control
from heed_debug.debugger import debugger
from heed_debug.target import DebuggerError


@command("check [T]", "compare a node's gradients with central differences (calls its forward and backward)")
def check(text):
    """Compare the gradients that the backward of a node returns with central differences of its forward.
Usage: heed check [#NUMBER | NAME | VARIABLE]
Without an argument, it checks the node whose backward runs. Of an input with more than 64 elements, it
compares 64, the largest gradients among them. For a node without an upstream gradient it draws a random
one. This command calls functions of the program: the forward and the backward of the node, on copies.
HEED_TRACE=check checks every node of every pass."""
    debugger.check_running()
    current, node = passes.find_tensor(text) if text else outputs.running_node()
    check_can_check(current, node)
    return check_report(current, node, debugger.target.c_text(control.call_check(node)))


def check_can_check(current, node):
    """Raises DebuggerError for a node that `heed check` cannot check."""
    if node.depth == 0:
        raise DebuggerError("heed: %s is a leaf, so it has no backward to check" % current.title(node))
    if not node.inputs:
        raise DebuggerError("heed: the inputs of %s were freed after its backward; check it earlier, as in "
                            "`heed step #N`, `heed check`" % current.title(node))


def check_report(current, node, text):
    """The lines to print, from the text that heed::check_text returned."""
    verdict, *lines = text.split("\n")
    verdicts = {"right": "is right", "wrong": "is wrong", "not compared": "was not compared"}
    if verdict not in verdicts:
        raise DebuggerError("heed: %s: the check failed: %s" % (current.title(node), verdict))
    return ["%s, made at %s: its backward %s%s" % (
        current.title(node), node.location, verdicts[verdict],
        "" if node.has_grad else ", for a random upstream gradient")] + ["  " + line for line in lines]
