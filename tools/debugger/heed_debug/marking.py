"""marking.py: `heed mark` and `heed again`."""

import re

import gdb

from heed_debug import gdb_control, gdb_target
from heed_debug.commands import command
from heed_debug.remembered import remembered
from heed_debug.target import DebuggerError

# The number of gdb's checkpoint, and what the commands knew when it was made.
_mark = None


def clear(_=None):
    global _mark
    _mark = None


gdb.events.exited.connect(clear)


def checkpoints():
    """Returns the numbers of gdb's checkpoints, and the number of the process that runs."""
    lines = gdb.execute("info checkpoints", to_string=True).split("\n")
    found = [re.match(r"([* ]) (\d+) ", line) for line in lines]
    current = [int(match.group(2)) for match in found if match and match.group(1) == "*"]
    return {int(match.group(2)) for match in found if match}, current[0] if current else 0


def checkpoint():
    """Makes a checkpoint, a copy of the process that gdb keeps stopped, and returns its number."""
    if len(gdb.selected_inferior().threads()) > 1:
        raise DebuggerError("heed: a process with several threads cannot be copied; `set environment "
                            "OMP_NUM_THREADS 1` and OPENBLAS_NUM_THREADS 1, then `run` again")
    before, _ = checkpoints()
    try:
        gdb.execute("checkpoint", to_string=True)
    except gdb.error as error:
        raise DebuggerError("heed: the process cannot be copied: %s"
                            % gdb_control.reason(error))
    after, current = checkpoints()
    return max(after - before - {current})


def delete(number):
    """Ends a copy of the process. gdb 13 crashes when it deletes number 0, the process it started."""
    if number != 0:
        gdb.execute("delete checkpoint %d" % number, to_string=True)


def remember(number):
    global _mark
    _mark = number, remembered.copy()


@command("mark", "mark this place (copies the process: calls fork); `heed again` returns to it",
         kind="running", completes="none")
def mark(_):
    """Mark this place; `heed again` returns to it.
Usage: heed mark
Copies the process with gdb's `checkpoint`, which calls fork() in the program. The program must have one
thread, as `heed debug` sets it up. Files and output that the program wrote later are not undone."""
    gdb_target.check_running()
    previous = _mark
    remember(checkpoint())
    if previous is not None:
        delete(previous[0])
    return ["marked; `heed again` returns to this place"]


@command("again", kind="running", completes="none")
def again(_):
    """Go back to the place that `heed mark` marked, as often as you like.
Usage: heed again"""
    gdb_target.check_running()
    if _mark is None:
        raise DebuggerError("heed: no place is marked; `heed mark` marks this one")
    _, left = checkpoints()
    if left != _mark[0]:  # after the program ended, gdb itself goes on with the marked process
        with gdb_control.stepping():
            gdb.execute("restart %d" % _mark[0], to_string=True)
        delete(left)
    continue_mark()
    return [gdb_control.stop_text()]


def continue_mark():
    """Copies the marked process, which now runs, so that `heed again` can return to it once more."""
    remembered.restore(_mark[1])
    remember(checkpoint())


def continue_mark_if_any():
    if _mark is None:
        return False
    continue_mark()
    return True


gdb_control.when_process_changed[:] = [continue_mark_if_any]
