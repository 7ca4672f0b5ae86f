"""graph.py: the computation graph as a numbered list of nodes, and as text."""

import collections
import re

from heed_debug import numbers
from heed_debug.node import Node, is_node
from heed_debug.target import DebuggerError

MAX_NODES = 200  # a longer list is shortened
EDGE = 20  # nodes listed at each end and on either side of the running node, in a shortened list


def walk(target, links, all_nodes=False):
    """The linked nodes and all nodes they were computed from, inputs first, in the order of
    heed::topological_order. Skips nodes that require no gradient, unless `all_nodes`."""
    nodes, visited = [], set()

    def visit(link):
        if link.address in visited or not is_node(target, link.address):
            return
        visited.add(link.address)
        try:
            node = Node(target, link)
        except DebuggerError:
            return  # a variable that is not initialised yet
        if all_nodes or node.requires_grad:
            nodes.append(node)

    for link in links:
        visit(link)
    for node in nodes:  # visit() appends to `nodes`
        for link in node.inputs:
            visit(link)
    return sorted(nodes, key=lambda node: node.depth)


class Graph:
    """A list of numbered nodes. `running` is the number of the node whose backward runs, or None."""

    def __init__(self, nodes, running=None):
        self.nodes, self.running = nodes, running
        self.numbers = {node.address: i for i, node in enumerate(nodes)}

    def label(self, node):
        """The number, operation and name of a node, such as #11 Softmax 'A'."""
        number = self.numbers.get(node.address)
        return ("" if number is None else "#%d " % number) + label(node)

    def input_addresses(self, node):
        """The addresses of the inputs that are nodes of the graph."""
        inputs_text(self, node)
        return node.input_addresses

    def title(self, node):
        return self.label(node) + " " + numbers.shape_text(node.shape)


def label(node):
    return node.op + (" '%s'" % node.name if node.name else "")


def title(node):
    """The operation, name and shape of a node, such as Softmax 'A' (3, 3)."""
    return label(node) + " " + numbers.shape_text(node.shape)


def named_title(node):
    """Like title(), but the name is first, such as 'A' = Softmax (3, 3)."""
    return ("'%s' = " % node.name if node.name else "") + node.op + " " + numbers.shape_text(node.shape)


def brief_text(node):
    """A node in one line, such as 'A' = Softmax (3, 3) norm 1.58 [0, 1], grad norm 3.2 [-1.1, 2.4]."""
    head = ("'%s' = " % node.name if node.name else "") + node.op + " " + numbers.brief_text(node.value)
    if not node.has_grad:
        return head + (", no gradient yet" if node.requires_grad else "")
    return head + ", grad" + numbers.brief_text(node.grad)[len(numbers.shape_text(node.grad.shape)):]


def input_text(graph, link):
    if link.address in graph.numbers:
        return "#%d" % graph.numbers[link.address]
    node = Node(graph.nodes[0].target, link)
    return "%s %s" % (node.name or "constant", numbers.shape_text(node.shape))


def inputs_text(graph, node):
    """Lists the inputs of a node: "from #5, #7". Stores the list, as the inputs may be freed."""
    if node.inputs_text is None:
        node.input_addresses = [link.address for link in node.inputs if link.address in graph.numbers]
        inputs = [input_text(graph, link) for link in node.inputs if link.address]
        freed = "freed inputs" if node.depth > 0 else ""
        node.inputs_text = "from " + ", ".join(inputs) if inputs else freed
    return node.inputs_text


def gradient_text(node):
    present = node.reread()
    if present is None:
        return "freed"
    return numbers.decimal(numbers.norm(present.grad)) if present.has_grad else "-"


def new_pass_text(graph):
    """The line with which `heed step` announces a backward pass that it enters."""
    output = graph.nodes[-1]
    return "a new backward pass, from %s, made at %s" % (graph.title(output), output.location)


def operations_text(graph):
    """The operations of a graph with their numbers: "2 MatMul, 1 Softmax"."""
    counts = collections.Counter(node.op for node in graph.nodes if node.depth > 0)
    return ", ".join("%d %s" % (n, op) for op, n in counts.items())


def short_path(path):
    """The path relative to the project's folder, as heed prints paths."""
    found = re.search(r"(?:^|/)((?:src|include/heed|lessons|tests)/.*)$", path)
    return found.group(1) if found else path


def frame_line(number, function, path, line):
    return "#%-2d %s at %s:%d" % (number, function, short_path(path), line)


# The paths of the source files of libraries, and of the engine below the operations.
LIBRARY = r"(\.\./|sysdeps/|csu/).*|.*/(xtensor|xtensor-blas|xsimd|xtl)/.*|/usr/.*|.*/c\+\+/.*"
ENGINE = re.compile(r".*/(src|include/heed)/(array|autograd|base|debug|gemm)/.*|" + LIBRARY)


def listed_numbers(graph, everything):
    """The numbers of the nodes to list. None stands for consecutive nodes that are not listed."""
    count = len(graph.nodes)
    if everything or count <= MAX_NODES:
        return list(range(count))
    listed = {*range(EDGE), *range(count - EDGE, count)}
    if graph.running is not None:
        listed.update(range(max(0, graph.running - EDGE), min(count, graph.running + EDGE)))
    result = []
    for i in sorted(listed):
        if result and result[-1] != i - 1:
            result.append(None)
        result.append(i)
    return result


def graph_lines(graph, everything=False):
    """The output of `heed graph`."""
    rows = [("", "", "op", "name", "shape", "inputs", "|grad|", "made at")]
    for i in listed_numbers(graph, everything):
        if i is None:
            rows.append(("", "...", "", "", "", "", "", ""))
            continue
        node = graph.nodes[i]
        rows.append(("=>" if i == graph.running else "", "#%d" % i, node.op, node.name,
                     numbers.shape_text(node.shape), inputs_text(graph, node), gradient_text(node),
                     node.location))
    widths = [max(len(row[i]) for row in rows) for i in range(8)]
    widths[0] = 2
    lines = []
    for row in rows:
        cells = [cell.rjust(w) if i == 6 else cell.ljust(w)
                 for i, (cell, w) in enumerate(zip(row, widths))]
        lines.append((cells[0] + " " + "  ".join(cells[1:])).rstrip())
    return lines


def gradient_report(graph, node):
    """The output of `heed grad`."""
    head = "the gradient of " + graph.title(node)
    if not node.has_grad:
        return head + ": no gradient yet" + (
            "" if node.requires_grad else "; the tensor does not require one")
    return head + " = " + numbers.array_text(node.grad)


def contribution_lines(graph, node):
    """The output of `heed why`."""
    lines = ["the gradient of %s%s" % (
        graph.title(node), ", norm " + numbers.decimal(numbers.norm(node.grad)) if node.has_grad else "")]
    for part in node.contributions:
        name = " '%s'" % part.name if part.name else ""
        lines.append("  += from %s%s, made at %s, norm %s"
                     % (part.op, name, part.location, numbers.decimal(part.norm)))
    return lines


def no_contributions(current, node, remedy):
    """The reason why `heed why` cannot list contributions to the gradient of a node."""
    title = current.title(node)
    if not node.requires_grad:
        return title + " does not require a gradient"
    if not node.has_grad:
        return title + " has no gradient yet" + (
            "" if current.running is not None else "; `heed step` runs to the next backward pass")
    if current.nodes and node.address == current.nodes[-1].address:
        return title + " is the output of this backward pass: its gradient is the upstream gradient"
    return (title + " has a gradient, but its contributions were not recorded; " + remedy
            + ", then `run` again")
