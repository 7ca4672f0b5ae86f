"""commands.py: the `heed ...` commands at gdb's prompt."""

import gdb

from heed_debug import attention, checking, entering, marking, nonfinite, outputs, passes, reports, running
from heed_debug.memory import DebuggerError

HELP_LINES = {  # those that only gdb has, and the lines before which they stand
    "heed step": "heed weights T H   the attention weights of head H at a fused Attention node",
    "heed back": "heed mark          mark this place (copies the process: calls fork); `heed again` returns to it"}


def help_text():
    lines = []
    for line in reports.HELP.split("\n"):
        lines += [added for start, added in HELP_LINES.items() if line.startswith(start + " ")] + [line]
    return "\n".join(lines + [
        "break heed::Softmax::backward stops in an operation; `help heed step` explains a command in full"])


WELCOME = """Stopped at main. Some commands:
  heed step            run to the next node of the backward pass (heed step Softmax: to a Softmax node)
  heed out             run to the end of that backward, and print the gradients it returned
  heed graph           list the nodes of the pass; => marks the running one
  info args, print dy  print arrays as matrices (heed why W_K: the contributions to a gradient)
  heed                 list all commands; `help heed step` explains one in full"""


class HeedCommand(gdb.Command):
    """Show arrays, computation graphs and gradients of a heed program, read from memory.
`heed` alone lists the commands."""

    def __init__(self):
        super().__init__("heed", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument, from_tty):
        if argument.strip() == "welcome":
            return print(WELCOME)
        if argument.strip():
            raise gdb.GdbError("heed: there is no command `heed %s`; `heed` lists the commands"
                               % argument.split()[0])
        print(help_text())


def command(name, command_class, completer=gdb.COMPLETE_SYMBOL):
    """Registers a function as gdb command `heed NAME`; its docstring is the command's help text."""
    def register_function(function):
        def invoke(self, argument, from_tty):
            try:
                if argument.strip() and name in reports.WITHOUT_ARGUMENT:
                    raise DebuggerError("heed: `heed %s` takes no argument" % name)
                function(argument.strip())
            except DebuggerError as error:
                text = str(error)
                raise gdb.GdbError(text if text.startswith("heed: ") else "heed: " + text)
            except gdb.GdbError:
                raise
            except KeyboardInterrupt:
                raise gdb.GdbError("heed: interrupted")
            except (gdb.error, gdb.MemoryError) as error:
                raise gdb.GdbError("heed: " + str(error).split("\n")[0])
            except Exception as error:
                raise gdb.GdbError("heed: `heed %s` failed: %s: %s"
                                   % (name, type(error).__name__, str(error).split("\n")[0]))
        members = {"__doc__": function.__doc__, "invoke": invoke}
        type("Heed" + name.title(), (gdb.Command,), members)("heed " + name, command_class, completer)
        return function
    return register_function


def print_lines(lines):
    for line in lines:
        print(line)


