"""passes.py: finds the running backward pass, and tensors by name, number or variable."""

import re

from heed_debug import graph, values
from heed_debug.debugger import debugger
from heed_debug.node import Node, is_node, read_links, with_control
from heed_debug.remembered import remembered
from heed_debug.target import DebuggerError

NO_PASS = ("heed: no backward pass is running; `heed step` runs to the next one, "
           "`heed graph T` shows the graph that computed a tensor T")

def leads_to_node(link):
    return link is not None and is_node(debugger.target, link.address)


def running_link(frame):
    """The Link to the node whose backward is running, or None before the first node's backward."""
    caller = apply_frame(frame)
    candidates = [debugger.variable(frame, "running"), debugger.variable(frame, "node")]
    if caller is not None:
        candidates.append(debugger.variable(caller, "this"))
    for value in candidates:
        link = None if value is None else values.link_of(value)
        if leads_to_node(link):
            return with_control(debugger.target, link)
    return None


def apply_frame(frame):
    """The frame of apply_backward that heed::backward, in `frame`, has called; None before or after."""
    caller = debugger.newer(frame)
    return caller if caller and debugger.function_name(caller).endswith("::apply_backward") else None


def pending_nodes(frame):
    """The nodes whose backward has not started, from heed::backward's list; None if unreadable."""
    value = debugger.variable(frame, "nodes")
    if value is None:
        return None
    links = read_links(debugger.target, debugger.address_of(value))
    return [Node(debugger.target, link) for link in links] if all(map(leads_to_node, links)) else None


def running_pass():
    """Returns (graph, pending nodes) of the running backward pass, or None."""
    debugger.check_running()
    frame = debugger.backward_frame()
    if frame is None:
        return None
    running = running_link(frame)
    if running is None:
        return pass_before_first_node(frame)
    pending = pending_nodes(frame)
    if pending is None:
        raise DebuggerError("heed: the pending nodes are not readable here; `up` to heed::backward")
    nodes = pending + [Node(debugger.target, running)]
    running_number = len(nodes) - 1
    addresses = [node.address for node in nodes]
    if remembered.pass_nodes is not None and [n.address for n in remembered.pass_nodes[: len(nodes)]] == addresses:
        nodes = nodes + remembered.pass_nodes[len(nodes):]
    remembered.pass_nodes = nodes
    return with_inputs_text(graph.Graph(nodes, running_number)), pending


def pass_before_first_node(frame):
    """Returns (graph, pending nodes) when heed::backward has started but no node's backward has run."""
    output = debugger.variable(frame, "output")
    link = None if output is None else values.link_of(output)
    if not leads_to_node(link):
        return None
    remembered.pass_nodes = graph.walk(debugger.target, [link])
    return with_inputs_text(graph.Graph(remembered.pass_nodes)), remembered.pass_nodes


def with_inputs_text(current):
    """Stores each node's list of inputs ("from #5, #7") before backward frees the inputs."""
    for node in current.nodes:
        graph.inputs_text(current, node)
    return current


def require_pass():
    found = running_pass()
    if found is None:
        raise DebuggerError(NO_PASS)
    return found


def graph_of(link):
    """The graph that computed a tensor. In later commands, #N is the node N of this graph."""
    remembered.printed_graph = graph.Graph(graph.walk(debugger.target, [link]))
    return remembered.printed_graph


def current_graph():
    """The running pass's graph or, if none runs, the last printed graph (reread) or an empty one."""
    found = running_pass()
    if found is not None:
        return found[0]
    if remembered.printed_graph is not None:
        nodes = [node.reread() for node in remembered.printed_graph.nodes]
        if None not in nodes:
            return graph.Graph(nodes)
    return graph.Graph([])


# ---- finding a tensor by number (#9), by name (weights) or by expression (now.A)


def all_nodes_in_scope(current):
    """The nodes of the pass and of the program's variables, and all nodes they were computed from."""
    nodes = [node for node in (n.reread() for n in current.nodes) if node is not None]
    links = [node.link for node in nodes] + values.links_in_scope()
    return graph.walk(debugger.target, links, all_nodes=True)


