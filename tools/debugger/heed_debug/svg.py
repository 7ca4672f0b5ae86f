"""svg.py: draws a computation graph with Graphviz: `heed graph --svg`."""

import os
import subprocess

from heed_debug import graph, numbers
from heed_debug.target import DebuggerError

MAX_NODES = 500  # Graphviz takes minutes for larger graphs


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def passed_norm(node, number_of_users, input_):
    """The norm of the gradient that a node passed to an input, or None: the recorded contribution, or
    the whole gradient of an input that only one node uses."""
    if not input_.has_grad:
        return None
    found = [part.norm for part in input_.contributions
             if (part.op, part.name, part.location) == (node.op, node.name, node.location)]
    if len(found) == 1:
        return found[0]
    return numbers.norm(input_.grad) if number_of_users == 1 else None


def dot_text(current):
    """The graph in Graphviz's language. Arrows point from a node to its inputs, as gradients pass."""
    lines = ["digraph heed {", "  rankdir=BT; bgcolor=white;",
             '  node [shape=box, fontname="Helvetica", fontsize=11]; edge [fontname="Helvetica", fontsize=9];']
    present = {node.address: node.reread() for node in current.nodes}
    users = {}
    edges = []
    for node in current.nodes:
        for address in current.input_addresses(node):
            users[address] = users.get(address, 0) + 1
            edges.append((node, address))
    for i, node in enumerate(current.nodes):
        style = ', style=filled, fillcolor="#ffd9a0"' if i == current.running else (
            ', style=rounded' if node.depth == 0 else "")
        label = "#%d %s\\n%s" % (i, graph.label(node).replace('"', "'"), numbers.shape_text(node.shape))
        lines.append('  n%d [label="%s"%s];' % (i, label, style))
    for node, address in edges:
        input_ = present.get(address)
        norm = passed_norm(node, users[address], input_) if input_ else None
        label = "" if norm is None else " [label=%s]" % quoted(numbers.decimal(norm))
        lines.append("  n%d -> n%d%s;" % (current.numbers[node.address], current.numbers[address], label))
    return "\n".join(lines + ["}"]) + "\n"


def free_path():
    """A path in the folder runs, graph.svg or the first graph-N.svg that does not exist."""
    os.makedirs("runs", exist_ok=True)
    path, i = "runs/graph.svg", 1
    while os.path.exists(path):
        i += 1
        path = "runs/graph-%d.svg" % i
    return path


def draw(current, path):
    """Writes the graph as .gv, and as .svg if Graphviz is installed. Returns the lines to print."""
    if len(current.nodes) > MAX_NODES:
        raise DebuggerError("heed: %d nodes are too many for a picture (at most %d); `heed graph T` lists "
                            "the graph of one tensor" % (len(current.nodes), MAX_NODES))
    if path and not path.endswith(".svg"):
        raise DebuggerError("heed: %s: the file name must end in .svg" % path)
    try:
        path = path or free_path()
        source = path[: -len(".svg")] + ".gv"
        with open(source, "w", encoding="utf-8") as file:
            file.write(dot_text(current))
    except OSError as error:
        raise DebuggerError("heed: %s: %s" % (error.filename or path, error.strerror))
    try:
        subprocess.run(["dot", "-Tsvg", "-o", path, source], check=True, capture_output=True, timeout=120)
    except FileNotFoundError:
        return ["wrote %s; Graphviz is not installed, so there is no picture: apt install graphviz" % source]
    except OSError as error:
        raise DebuggerError("heed: %s: %s" % (path, error.strerror))
    except subprocess.SubprocessError as error:
        raise DebuggerError("heed: Graphviz could not draw %s: %s" % (source, type(error).__name__))
    return ["wrote %s, with %d nodes, and the norms of the gradients on the arrows"
            % (path, len(current.nodes))]
