"""commands.py: what `heed ...` does at gdb's prompt."""

import os
import re

import gdb

from heed_debug import files, graph, memory, numbers, passes, running
from heed_debug import gdb_target as here
from heed_debug.memory import Trouble

HELP = """heed graph [T]     the graph that is running backward, or the one behind T
heed step [WHAT]   run to the next node of the backward pass: the Nth, an operation, a name, #3
heed grad T        a gradient: by name, number (#3) or variable
heed show X        an array or a tensor: its matrix, min, max, mean, norm
heed why T         where each part of a gradient came from
heed nan           run on to the first value or gradient that is not finite
heed back          the frames, without the engine's own
heed save X FILE   write an array as .npy or .csv
break heed::Softmax::backward stops in an operation; `help heed step` and so on say more"""

WELCOME = """Stopped at main. From here on:
  heed step            to the next node of the backward pass; heed step Softmax: to that operation
  heed graph           all its nodes, and which one is running
  info args, print dy  arrays as matrices; heed why W_K: where each part of a gradient came from
  heed                 lists all there is, and `help heed step` and so on say more"""


class HeedCommand(gdb.Command):
    """Attention's arrays, graphs and gradients, read from memory.
`heed` alone lists what there is."""

    def __init__(self):
        super().__init__("heed", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument, from_tty):
        if argument.strip() == "welcome":
            return print(WELCOME)
        if argument.strip():
            raise gdb.GdbError("heed: there is no `heed %s`; `heed` lists what there is"
                               % argument.split()[0])
        print(HELP)


def command(name, kind, completer=gdb.COMPLETE_SYMBOL):
    """Makes a function a command; its docstring is the help. Trouble is told in one line."""
    def make(function):
        def invoke(self, argument, from_tty):
            try:
                function(argument.strip())
            except Trouble as trouble:
                text = str(trouble)
                raise gdb.GdbError(text if text.startswith("heed: ") else "heed: " + text)
            except gdb.GdbError:
                raise
            except KeyboardInterrupt:
                raise gdb.GdbError("heed: interrupted")
            except (gdb.error, gdb.MemoryError) as error:
                raise gdb.GdbError("heed: " + str(error).split("\n")[0])
            except Exception as error:
                raise gdb.GdbError("heed: `heed %s` could not do it: %s: %s"
                                   % (name, type(error).__name__, str(error).split("\n")[0]))
        members = {"__doc__": function.__doc__, "invoke": invoke}
        type("Heed" + name.title(), (gdb.Command,), members)("heed " + name, kind, completer)
        return function
    return make