def by_number(current, text):
    i = int(text[1:])
    if not current.nodes:
        raise DebuggerError("heed: there is no node #%d; node numbers refer to the running "
                            "backward pass, or to the last `heed graph T`" % i)
    if i >= len(current.nodes):
        raise DebuggerError("heed: there is no #%d; the graph has #0 to #%d" % (i, len(current.nodes) - 1))
    node = current.nodes[i].reread()
    if node is None:
        raise freed_error(current, current.nodes[i])
    return node


def freed_error(current, node):
    return DebuggerError("heed: %s was freed after its backward, because no variable holds it"
                         % current.title(node))


def by_name(current, name):
    found = [node for node in all_nodes_in_scope(current) if node.name == name]
    if not found:
        return None
    in_pass = [node for node in found if node.address in current.numbers]
    found = in_pass or found
    if len(found) > 1:
        debugger.note("(%d tensors have the name '%s'; this is the one made at %s)"
                      % (len(found), name, found[-1].location))
    return found[-1]


def names_in_scope(current):
    return sorted({node.name for node in all_nodes_in_scope(current) if node.name})


def by_expression(current, text):
    value = debugger.value_in_stack(text)
    if value is not None:
        return value
    for node in current.nodes:
        if node.name == text and node.reread() is None:
            raise freed_error(current, node)
    names = names_in_scope(current)
    known = ("tensors with names: " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
             if names else "no tensor in scope has a name")
    raise DebuggerError("heed: there is no variable or tensor '%s'; %s" % (text, known))


def find_tensor(text):
    """Returns the current graph, and the node that `text` (#9, a name or a variable) refers to."""
    debugger.check_running()
    if not text:
        raise DebuggerError("heed: give a tensor: its name, its number such as #3, or a variable")
    current = current_graph()
    if re.fullmatch(r"#\d+", text):
        return current, by_number(current, text)
    node = by_name(current, text)
    return current, node or node_of(by_expression(current, text), text)


def node_of(value, text):
    link, type_ = values.link_of(value), debugger.type_of(value)
    if link is None:
        raise DebuggerError("heed: '%s' is of type %s, not a Tensor%s" % (
            text, short_type(type_), "; `heed show %s` prints it" % text
            if values.is_array(type_) else ""))
    if debugger.is_declared_later(text):
        raise uninitialised_error(text)
    if link.address == 0:
        raise DebuggerError("heed: '%s' is an undefined tensor" % text)
    try:
        if leads_to_node(link):
            return Node(debugger.target, link)
    except DebuggerError:
        pass
    raise uninitialised_error(text)


def uninitialised_error(text):
    return DebuggerError("heed: '%s' is not initialised yet; `next` runs its line" % text)


def short_type(type_):
    return "heed::Array" if values.is_array(type_) else re.sub("<.*>", "<...>", debugger.type_name(type_))


def find_array(text):
    """Returns (title, array) of `text`: an array, a tensor (its value) or `grad T` (a gradient)."""
    debugger.check_running()
    if not text:
        raise DebuggerError("heed: give a variable, a tensor's name, #3, or `grad` and a tensor")
    if text.startswith("grad "):
        current, node = find_tensor(text[5:].strip())
        if not node.has_grad:
            raise DebuggerError("heed: %s has no gradient yet" % current.title(node))
        return "the gradient of " + current.label(node), node.grad
    current = current_graph()
    if re.fullmatch(r"#\d+", text):
        node = by_number(current, text)
        return current.label(node), node.value
    value = debugger.local_value(text)
    if value is None:
        node = by_name(current, text)
        if node is not None:
            return current.label(node), node.value
        value = by_expression(current, text)
    if values.is_array(debugger.type_of(value)):
        try:
            return text, values.array_of(value)
        except DebuggerError as error:
            raise uninitialised_error(text) if "not initialised" in str(error) else error
    node = node_of(value, text)
    return current.label(node), node.value
