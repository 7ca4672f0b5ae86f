"""outputs.py: the gradients that the backward of a node returns, as it passes them to its inputs.

Each of them is the argument `part` of heed::accumulate. Afterwards no variable holds it."""

from heed_debug import memory, numbers, passes
from heed_debug.debugger import breakpoints, debugger
from heed_debug.memory import DebuggerError

NO_BACKWARD = "heed: no backward of an operation runs here; `heed step` runs to the next one"

# What the backward of a node returned: its address, its label, and (label of the input, brief text,
# text) of each gradient. It is kept for `heed step`, which begins with it.
_last = None


def clear(_=None):
    global _last
    _last = None


debugger.when_exited(clear)


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
        self.breakpoint = breakpoints.at_accumulate(self.record)

    def record(self):
        from_, i, read_part = breakpoints.accumulate_arguments()
        if from_ != self.node.address:
            return False
        links = memory.Node(debugger.target, self.node.link).inputs
        if i < len(links) and links[i].address:
            node = memory.Node(debugger.target, links[i])
            if node.requires_grad:
                part = read_part()
                self.parts.append((self.current.label(node), numbers.brief_text(part),
                                   numbers.array_text(part)))
        return False

    def keep(self):
        global _last
        _last = self.node.address, self.current.label(self.node), self.parts


def kept(node):
    """Whether the gradients that the node returned were recorded."""
    return _last is not None and _last[0] == node.address


def passed_lines():
    """What the last recorded node passed to its inputs, one line for each."""
    if _last is None:
        return []
    return ["%s passed to %s: %s" % (_last[1], label, brief) for label, brief, _ in _last[2]]


def running_node():
    """Returns the running pass's graph and the node whose backward runs."""
    current, _ = passes.require_pass()
    if current.running is None:
        raise DebuggerError(NO_BACKWARD)
    return current, current.nodes[current.running]


def out():
    """Runs until the backward of the running node has returned; returns the gradients as lines."""
    current, node = running_node()
    frame = debugger.backward_frame()
    if passes.apply_frame(frame) is not None:
        recorder = Recorder(current, node)
        if not breakpoints.run_to(breakpoints.stop_at_return(frame), recorder.breakpoint):
            breakpoints.report_end("")
            return []
        recorder.keep()
    elif not kept(node):
        raise DebuggerError(NO_BACKWARD)
    return ["%s, made at %s, passed" % (current.title(node), node.location)] + [
        "to %s: %s" % (label, text) for label, _, text in _last[2]]
