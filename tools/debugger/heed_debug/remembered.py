"""remembered.py: what the commands know of the program's past."""

import copy

from heed_debug.debugger import debugger


class Remembered:
    def __init__(self):
        self.clear()

    def clear(self, _=None):
        # The nodes of the running backward pass, as last read from memory. (heed::backward removes a node
        # from its own list before it calls the node's apply_backward.)
        self.pass_nodes = None
        # The graph of the last `heed graph T`, to which #N refers when no backward pass is running.
        self.printed_graph = None
        # What the backward of a node returned: its address, its label, and (label of the input, brief text,
        # text) of each gradient. It is kept for `heed step`, which begins with it.
        self.passed = None

    def copy(self):
        return copy.copy(self)

    def restore(self, earlier):
        """Goes back to a copy, when the program went back to an earlier time."""
        vars(self).update(vars(earlier))


remembered = Remembered()
debugger.when_exited(remembered.clear)
