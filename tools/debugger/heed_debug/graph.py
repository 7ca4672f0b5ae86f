"""graph.py: the computation graph as a numbered list of nodes, and as text."""

from heed_debug import memory, numbers

MAX_NODES = 200  # a longer list is shortened
EDGE = 20  # nodes listed at each end and on either side of the running node, in a shortened list


def walk(target, links, all_nodes=False):
    """The linked nodes and all nodes they were computed from, inputs first, in the order of
    heed::topological_order. Skips nodes that require no gradient, unless `all_nodes`."""
    nodes, visited = [], set()

    def visit(link):
        if link.address in visited or not memory.is_node(target, link.address):
            return
        visited.add(link.address)
        try:
            node = memory.Node(target, link)
        except memory.DebuggerError:
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

    def title(self, node):
        number = self.numbers.get(node.address)
        return ("" if number is None else "#%d " % number) + title(node)


def title(node):
    """The operation, name and shape of a node, such as Softmax 'A' (3, 3)."""
    name = " '%s'" % node.name if node.name else ""
    return node.op + name + " " + numbers.shape_text(node.shape)


def input_text(graph, link):
    if link.address in graph.numbers:
        return "#%d" % graph.numbers[link.address]
    node = memory.Node(graph.nodes[0].target, link)
    return "%s %s" % (node.name or "constant", numbers.shape_text(node.shape))


def inputs_text(graph, node):
    """Lists the inputs of a node: "from #5, #7". Stores the list, as the inputs may be freed."""
    if node.inputs_text is None:
        inputs = [input_text(graph, link) for link in node.inputs if link.address]
        node.inputs_text = "from " + ", ".join(inputs) if inputs else ""
    return node.inputs_text


def gradient_text(node):
    present = node.reread()
    if present is None:
        return "freed"
    return numbers.decimal(numbers.norm(present.grad)) if present.has_grad else "-"


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
