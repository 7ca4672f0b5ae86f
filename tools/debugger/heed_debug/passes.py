"""passes.py: the backward pass that is running, and finding nodes by what a reader calls them."""

import re

import gdb

from heed_debug import graph, memory, numbers
from heed_debug import gdb_target as here
from heed_debug.memory import Trouble

NO_PASS = ("heed: no backward pass is running here; `heed step` runs to the next one, "
           "`heed graph T` shows the graph behind a tensor T")

# The last pass that was looked at. Nodes that have sent are gone from the program's own list.
_seen = None
# The graph that #N refers to when no pass is running.
_printed = None


class Pass:
    """`graph` has the nodes of the whole pass, as far as they have been seen; `to_come` those that
    have not sent; the running one is graph.running."""

    def __init__(self, frame, to_come, running):
        self.frame, self.to_come, self.running = frame, to_come, running


def backward_frame():
    """The frame of the engine's loop, of the innermost pass; other threads are looked at last."""
    threads = gdb.selected_inferior().threads()
    mine = gdb.selected_thread()
    with here.same_place():
        for thread in [mine] + [t for t in threads if t.num != mine.num]:
            thread.switch()
            for frame in here.frames():
                if here.name_of(frame) == "heed::backward":
                    if frame.function() is None or frame.function().symtab is None:
                        raise Trouble(here.WITHOUT_G)
                    if here.variable(frame, "upstream") is not None or in_loop(frame):
                        return frame
    return None


def in_loop(frame):
    try:
        frame.read_var("nodes")
        return True
    except (ValueError, gdb.error):
        return False


def running_link(frame):
    """The node whose turn it is, or None before the first turn."""
    sender = frame.newer()
    candidates = [here.variable(frame, "running"), here.variable(frame, "node")]
    if sender is not None and here.name_of(sender).endswith("::send_gradient"):
        candidates.append(here.variable(sender, "this"))
    for value in candidates:
        link = value is not None and here.link_of(value)
        if link and memory.is_node(here.target, link.address):
            return link if link.control else with_control(link)
    return None


def with_control(link):
    """make_shared keeps its counts, behind a table pointer, just before the node."""
    try:
        table = memory.pointer(here.target, link.address - 16)
        if "_Sp_counted_ptr_inplace<heed::" in here.target.symbol(table):
            return memory.Link(link.address, link.address - 16)
    except Trouble:
        pass
    return link


def nodes_to_come(frame):
    value = here.variable(frame, "nodes")
    if value is None:
        return None
    at = here.address_of(value)
    links = memory.read_links(here.target, memory.pointer(here.target, at),
                              memory.pointer(here.target, at + 8))
    if not all(memory.is_node(here.target, link.address) for link in links):
        return None
    return [memory.Node(here.target, link) for link in links]


def running_pass():
    """(graph, nodes to come) of the pass that is running, or None."""
    global _seen
    here.check_running()
    frame = backward_frame()
    if frame is None:
        return None
    running = running_link(frame)
    if running is None:
        return before_first_turn(frame)
    to_come = nodes_to_come(frame)
    if to_come is None:
        raise Trouble("heed: the list of nodes to come is not readable here; `up` to heed::backward")
    now = to_come + [memory.Node(here.target, running)]
    addresses = [node.address for node in now]
    if _seen is not None and [n.address for n in _seen[: len(now)]] == addresses:
        nodes = now + _seen[len(now):]
    else:
        nodes = now
    _seen = nodes
    return remembered(graph.Graph(nodes, len(now) - 1)), to_come


def before_first_turn(frame):
    """The pass has begun and nobody has sent."""
    global _seen
    output = here.variable(frame, "output")
    if output is None:
        return None
    link = here.link_of(output)
    if link is None or not memory.is_node(here.target, link.address):
        return None
    _seen = graph.walk(here.target, [link])
    return remembered(graph.Graph(_seen)), _seen


def remembered(current):
    """Tells each node's inputs while they are there."""
    for node in current.nodes:
        graph.inputs_text(current, node)
    return current


def need_pass():
    found = running_pass()
    if found is None:
        raise Trouble(NO_PASS)
    return found


def forget(_=None):
    global _seen, _printed
    _seen = _printed = None


gdb.events.exited.connect(forget)


def graph_behind(link):
    """The graph behind a tensor; #N refers to it from now on."""
    global _printed
    _printed = graph.Graph(graph.walk(here.target, [link]))
    return _printed


def current_graph():
    """The graph of the running pass, else the one last printed, read again; else an empty one."""
    found = running_pass()
    if found is not None:
        return found[0]
    if _printed is not None:
        nodes = [node.fresh() for node in _printed.nodes]
        if None not in nodes:
            return graph.Graph(nodes)
    return graph.Graph([])


