"""entering.py: `heed in`, which steps on to the next line of an operation or of the program."""

from heed_debug import graph
from heed_debug.commands import command
from heed_debug.control import control
from heed_debug.debugger import debugger
from heed_debug.target import DebuggerError

MAX_STEPS = 3000
LIBRARIES = "^(std|xt|xtl|xsimd|__gnu_cxx)::"  # functions that a step passes over


def position():
    frame = debugger.newest_frame()
    return debugger.source_line(frame), debugger.function_name(frame)


def in_engine():
    """Whether the innermost frame is in the engine, in a library, or in code without -g."""
    (file, line), _ = position()
    return not file or line == 0 or graph.ENGINE.fullmatch(file) is not None


@command("in", "step to the next line of an operation or the program, past engine and libraries",
         kind="running", completes="none")
def step_in(_):
    """Step to the next line of an operation or of the program, like gdb's `step`, but past the engine.
Usage: heed in
At a line of the program that calls an operation, it stops in the operation's function, then in its
forward. In a backward, it stops at the next line of the operation."""
    debugger.check_running()
    control.check_can_continue()
    debugger.select(0, debugger.newest_frame())
    start = position()
    with control.stepping() as was_interrupted:
        for _ in range(MAX_STEPS):
            control.step_line()
            if not debugger.is_stopped():
                yield control.end_of_steps()
                return
            if was_interrupted() or position() != start and not in_engine():
                yield control.stop_text()
                return
    raise DebuggerError("heed: %d steps led to no line outside the engine; `finish` ends this function"
                        % MAX_STEPS)
