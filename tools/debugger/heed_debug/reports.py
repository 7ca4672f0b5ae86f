"""reports.py: the commands that print what is in memory, for gdb and LLDB; each returns a text."""

import os

from heed_debug import files, graph, numbers, passes, svg
from heed_debug.debugger import debugger
from heed_debug.memory import DebuggerError

WITHOUT_ARGUMENT = ("out", "in", "nan", "back", "mark", "again")
HELP = """heed graph [T]     the graph of the running backward pass, or the graph that computed T; --svg draws it
heed step [WHAT]   run to the backward of a node: the Nth from here, an operation, a name, #3
heed out           run to the end of the node's backward: the gradients it returned, and to whom
heed in            step to the next line of an operation or the program, past engine and libraries
heed check [T]     compare a node's gradients with central differences (calls its forward and backward)
heed grad T        the gradient of a tensor: by name, number (#3) or variable
heed show X        an array or a tensor's value: matrix, min, max, mean, norm
heed why T         the contributions to a gradient: node, source line, norm
heed nan           run to the first value or gradient that is not finite
heed watch W [N]   N training steps: norms of value, gradient, update, and update/value
heed back          the call stack without the engine's frames
heed save X FILE   write an array as .npy or .csv"""


def show_graph(argument):
    debugger.check_running()
    words = argument.split()
    draws, file = "--svg" in words, ""
    if draws:
        words, file = words[: words.index("--svg")], " ".join(words[words.index("--svg") + 1:])
    everything = words[-1:] == ["all"]
    text = " ".join(words[:-1] if everything else words)
    if text:
        _, node = passes.find_tensor(text)
        if not node.requires_grad:
            raise DebuggerError("heed: %s does not require a gradient, so it has no graph"
                                % graph.title(node))
        current = passes.graph_of(node.link)
    else:
        current = passes.require_pass()[0]
    return "\n".join(svg.draw(current, file) if draws else graph.graph_lines(current, everything))


def show_grad(argument):
    return graph.gradient_report(*passes.find_tensor(argument))


def show(argument):
    title, array = passes.find_array(argument)
    return title + " = " + numbers.array_text(array) + "\n" + numbers.summary(array)


def why(argument, setting):
    """`setting` is the debugger's command that makes the engine record contributions."""
    current, node = passes.find_tensor(argument)
    if not node.contributions:
        raise DebuggerError("heed: " + graph.no_contributions(current, node, setting))
    return "\n".join(graph.contribution_lines(current, node))


def save(argument):
    words = argument.split()
    if len(words) < 2:
        raise DebuggerError("heed: save takes an array and a file, such as: heed save weights w.npy")
    _, array = passes.find_array(" ".join(words[:-1]))
    files.save(array, os.path.expanduser(words[-1]))
    return "wrote %s to %s" % (numbers.shape_text(array.shape), words[-1])


def back():
    debugger.check_running()
    return "\n".join(frame_line(number, frame) for number, frame in user_frames())


def user_frames():
    """[(number, frame)] of the frames outside the engine and the libraries."""
    located = [(number, frame, debugger.source_location(frame)[0])
               for number, frame in enumerate(debugger.frames())]
    return [(number, frame) for number, frame, path in located if path and not graph.ENGINE.fullmatch(path)]


def frame_line(number, frame):
    path, line = debugger.source_location(frame)
    return "#%-2d %s at %s:%d" % (number, debugger.function_name(frame), graph.short_path(path), line)