def register():
    HeedCommand()
    entering.skip_libraries()

    @command("graph", gdb.COMMAND_DATA)
    def show_graph(argument):
        """List the nodes of a graph, inputs first: number, operation, name, shape, source line.
Usage: heed graph [T] [all | --svg [FILE.svg]]
Without T: the graph of the running backward pass; => marks the node whose backward runs.
With T: the graph that computed T, a tensor's name, number or variable. The list has only nodes that
require a gradient. |grad| is the L2 norm of the gradient, or - if there is no gradient yet. "freed"
marks a node that was freed after its backward, because no variable holds it.
A list of more than 200 nodes is shortened, unless the last word is `all`. --svg draws the graph, by
default as runs/graph.svg: its arrows show where gradients pass, with their norms."""
        print(reports.show_graph(argument))

    @command("weights", gdb.COMMAND_DATA)
    def weights(argument):
        """Print the attention weights of one head at a node of the fused operation Attention.
Usage: heed weights T HEAD [SENTENCE]
The operation does not store them: the command computes them from the queries and keys in memory. T is a
tensor's name, number or variable; heads and sentences are counted from 0."""
        words = argument.split()
        digits = [int(word) for word in words[1:] if word.isdecimal()]
        if not 1 <= len(digits) == len(words) - 1 <= 2:
            raise DebuggerError("heed: weights takes an Attention node and a head, such as: heed weights #26 0")
        current, node = passes.find_tensor(words[0])
        print(attention.report(current, node, digits[0], digits[1] if len(digits) > 1 else 0))

    @command("step", gdb.COMMAND_RUNNING)
    def step(argument):
        """Run until the backward of a node starts, and stop on its first line.
Usage: heed step [N | OPERATION | NAME | #NUMBER]
Without an argument it runs to the next node. N selects the Nth node from here; OPERATION, such as
Softmax, the next node of that operation; NAME the tensor with that name; #NUMBER the node with that
number in `heed graph`. If no pass is running, or the pass has no such node left, the program runs to
the next pass. If a pass has no node of that operation or name, the program stops at the end of the
pass. The command prints what the last node before passed to its inputs, and the node's upstream
gradient."""
        print_lines(running.step(argument))

    @command("out", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
    def out(argument):
        """Run until the backward of the running node has returned, and print the gradients it returned.
Usage: heed out
Prints each gradient and the input to which it is passed. The engine adds it to the gradient of that
input: `heed grad` prints the sum."""
        print_lines(outputs.out())

    @command("in", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
    def step_in(argument):
        """Step to the next line of an operation or of the program, like gdb's `step`, but past the engine.
Usage: heed in
At a line of the program that calls an operation, it stops in the operation's function, then in its
forward. In a backward, it stops at the next line of the operation."""
        entering.step_in()

    @command("check", gdb.COMMAND_DATA)
    def check(argument):
        """Compare the gradients that the backward of a node returns with central differences of its forward.
Usage: heed check [#NUMBER | NAME | VARIABLE]
Without an argument, it checks the node whose backward runs. Of an input with more than 64 elements, it
compares 64, the largest gradients among them. For a node without an upstream gradient it draws a random
one. This command calls functions of the program: the forward and the backward of the node, on copies.
HEED_TRACE=check checks every node of every pass."""
        print(checking.check(argument))

    @command("grad", gdb.COMMAND_DATA)
    def show_grad(argument):
        """Print the gradient of a tensor.
Usage: heed grad NAME | #NUMBER | VARIABLE"""
        print(reports.show_grad(argument))

    @command("show", gdb.COMMAND_DATA)
    def show(argument):
        """Print an array or a tensor's value, with its min, max, mean and norm.
Usage: heed show VARIABLE | NAME | #NUMBER | grad T
NaN and infinities are left out of min, max, mean and norm, and are counted."""
        print(reports.show(argument))

    @command("why", gdb.COMMAND_DATA)
    def why(argument):
        """List the contributions to a gradient: for each +=, the node it came from and its source line.
Usage: heed why NAME | #NUMBER | VARIABLE
The engine records contributions only on request: `set environment HEED_TRACE provenance` before
`run`, or backward(loss, options) with options.provenance = true."""
        print(reports.why(argument, "`set environment HEED_TRACE provenance`"))

    @command("watch", gdb.COMMAND_RUNNING)
    def watch(argument):
        """Run several training steps, and print how a parameter changes in each.
Usage: heed watch NAME | VARIABLE [STEPS]
Each line has a backward pass and the update after it: the norm of the value, of the gradient that the
pass computed, of the update, and update/value. It stops at the beginning of the pass after the last
step. STEPS is 5 unless given."""
        print_lines(running.watch(argument))

    @command("mark", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
    def mark(argument):
        """Mark this place; `heed again` returns to it.
Usage: heed mark
Copies the process with gdb's `checkpoint`, which calls fork() in the program. The program must have one
thread, as `heed debug` sets it up. Files and output that the program wrote later are not undone."""
        marking.mark()

    @command("again", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
    def again(argument):
        """Go back to the place that `heed mark` marked, as often as you like.
Usage: heed again"""
        marking.again()

    @command("nan", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
    def run_to_nan(argument):
        """Run to the first value or gradient that is not finite, forward or backward.
Usage: heed nan
Prints the operation, the line that called it, and its inputs. Ignores minus
infinity in the output of mask operations, and of operations with an input that contained it."""
        print_lines(nonfinite.run_to_nonfinite())
        if gdb.selected_thread() is not None:
            select_user_frame()

    @command("back", gdb.COMMAND_STACK, gdb.COMPLETE_NONE)
    def back(argument):
        """List the call stack without the engine's frames: only frames of operations and of the program.
Usage: heed back
The numbers are gdb's frame numbers, as in `frame 4`."""
        print_lines(reports.back().splitlines())

    @command("save", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)
    def save(argument):
        """Write an array, or a tensor's value, to a file.
Usage: heed save X FILE.npy | FILE.csv
X is a variable, a name, #NUMBER, or `grad T`. A .npy file stores the exact bits; a .csv file has
one line per row."""
        print(reports.save(argument))


def select_user_frame():
    """Selects the innermost frame outside the engine: the line that made the nonfinite value."""
    for number, frame in reports.user_frames()[:1]:
        frame.select()
        print(reports.frame_line(number, frame))
