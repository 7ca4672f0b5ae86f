"""outputs.py: the gradients that the backward of a node returns, as it passes them to its inputs.

Each of them is the argument `part` of heed::accumulate. Afterwards no variable holds it."""

from heed_debug import numbers, passes
from heed_debug.commands import command
from heed_debug.control import control
from heed_debug.debugger import debugger
from heed_debug.node import Node
from heed_debug.remembered import remembered
from heed_debug.target import DebuggerError

NO_BACKWARD = "heed: no backward of an operation runs here; `heed step` runs to the next one"

class Recorder:
    """Records the gradients that the backward of one node passes to heed::accumulate."""

    def __init__(self, current, node):
        self.current, self.node, self.parts = current, node, []
        self.breakpoint = control.at_entry("heed::accumulate", self.record)

    def record(self):
        from_, i, read_part = control.accumulate_arguments()
        if from_ != self.node.address:
            return False
        links = Node(debugger.target, self.node.link).inputs
        if i < len(links) and links[i].address:
            node = Node(debugger.target, links[i])
            if node.requires_grad:
                part = read_part()
                self.parts.append((self.current.label(node), numbers.brief_text(part),
                                   numbers.array_text(part)))
        return False

    def keep(self):
        remembered.passed = self.node.address, self.current.label(self.node), self.parts


def kept(node):
    """Whether the gradients that the node returned were recorded."""
    return remembered.passed is not None and remembered.passed[0] == node.address


def passed_lines():
    """What the last recorded node passed to its inputs, one line for each."""
    if remembered.passed is None:
        return []
    return ["%s passed to %s: %s" % (remembered.passed[1], label, brief) for label, brief, _ in remembered.passed[2]]


def running_node():
    """Returns the running pass's graph and the node whose backward runs."""
    current, _ = passes.require_pass()
    if current.running is None:
        raise DebuggerError(NO_BACKWARD)
    return current, current.nodes[current.running]


def at_return_to(frame):
    """A breakpoint where the callee of `frame` returns to it, not in a recursive call of its function."""
    address, stack = debugger.place(frame)
    return control.at_address(address, lambda: debugger.place(debugger.newest_frame())[1] == stack)


@command("out", "run to the end of the node's backward: the gradients it returned, and to whom",
         kind="running", completes="none")
def out(_):
    """Run until the backward of the running node has returned, and print the gradients it returned.
Usage: heed out
Prints each gradient and the input to which it is passed. The engine adds it to the gradient of that
input: `heed grad` prints the sum."""
    current, node = running_node()
    frame = debugger.backward_frame()
    if passes.apply_frame(frame) is not None:
        recorder = Recorder(current, node)
        if not control.run_to(at_return_to(frame), recorder.breakpoint):
            control.report_end("")
            return []
        recorder.keep()
    elif not kept(node):
        raise DebuggerError(NO_BACKWARD)
    return ["%s, made at %s, passed" % (current.title(node), node.location)] + [
        "to %s: %s" % (label, text) for label, _, text in remembered.passed[2]]