# ---- #9, weights, now.A


def everything_in_scope(current):
    """The nodes of the pass and of the program's variables, and all behind them."""
    nodes = [node for node in (n.fresh() for n in current.nodes) if node is not None]
    links = [node.link for node in nodes] + here.links_in_scope()
    return graph.walk(here.target, links, every=True)


def by_number(current, text):
    i = int(text[1:])
    if not current.nodes:
        raise Trouble("heed: there is no #%d; numbers are those of the running backward pass, or of "
                      "the last `heed graph T`" % i)
    if i >= len(current.nodes):
        raise Trouble("heed: there is no #%d; the graph has #0 to #%d" % (i, len(current.nodes) - 1))
    node = current.nodes[i].fresh()
    if node is None:
        raise freed(current, current.nodes[i])
    return node


def freed(current, node):
    return Trouble("heed: %s has sent its gradient on and was freed, as no variable holds it"
                   % current.title(node))


def by_name(current, name):
    found = [node for node in everything_in_scope(current) if node.name == name]
    if not found:
        return None
    in_pass = [node for node in found if node.address in current.numbers]
    found = in_pass or found
    if len(found) > 1:
        print("(%d tensors have the name '%s'; this is the one made at %s)"
              % (len(found), name, found[-1].where))
    return found[-1]


def names_known(current):
    return sorted({node.name for node in everything_in_scope(current) if node.name})


def by_expression(current, text):
    try:
        return outward(text)
    except Trouble as trouble:
        if not re.match(r"heed: No symbol \"%s\" in current context" % re.escape(text), str(trouble)):
            raise
        for node in current.nodes:
            if node.name == text and node.fresh() is None:
                raise freed(current, node)
        names = names_known(current)
        known = ": " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else ""
        raise Trouble("heed: nothing here is called '%s'; tensors with names%s"
                      % (text, known or " there are none in reach"))


def outward(text):
    """The value of an expression in this frame, or in the nearest one that called it and has it."""
    try:
        return here.evaluated(text)
    except Trouble as trouble:
        if "No symbol" not in str(trouble):
            raise
        first = trouble
    with here.same_place():
        frame = gdb.selected_frame().older()
        while frame is not None:
            frame.select()
            try:
                return here.evaluated(text)
            except Trouble:
                frame = frame.older()
    raise first


def tensor_called(text):
    """The graph, and the node that #9, a name or a variable stands for."""
    here.check_running()
    if not text:
        raise Trouble("heed: name a tensor: its name, its number such as #3, or a variable")
    current = current_graph()
    if re.fullmatch(r"#\d+", text):
        return current, by_number(current, text)
    node = by_name(current, text)
    return current, node or node_of(by_expression(current, text), text)


def node_of(value, text):
    link = here.link_of(value)
    if link is None:
        raise Trouble("heed: '%s' is of type %s, not a Tensor%s" % (
            text, plain_type(value.type), "; `heed show %s` prints it" % text
            if here.is_array(here.bare(value.type)) else ""))
    if link.address == 0:
        raise Trouble("heed: '%s' is a tensor that was not given" % text)
    if not memory.is_node(here.target, link.address):
        raise not_yet(text)
    try:
        return memory.Node(here.target, link)
    except Trouble:
        raise not_yet(text)


def not_yet(text):
    return Trouble("heed: '%s' is not initialised yet; `next` goes past its line" % text)


def plain_type(kind):
    kind = here.bare(kind)
    return "heed::Array" if here.is_array(kind) else re.sub("<.*>", "<...>", str(kind))


def array_called(text):
    """What `show` and `save` take: (title, array). An array, a tensor's value, or `grad T`."""
    here.check_running()
    if not text:
        raise Trouble("heed: say what: a variable, a tensor's name, #3, or `grad` and one of these")
    if text.startswith("grad "):
        current, node = tensor_called(text[5:].strip())
        if not node.has_grad:
            raise Trouble("heed: %s has no gradient yet" % current.title(node))
        return "the gradient of " + current.title(node), node.grad
    current = current_graph()
    if re.fullmatch(r"#\d+", text):
        node = by_number(current, text)
        return current.title(node), node.value
    try:
        value = here.evaluated(text)
    except Trouble as trouble:
        if "No symbol" not in str(trouble):
            raise
        node = by_name(current, text)
        if node is not None:
            return current.title(node), node.value
        value = by_expression(current, text)
    if here.is_array(here.bare(value.type)):
        try:
            return text, here.array_of(value)
        except Trouble as trouble:
            raise not_yet(text) if "not initialised" in str(trouble) else trouble
    node = node_of(value, text)
    return current.title(node), node.value
