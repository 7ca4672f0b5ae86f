"""watching.py: `heed watch`, `heed mark` and `heed again`."""

import re

import gdb

from heed_debug import breakpoints, gdb_target, memory, outputs, passes, running, watch_text
from heed_debug.memory import DebuggerError


def watch(argument):
    """Runs several backward passes, and prints how the tensor changes after each of them."""
    gdb_target.check_running()
    breakpoints.require_function("heed::backward", "heed watch")
    text, count = watch_text.parse(argument)
    current, node = passes.find_tensor(text)
    watch_text.check(current, node)
    breakpoints.check_can_continue()
    print("\n".join(watch_text.head_lines(node)))
    if passes.running_pass() is None and running.run_to_pass() is None:
        return breakpoints.report_end("")
    for number in range(1, count + 1):
        if not watch_pass(number, node):
            return breakpoints.report_end("")


def watch_pass(number, node):
    """Runs to the end of this pass, then to the next one, and prints a row of the table. Returns false
    if something else stopped the program."""
    if not breakpoints.run_to(breakpoints.stop_at_return(running.caller_of_backward())):
        return False
    before = memory.Node(node.target, node.link)
    values = before.value.numbers()
    grad = watch_text.grad_norm(before)
    going_on = running.run_to_pass() is not None
    stopped = gdb.selected_thread() is not None
    after = memory.Node(node.target, node.link).value.numbers() if stopped else None
    print(watch_text.row(number, values, grad, after))
    return going_on


# ---- heed mark and heed again

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
