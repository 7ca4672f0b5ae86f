"""reports.py: the commands that print what is in memory."""

import os

from heed_debug import files, graph, numbers, passes, svg
from heed_debug.commands import command
from heed_debug.debugger import debugger
from heed_debug.target import DebuggerError


@command("graph [T]", "the graph of the running backward pass, or the graph that computed T; --svg draws it")
def show_graph(argument):
    """List the nodes of a graph, inputs first: number, operation, name, shape, source line.
Usage: heed graph [T] [all | --svg [FILE.svg]]
Without T: the graph of the running backward pass; => marks the node whose backward runs.
With T: the graph that computed T, a tensor's name, number or variable. The list has only nodes that
require a gradient. |grad| is the L2 norm of the gradient, or - if there is no gradient yet. "freed"
marks a node that was freed after its backward, because no variable holds it.
A list of more than 200 nodes is shortened, unless the last word is `all`. --svg draws the graph, by
default as runs/graph.svg: its arrows show where gradients pass, with their norms."""
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
    return svg.draw(current, file) if draws else graph.graph_lines(current, everything)


@command("grad T", "the gradient of a tensor: by name, number (#3) or variable")
def show_grad(argument):
    """Print the gradient of a tensor.
Usage: heed grad NAME | #NUMBER | VARIABLE"""
    return [graph.gradient_report(*passes.find_tensor(argument))]


@command("show X", "an array or a tensor's value: matrix, min, max, mean, norm")
def show(argument):
    """Print an array or a tensor's value, with its min, max, mean and norm.
Usage: heed show VARIABLE | NAME | #NUMBER | grad T
NaN and infinities are left out of min, max, mean and norm, and are counted."""
    title, array = passes.find_array(argument)
    return [title + " = " + numbers.array_text(array), numbers.summary(array)]


@command("why T", "the contributions to a gradient: node, source line, norm")
def why(argument):
    """List the contributions to a gradient: for each +=, the node it came from and its source line.
Usage: heed why NAME | #NUMBER | VARIABLE
The engine records contributions only on request: `set environment HEED_TRACE provenance` before
`run`, or backward(loss, options) with options.observer = &provenance, a heed::Provenance."""
    current, node = passes.find_tensor(argument)
    if not node.contributions:
        raise DebuggerError("heed: " + graph.no_contributions(current, node, debugger.PROVENANCE))
    return graph.contribution_lines(current, node)


@command("save X FILE", "write an array as .npy or .csv", completes="file")
def save(argument):
    """Write an array, or a tensor's value, to a file.
Usage: heed save X FILE.npy | FILE.csv
X is a variable, a name, #NUMBER, or `grad T`. A .npy file stores the exact bits; a .csv file has
one line per row."""
    words = argument.split()
    if len(words) < 2:
        raise DebuggerError("heed: save takes an array and a file, such as: heed save weights w.npy")
    _, array = passes.find_array(" ".join(words[:-1]))
    files.save(array, os.path.expanduser(words[-1]))
    return ["wrote %s to %s" % (numbers.shape_text(array.shape), words[-1])]


@command("back", "the call stack without the engine's frames", kind="stack", completes="none")
def back(_):
    """List the call stack without the engine's frames: only frames of operations and of the program.
Usage: heed back
The numbers are gdb's frame numbers, as in `frame 4`."""
    debugger.check_running()
    return [graph.frame_line(number, debugger.function_name(frame), *debugger.source_location(frame))
            for number, frame in user_frames()]


def user_frames():
    """[(number, frame)] of the frames outside the engine and the libraries."""
    located = [(number, frame, debugger.source_location(frame)[0])
               for number, frame in enumerate(debugger.frames())]
    return [(number, frame) for number, frame, path in located if path and not graph.ENGINE.fullmatch(path)]
