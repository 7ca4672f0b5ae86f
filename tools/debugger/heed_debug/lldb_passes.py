"""lldb_passes.py: finds the running backward pass, and tensors by name, number or variable, in LLDB."""

import re

from heed_debug import graph, lldb_target, memory
from heed_debug.lldb_target import address_of, function_name, link_of, target_of
from heed_debug.memory import DebuggerError

NO_PASS = ("heed: no backward pass is running; `heed step` runs to the next one, "
           "`heed graph T` shows the graph that computed a tensor T")

_pass_nodes = []  # the nodes of the running pass, as last read: heed::backward forgets those that ran
_printed_nodes = []  # the graph of the last `heed graph T`, to which #N refers when no pass is running


def backward_frame(process):
    """The innermost frame of the overload of heed::backward that loops over the nodes, or None."""
    for frame in process.GetSelectedThread():
        if function_name(frame) == "heed::backward" and frame.FindVariable("upstream").IsValid():
            return frame
    return None


def apply_frame(frame):
    """The frame of apply_backward that heed::backward, in `frame`, has called; None before or after."""
    if frame.GetFrameID() == 0:
        return None
    caller = frame.GetThread().GetFrameAtIndex(frame.GetFrameID() - 1)
    return caller if function_name(caller).endswith("::apply_backward") else None


def running_link(process, frame):
    for variable in ("running", "node"):
        value = frame.FindVariable(variable)
        link = link_of(value) if value.IsValid() else None
        if link and memory.is_node(target_of(process), link.address):
            return memory.with_control(target_of(process), link)
    caller = apply_frame(frame)
    value = caller.FindVariable("this") if caller else None
    address = value.GetValueAsUnsigned() if value and value.IsValid() else 0
    if not memory.is_node(target_of(process), address):
        return None
    return memory.with_control(target_of(process), memory.Link(address, 0))


def running_pass(process):
    """Returns (graph, pending nodes) of the running backward pass, or None."""
    global _pass_nodes
    target, frame = target_of(process), backward_frame(process)
    if frame is None:
        return None
    running = running_link(process, frame)
    if running is None:
        link = link_of(frame.FindVariable("output"))
        if link is None or not memory.is_node(target, link.address):
            return None
        _pass_nodes = graph.walk(target, [link])
        return with_inputs_text(graph.Graph(_pass_nodes)), _pass_nodes
    nodes = address_of(frame.FindVariable("nodes"))
    links = memory.read_links(target, memory.pointer(target, nodes), memory.pointer(target, nodes + 8))
    pending = [memory.Node(target, link) for link in links]
    known = pending + [memory.Node(target, running)]
    same = [n.address for n in _pass_nodes[: len(known)]] == [n.address for n in known]
    _pass_nodes = known + (_pass_nodes[len(known):] if same else [])
    return with_inputs_text(graph.Graph(_pass_nodes, len(pending))), pending


def with_inputs_text(current):
    """Stores each node's list of inputs ("from #5, #7") before backward frees the inputs."""
    for node in current.nodes:
        graph.inputs_text(current, node)
    return current


def require_pass(process):
    found = running_pass(process)
    if found is None:
        raise DebuggerError(NO_PASS)
    return found


def current_graph(process):
    found = running_pass(process)
    if found is not None:
        return found[0]
    nodes = [node.reread() for node in _printed_nodes]
    return graph.Graph([] if None in nodes else nodes)


def graph_of(process, link):
    """The graph that computed a tensor. In later commands, #N is the node N of this graph."""
    global _printed_nodes
    _printed_nodes = graph.walk(target_of(process), [link])
    return graph.Graph(_printed_nodes)


def nodes_in_scope(process, current):
    """The nodes of the pass and of the program's variables, and all nodes they were computed from."""
    links = [node.link for node in current.nodes if node.reread() is not None]
    return graph.walk(target_of(process), links + lldb_target.links_in_scope(process), all_nodes=True)


def by_number(current, text):
    i = int(text[1:])
    if not current.nodes:
        raise DebuggerError("heed: there is no node #%d; node numbers refer to the running "
                            "backward pass, or to the last `heed graph T`" % i)
    if i >= len(current.nodes):
        raise DebuggerError("heed: there is no #%d; the graph has #0 to #%d" % (i, len(current.nodes) - 1))
    node = current.nodes[i].reread()
    if node is None:
        raise DebuggerError("heed: %s was freed after its backward, because no variable holds it"
                            % current.title(current.nodes[i]))
    return node


def by_name(process, current, name):
    found = [node for node in nodes_in_scope(process, current) if node.name == name]
    in_pass = [node for node in found if node.address in current.numbers]
    return (in_pass or found or [None])[-1]


def variable(process, text):
    """The value of a variable or member of the selected frame or of a caller, or None. An LLDB variable
    path cannot call a function."""
    thread = process.GetSelectedThread()
    for i in range(thread.GetSelectedFrame().GetFrameID(), thread.GetNumFrames()):
        value = thread.GetFrameAtIndex(i).GetValueForVariablePath(text)
        if value.IsValid() and value.GetError().Success():
            return value
    return None


def unknown_error(process, current, text):
    names = sorted({node.name for node in nodes_in_scope(process, current) if node.name})
    known = ("tensors with names: " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
             if names else "no tensor in scope has a name")
    return DebuggerError("heed: there is no variable or tensor '%s'; %s" % (text, known))


def find_tensor(process, text):
    """Returns the current graph, and the node that `text` (#9, a name or a variable) refers to."""
    if not text:
        raise DebuggerError("heed: give a tensor: its name, its number such as #3, or a variable")
    current = current_graph(process)
    if re.fullmatch(r"#\d+", text):
        return current, by_number(current, text)
    node = by_name(process, current, text)
    if node is not None:
        return current, node
    value = variable(process, text)
    if value is None:
        raise unknown_error(process, current, text)
    node = lldb_target.node_of(value)
    if node is None:
        raise DebuggerError("heed: '%s' is of type %s, not a Tensor%s" % (
            text, short_type(value.GetType()),
            "; `heed show %s` prints it" % text if lldb_target.is_array(value.GetType()) else ""))
    return current, node


def short_type(type_):
    if lldb_target.is_array(type_):
        return "heed::Array"
    return re.sub("<.*>", "<...>", lldb_target.bare(type_).GetName() or "?")


def find_array(process, text):
    """Returns (title, array) of `text`: an array, a tensor (its value) or `grad T` (a gradient)."""
    if not text:
        raise DebuggerError("heed: give a variable, a tensor's name, #3, or `grad` and a tensor")
    if text.startswith("grad "):
        current, node = find_tensor(process, text[5:].strip())
        if not node.has_grad:
            raise DebuggerError("heed: %s has no gradient yet" % current.title(node))
        return "the gradient of " + current.label(node), node.grad
    frame = lldb_target.selected_frame(process)
    value = None if text.startswith("#") else frame.GetValueForVariablePath(text)
    if value is None or not value.IsValid() or value.GetError().Fail():
        named = text.startswith("#") or by_name(process, current_graph(process), text) is not None
        value = None if named else variable(process, text)
    if value is not None and lldb_target.is_array(value.GetType()):
        return text, lldb_target.array_of(value)
    current, node = find_tensor(process, text)
    return current.label(node), node.value
