"""entering.py: `heed in`, which steps on to the next line of an operation or of the program."""

import gdb

from heed_debug import breakpoints, gdb_target, graph
from heed_debug.memory import DebuggerError

MAX_STEPS = 3000


def skip_libraries():
    """Makes gdb's `step` pass over the functions of libraries, also over inlined ones."""
    pattern = "^(std|xt|xtl|xsimd|__gnu_cxx)::"
    if pattern not in gdb.execute("info skip", to_string=True):
        gdb.execute("skip -rfu " + pattern, to_string=True)


def position():
    frame = gdb.newest_frame()
    sal = frame.find_sal()
    return sal.symtab.fullname() if sal.symtab else "", sal.line, gdb_target.function_name(frame)


def in_engine():
    """Whether the innermost frame is in the engine, in a library, or in code without -g."""
    file, line, _ = position()
    return not file or line == 0 or graph.ENGINE.fullmatch(file) is not None


def step_in():
    """Steps to another line outside the engine and the libraries."""
    gdb_target.check_running()
    gdb.newest_frame().select()
    start = position()
    with breakpoints.stop_events() as events:
        for _ in range(MAX_STEPS):
            try:
                gdb.execute("step", to_string=True)
            except gdb.error as error:
                raise breakpoints.cannot_continue(error)
            if gdb.selected_thread() is None:
                return print("the program ended; `run` starts it again")
            interrupted = events and isinstance(events[-1], (gdb.BreakpointEvent, gdb.SignalEvent))
            if interrupted or position() != start and not in_engine():
                return print(gdb.execute("frame", to_string=True).strip())
    raise DebuggerError("heed: %d steps led to no line outside the engine; `finish` ends this function"
                        % MAX_STEPS)
