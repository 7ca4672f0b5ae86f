"""graph.py: which node was made from which, numbered as the backward pass visits them."""

from heed_debug import memory, numbers

MOST_LISTED = 200  # nodes; a longer graph is cut
AROUND = 20  # listed at each end, and on either side of the running node, of a graph that is cut


def walk(target, links, every=False):
    """Nodes behind these, inputs first, in the order of heed::topological_order: those that want a
    gradient, or every one."""
    found, seen = [], set()

    def meet(link):
        if link.address in seen or not memory.is_node(target, link.address):
            return
        seen.add(link.address)
        try:
            node = memory.Node(target, link)
        except memory.Trouble:
            return  # what a variable holds before its line has run
        if every or node.requires_grad:
            found.append(node)

    for link in links:
        meet(link)
    for node in found:  # which grows
        for link in node.inputs:
            meet(link)
    return sorted(found, key=lambda node: node.depth)


class Graph:
    """Nodes with their numbers; `running` is the number of the one whose turn it is."""

    def __init__(self, nodes, running=None, complete=True):
        self.nodes, self.running, self.complete = nodes, running, complete
        self.numbers = {node.address: i for i, node in enumerate(nodes)}

    def title(self, node):
        number = self.numbers.get(node.address)
        return ("" if number is None else "#%d " % number) + title(node)


def title(node):
    """Softmax 'A' (3, 3)"""
    name = " '%s'" % node.name if node.name else ""
    return node.op + name + " " + numbers.shape_text(node.shape)


def input_text(graph, link):
    if link.address in graph.numbers:
        return "#%d" % graph.numbers[link.address]
    node = memory.Node(graph.nodes[0].target, link)
    return "%s %s" % (node.name or "constant", numbers.shape_text(node.shape))


def inputs_text(graph, node):
    """Kept once told: what a node was made from may be freed before it is itself."""
    if node.told is None:
        node.told = told_inputs(graph, node)
    return node.told


def told_inputs(graph, node):
    given = [input_text(graph, link) for link in node.inputs if link.address]
    return "from " + ", ".join(given) if given else ""


def gradient_text(node):
    now = node.fresh()
    if now is None:
        return "freed"
    return numbers.decimal(numbers.norm(now.grad)) if now.has_grad else "-"


def listed(graph, everything):
    """The numbers of the nodes to list; None stands for some left out."""
    count = len(graph.nodes)
    if everything or count <= MOST_LISTED:
        return list(range(count))
    wanted = {*range(AROUND), *range(count - AROUND, count)}
    if graph.running is not None:
        wanted.update(range(max(0, graph.running - AROUND), min(count, graph.running + AROUND)))
    result = []
    for i in sorted(wanted):
        if result and result[-1] != i - 1:
            result.append(None)
        result.append(i)
    return result


def graph_lines(graph, everything=False):
    rows = [("", "", "op", "name", "shape", "inputs", "|grad|", "made at")]
    for i in listed(graph, everything):
        if i is None:
            rows.append(("", "...", "", "", "", "", "", ""))
            continue
        node = graph.nodes[i]
        rows.append(("=>" if i == graph.running else "", "#%d" % i, node.op, node.name,
                     numbers.shape_text(node.shape), inputs_text(graph, node), gradient_text(node),
                     node.where))
    widths = [max(len(row[i]) for row in rows) for i in range(8)]
    widths[0] = 2
    lines = []
    for row in rows:
        cells = [cell.rjust(w) if i == 6 else cell.ljust(w)
                 for i, (cell, w) in enumerate(zip(row, widths))]
        lines.append((cells[0] + " " + "  ".join(cells[1:])).rstrip())
    return lines


def gradient_report(graph, node):
    """What `heed grad` says."""
    head = "the gradient of " + graph.title(node)
    if not node.has_grad:
        return head + ": no gradient yet" + ("" if node.requires_grad else "; it asks for none")
    return head + " = " + numbers.array_text(node.grad)


def source_lines(graph, node):
    """What `heed why` says."""
    lines = ["the gradient of %s%s" % (
        graph.title(node), ", norm " + numbers.decimal(numbers.norm(node.grad)) if node.has_grad else "")]
    for part in node.contributions:
        name = " '%s'" % part.name if part.name else ""
        lines.append("  += from %s%s, made at %s, norm %s"
                     % (part.op, name, part.where, numbers.decimal(part.norm)))
    return lines
