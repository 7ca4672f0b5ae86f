"""outputs.py: the gradients that the backward of a node returns, as it passes them to its inputs.

Each of them is the argument `part` of heed::accumulate. Afterwards no variable holds it."""

import gdb

from heed_debug import gdb_target, graph, memory, numbers, passes
from heed_debug.breakpoints import InternalBreakpoint, report_end, run_to, stop_at_return
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError

NO_BACKWARD = "heed: no backward of an operation runs here; `heed step` runs to the next one"

# What the backward of a node returned: its address, its label, and (label of the input, brief text,
# text) of each gradient. It is kept for `heed step`, which begins with it.
_last = None


def clear(_=None):
    global _last
    _last = None


gdb.events.exited.connect(clear)


def state():
    """What restore() needs after the program went back to an earlier time."""
    return _last


def restore(state_):
    global _last
    _last = state_


class Recorder:
    """Records the gradients that the backward of one node passes to heed::accumulate."""

    def __init__(self, current, node):
        self.current, self.node, self.parts = current, node, []
        self.breakpoint = InternalBreakpoint("heed::accumulate", self.record, function=True)

    def record(self):
        frame = gdb.newest_frame()
        if from_node_address(frame) != self.node.address:
            return False
        i = int(frame.read_var("i"))
        links = memory.Node(target, self.node.link).inputs
        if i < len(links) and links[i].address:
            node = memory.Node(target, links[i])
            if node.requires_grad:
                part = gdb_target.array_of(frame.read_var("part"))
                self.parts.append((self.current.label(node), numbers.brief_text(part),
                                   numbers.array_text(part)))
        return False

    def keep(self):
        global _last
        _last = self.node.address, self.current.label(self.node), self.parts


def from_node_address(frame):
    value = frame.read_var("from")
    return int(value.address or value.referenced_value().address)


def kept(node):
    """Whether the gradients that the node returned were recorded."""
    return _last is not None and _last[0] == node.address


def passed_lines():
    """What the last recorded node passed to its inputs, one line for each."""
    if _last is None:
        return []
    return ["%s passed to %s: %s" % (_last[1], label, brief) for label, brief, _ in _last[2]]


def show():
    """Runs until the backward of the running node has returned, and prints the returned gradients."""
    current, _ = passes.require_pass()
    if current.running is None:
        raise DebuggerError(NO_BACKWARD)
    node = current.nodes[current.running]
    frame = passes.backward_frame()
    if passes.apply_frame(frame) is not None:
        recorder = Recorder(current, node)
        if not run_to(stop_at_return(frame), recorder.breakpoint):
            return report_end("")
        recorder.keep()
    elif not kept(node):
        raise DebuggerError(NO_BACKWARD)
    print("%s, made at %s, passed" % (current.title(node), node.location))
    for label, _, text in _last[2]:
        print("to %s: %s" % (label, text))
