"""rerunning.py: goes back in time: `heed goto`, `back-step`, `rewind`, `first` and `blame`.

The commands run the program again from its start. heed computes the same bits each time, so that the program
gets to the same place with the same values."""

import os
import re
import shlex
import subprocess

from heed_debug import graph, outputs, passes, running
from heed_debug.commands import command
from heed_debug.control import control
from heed_debug.debugger import debugger
from heed_debug.remembered import remembered
from heed_debug.target import DebuggerError

LAST_STEP = "heed::app::compute_last_step"  # the function of `heed replay` that computes the step --to
TO = r"(^|\s)--to[=\s]\s*\S+"


def num_passes():
    """The number of backward passes that have begun. (The engine counts the searches of their nodes.)"""
    return debugger.target.pointer(debugger.global_address("heed::num_searches"))


def moment():
    """The number of the latest pass, and the number of the node whose backward runs: -1 after the pass."""
    found, number = passes.running_pass(), num_passes()
    if found is None:
        return number, -1
    if found[0].running is not None:
        return number, found[0].running
    # Whether heed::backward has searched the nodes of this pass, and so counted it.
    has_searched = number > 0 and found[0].nodes[-1].field("last_search") == number
    return number - has_searched, -1


def run_again(breakpoint, target):
    """Runs the program from its start to a breakpoint."""
    remembered.clear()
    if not control.run_again(breakpoint):
        raise DebuggerError("heed: the program did not get to %s; `heed goto` or `run` starts it again" % target)


def start_pass(number):
    """Runs the program again to the beginning of the backward pass of this number. Returns its graph."""
    run_again(control.at_function("heed::backward", lambda: running.in_backward_loop() and num_passes() >= number - 1),
              "backward pass %d" % number)
    return passes.running_pass()[0]


def is_replay():
    return debugger.target.find_function(LAST_STEP) is not None


def start_step(step=None):
    """Runs a replay again to the beginning of a step. None means the step at which it began."""
    arguments = control.arguments()
    if step is not None:
        control.set_arguments("%s --to %s" % (re.sub(TO, "", arguments), step))
    try:
        run_again(control.at_function(LAST_STEP, lambda: True), "step %s" % (step or "--to"))
    except DebuggerError:
        control.set_arguments(arguments)
        raise


@command("goto STEP", "run again to a step of the replayed run, or to a backward pass", kind="starting")
def goto(step):
    """Run the program again, to the beginning of a step.
Usage: heed goto STEP
In a replay (./heed debug RUN) the program stops before it computes that step of the run, in other
programs at the beginning of the backward pass of that number since the start. Breakpoints stay, and do
not stop the program on the way."""
    if not re.fullmatch(r"[1-9]\d*", step):
        raise DebuggerError("heed: `heed goto` takes the number of a step, such as: heed goto 300")
    control.require_function("heed::backward", "heed goto")
    with control.without_breakpoints():
        if is_replay():
            start_step(step)
            return control.position_lines()
        return [graph.new_pass_text(start_pass(int(step)))] + control.position_lines()


@command("back-step", "run again to the node before in the backward pass, or in the pass before",
         kind="running", completes="none")
def back_step(_):
    """Go back to the node whose backward ran before this one.
Usage: heed back-step
Before the first node of a pass it goes to the last node of the pass before; after a pass, to its last
node. The program runs again from its start; breakpoints stay, and do not stop it on the way."""
    debugger.check_running()
    control.require_function("heed::backward", "heed back-step")
    number, node = moment()
    with control.without_breakpoints():
        while number > 0:
            nodes = start_pass(number).nodes
            before = [i for i in range(node + 1, len(nodes)) if nodes[i].depth > 0]
            if before:
                return running.step("#%d" % before[0])[1:]  # without the line of a new pass
            number, node = number - 1, -1
    raise DebuggerError("heed: no backward pass was computed before%s" % (
        "; `heed goto STEP` goes to an earlier step" if is_replay() else ""))


@command("rewind", "run again to the beginning of the step", kind="starting", completes="none")
def rewind(_):
    """Go back to the beginning of the step.
Usage: heed rewind
In a replay that is where `heed goto` stops, in other programs where the backward pass before has
returned, or main. The program runs again from its start; breakpoints stay."""
    with control.without_breakpoints():
        if is_replay() and not (debugger.is_stopped() and passes.running_pass() and not is_in_last_step()):
            start_step()
            return control.position_lines()
        debugger.check_running()
        control.require_function("heed::backward", "heed rewind")
        number, node = moment()
        if number - (node >= 0) == 0:
            run_again(control.at_function("main", lambda: True), "main")
        else:
            start_pass(number - (node >= 0))
            control.run_to(outputs.at_return_to(running.caller_of_backward()))
    return control.position_lines()


def is_in_last_step():
    return any(debugger.function_name(frame) == LAST_STEP for frame in debugger.frames())


# ---- other commands of heed, on the run that is replayed


def run_command(name, words):
    """Runs `heed first` or `heed blame` on the run. Returns its exit code and the lines that it prints."""
    if not is_replay():
        raise DebuggerError("heed: `heed %s` needs a run that is replayed: ./heed debug RUN" % name)
    program = os.path.join(os.path.dirname(debugger.program_path()), name)
    of_run = shlex.split(re.sub(TO + r"|\s--out[=\s]\s*\S+|[<>].*", " ", control.arguments()))
    environment = {key: value for key, value in os.environ.items() if key != "HEED_TRACE"}
    try:
        done = subprocess.run([program] + of_run + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, env=environment)
    except OSError as error:
        raise DebuggerError("heed: %s: %s; `./heed debug RUN` builds it" % (program, error.strerror))
    text = re.sub(r"To step through it: .* --to (\d+)", r"`heed goto \1` goes there", done.stdout)
    errors = done.stderr.replace("heed: error: ", "heed: ") if done.returncode else ""  # otherwise notes of --near
    return done.returncode, (text + errors).rstrip().split("\n")


@command("first WHAT", "the first step at which a condition holds, and go there", kind="starting")
def first(argument):
    """Find the first step of the replayed run at which a condition holds, and go to its beginning.
Usage: heed first CONDITION [--every-step]
CONDITION is that of ./heed first, such as: train_loss > 1.6 * median"""
    condition, *flags = re.split(r"\s+(?=--every-step$)", argument)
    code, lines = run_command("first", [condition.strip("\"'")] + flags)
    found = re.match(r"step (\d+):", lines[0])
    yield from lines[:-1] if found else lines
    if code == 0 and found:
        yield from goto(found.group(1))


@command("blame W[i,j]", "the steps, windows and tokens that changed an element most", kind="starting")
def blame(argument):
    """Find what changed an element of a parameter, in the run that is replayed.
Usage: heed blame NAME[i,j] [--step STEP]
It prints the steps that changed the element most and, for the first of them or for STEP, the windows of
the batch, the tokens and the operations whose gradient did it, as ./heed blame does."""
    return run_command("blame", shlex.split(argument))[1]
