"""marking.py: `heed mark` and `heed again`."""

import re

import gdb

from heed_debug import breakpoints, gdb_target, outputs, passes
from heed_debug.memory import DebuggerError


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
        raise DebuggerError("heed: the process cannot be copied (is it a core file?): %s"
                            % gdb_target.reason(error))
    after, current = checkpoints()
    return max(after - before - {current})


def delete(number):
    """Ends a copy of the process. gdb 13 crashes when it deletes number 0, the process it started."""
    if number != 0:
        gdb.execute("delete checkpoint %d" % number, to_string=True)


def remember(number):
    global _mark
    _mark = number, passes.state(), outputs.state()


def mark():
    gdb_target.check_running()
    previous = _mark
    remember(checkpoint())
    if previous is not None:
        delete(previous[0])
    print("marked; `heed again` returns to this place")


def again():
    """Goes to the marked process, deletes the one that was stopped here, and copies the mark again."""
    gdb_target.check_running()
    if _mark is None:
        raise DebuggerError("heed: no place is marked; `heed mark` marks this one")
    _, left = checkpoints()
    if left != _mark[0]:  # after the program ended, gdb itself goes on with the marked process
        with breakpoints.stop_events():
            gdb.execute("restart %d" % _mark[0], to_string=True)
        delete(left)
    continue_mark()
    print(gdb.execute("frame", to_string=True).strip())


def continue_mark():
    """Copies the marked process, which now runs, so that `heed again` can return to it once more."""
    passes.restore(_mark[1])
    outputs.restore(_mark[2])
    remember(checkpoint())


def continue_mark_if_any():
    if _mark is None:
        return False
    continue_mark()
    return True


breakpoints.when_process_changed[:] = [continue_mark_if_any]