def register():
    HeedCommand()

    @command("graph", gdb.COMMAND_DATA)
    def show_graph(argument):
        """List the nodes of a graph, inputs first: number, operation, name, shape, where from.
Usage: heed graph [T] [all]
Without T: the graph whose backward pass is running; => stands at the node whose turn it is.
With T: the graph behind a tensor, by name, number or variable. Only nodes that want a gradient
have numbers. |grad| is the length of the gradient as one vector, - where there is none yet;
"freed" is a node that has sent its gradient on and that nobody else holds.
More than 200 nodes are cut, unless the last word is `all`."""
        words = argument.split()
        everything = bool(words) and words[-1] == "all"
        text = " ".join(words[:-1] if everything else words)
        here.check_running()
        if not text:
            current = passes.need_pass()[0]
        else:
            _, node = passes.tensor_called(text)
            if not node.requires_grad:
                raise Trouble("heed: %s asks for no gradient, so there is no graph behind it"
                              % graph.title(node))
            current = passes.graph_behind(node.link)
        print("\n".join(graph.graph_lines(current, everything)))

    @command("step", gdb.COMMAND_RUNNING)
    def step(argument):
        """Run to a node's turn in the backward pass, and stop on the first line of its backward.
Usage: heed step [N | OPERATION | NAME | #NUMBER]
Without a word the next node; N the Nth from here; OPERATION such as Softmax the next of that kind;
NAME the tensor of that name; #NUMBER that of `heed graph`. Where no pass is running, or this one
has no more of them, it runs to the next pass. Shows the gradient that arrives there."""
        running.step(argument)

    @command("grad", gdb.COMMAND_DATA)
    def show_grad(argument):
        """Print the gradient of a tensor.
Usage: heed grad NAME | #NUMBER | VARIABLE"""
        current, node = passes.tensor_called(argument)
        print(graph.gradient_report(current, node))

    @command("show", gdb.COMMAND_DATA)
    def show(argument):
        """Print an array, or a tensor's value, and its min, max, mean and norm.
Usage: heed show VARIABLE | NAME | #NUMBER | grad T
NaN and infinities are counted, and left out of min, max, mean and norm."""
        title, array = passes.array_called(argument)
        shape = numbers.shape_text(array.shape)
        title = title[: -len(shape)].rstrip() if title.endswith(shape) else title
        print(title + " = " + numbers.array_text(array))
        print(numbers.summary(array))

    @command("why", gdb.COMMAND_DATA)
    def why(argument):
        """Tell where a gradient came from: each += into it, from which node, made at which line.
Usage: heed why NAME | #NUMBER | VARIABLE
The engine keeps this when it is asked to: `set environment HEED_TRACE provenance` before `run`,
or backward(loss, options) with options.provenance = true."""
        current, node = passes.tensor_called(argument)
        if not node.contributions:
            raise Trouble("heed: " + without_sources(current, node))
        print("\n".join(graph.source_lines(current, node)))

    @command("nan", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
    def run_to_nan(argument):
        """Run on to the first value or gradient that is not finite, forward or backward.
Usage: heed nan
Names the operation, the line that called it, and its inputs. Minus infinity is what masks are
made of: it counts only where it comes up without one."""
        if argument:
            raise Trouble("heed: nan takes no argument")
        running.run_to_nan()
        if gdb.selected_thread() is not None:
            select_readers_frame()

    @command("back", gdb.COMMAND_STACK, gdb.COMPLETE_NONE)
    def back(argument):
        """List the frames without the engine's own: operations and the program itself.
Usage: heed back
Numbers are gdb's, for `frame 4`."""
        here.check_running()
        for level, frame in readers_frames():
            print(frame_line(level, frame))

    @command("save", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)
    def save(argument):
        """Write an array, or a tensor's value, to a file.
Usage: heed save X FILE.npy | FILE.csv
X is a variable, a name, #NUMBER, or `grad T`. A .npy file is NumPy's, bit for bit; a .csv file
has a line for each row."""
        words = argument.split()
        if len(words) < 2:
            raise Trouble("heed: save takes what to write and a file, such as: heed save weights w.npy")
        _, array = passes.array_called(" ".join(words[:-1]))
        files.save(array, os.path.expanduser(words[-1]))
        print("wrote %s to %s" % (numbers.shape_text(array.shape), words[-1]))


def without_sources(current, node):
    title = current.title(node)
    if not node.requires_grad:
        return title + " asks for no gradient"
    if not node.has_grad:
        return title + " has no gradient yet" + (
            "" if current.running is not None else "; `heed step` runs to the next backward pass")
    if current.nodes and node.address == current.nodes[-1].address:
        return title + " is where the pass began: its gradient was given, not added up"
    return (title + " has a gradient, but its parts were not kept; "
            "`set environment HEED_TRACE provenance`, then `run` again")


# ---- frames

# By their files: the floors below the operations, and libraries.
ENGINE = re.compile(r".*/(src|include/heed)/(array|autograd)/.*|/usr/.*|.*/(xtensor|xsimd|xtl)/.*|.*/c\+\+/.*")


def readers_frames():
    result = []
    for level, frame in enumerate(here.frames()):
        place = frame.find_sal()
        if place.symtab and not ENGINE.fullmatch(place.symtab.fullname()):
            result.append((level, frame))
    return result


def frame_line(level, frame):
    place = frame.find_sal()
    return "#%-2d %s at %s:%d" % (level, here.name_of(frame),
                                 running.short_path(place.symtab.fullname()), place.line)


def select_readers_frame():
    """The reader's line that made the bad value, not the engine's that found it."""
    for level, frame in readers_frames()[:1]:
        frame.select()
        print(frame_line(level, frame))
