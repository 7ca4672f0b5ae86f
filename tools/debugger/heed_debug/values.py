"""values.py: arrays and tensors in the program's values and variables."""

import itertools
import re

from heed_debug import memory, numbers
from heed_debug.debugger import debugger
from heed_debug.node import Link, Node, is_node, link_at
from heed_debug.target import DebuggerError, plain

MAX_FRAMES, MAX_ELEMENTS = 101, 100000

ROW_MAJOR = r"(\(xt::layout_type\)1|xt::layout_type::row_major)"  # in gdb, in LLDB
ARRAY = re.compile(r"xt::xarray_container<xt::uvector<.*, %s, xt::svector<.*>" % ROW_MAJOR)
EXPRESSION = r"xt::x([a-z_]*view|function|broadcast|reducer|generator|scalar|repeat)<"
NODE = re.compile(r"heed::(OpNode<.*>|Node)")
NODE_POINTER = re.compile(r"std::shared_ptr<heed::(Node|OpNode<.*>) ?>")
# Tensor has one member, a shared_ptr<Node>; In and Weight derive from Tensor.
TENSORS = ("heed::Tensor", "heed::In", "heed::nn::Weight")
CONTAINER = re.compile(r"std::(__\w+::)?(vector|array|optional)<.*>")


def name_of(type_):
    return plain(debugger.target.name_of(debugger.target.bare(type_)))


def is_array(type_):
    return ARRAY.fullmatch(name_of(type_)) is not None


def is_tensor(type_):
    return name_of(type_) in TENSORS


def is_tensor_or_pointer(type_):
    """Whether the type is Tensor, or a shared_ptr to a node."""
    return is_tensor(type_) or NODE_POINTER.fullmatch(name_of(type_)) is not None


def refers_to_node(type_):
    """Whether a value of this type is or refers to a node."""
    return is_tensor_or_pointer(type_) or NODE.fullmatch(name_of(type_)) is not None


def is_tensor_or_array(type_):
    return refers_to_node(type_) or is_array(type_)


def array_of(value):
    target, type_ = debugger.target, debugger.type_of(value)
    layout = memory.array_layout(target, type_)
    words = debugger.copied_words(value, "m_storage.p_begin", "m_storage.p_end", "m_shape.m_begin", "m_shape.m_end")
    if words is None:
        return memory.read_array(target, debugger.address_of(value), layout)
    return memory.Array(target, memory.read_shape(target, *words[2:]), layout.code, *words[:2])


def expression_text(value):
    """The text of an xtensor expression such as a view, with its shape if it stores one."""
    target = debugger.target
    try:
        first, last = (target.pointer(debugger.address_of(value) + target.offset(debugger.type_of(value), path)[0])
                       for path in ("m_shape.m_begin", "m_shape.m_end"))
        return numbers.expression_text(memory.read_shape(target, first, last))
    except DebuggerError:
        return numbers.expression_text(None)


def link_of(value):
    """The Link to a value's node (Tensor, shared_ptr<Node>, Node or Node*); None for other types."""
    type_ = debugger.type_of(value)
    if is_tensor_or_pointer(type_):
        path = "node_." if is_tensor(type_) else ""
        words = debugger.copied_words(value, path + "_M_ptr", path + "_M_refcount._M_pi")
        return Link(*words) if words else link_at(debugger.target, debugger.address_of(value))
    if refers_to_node(type_):
        return Link(debugger.address_of(value), 0)
    pointee = debugger.target.pointee(type_)
    if pointee is not None and NODE.fullmatch(name_of(pointee)):
        return Link(debugger.integer(value), 0)
    return None


def node_of(value):
    """The node of a value of which link_of() is a Link; None for an undefined tensor."""
    link = link_of(value)
    if link.address == 0:
        return None
    if not is_node(debugger.target, link.address):
        raise DebuggerError("not initialised yet")
    return Node(debugger.target, link)


# ---- tensors in variables


def holds(type_, is_wanted):
    """Whether values of type `type_` contain a value of a type for which `is_wanted` is true."""
    target, type_ = debugger.target, debugger.target.bare(type_)
    key = is_wanted, target.name_of(type_)
    if key not in target.holds:
        target.holds[key] = False  # ends the recursion for a type that refers to itself
        target.holds[key] = is_wanted(type_) or not is_array(type_) and any(
            holds(part, is_wanted) for part in parts_of_type(type_))
    return target.holds[key]


def parts_of_type(type_):
    """The types of the elements or of the members of a type."""
    if CONTAINER.fullmatch(name_of(type_)):
        return [debugger.target.template_argument(type_)]
    if re.match(r"(std|xt|__gnu_cxx)::", name_of(type_)):
        return []
    return [field_type for _, _, field_type, _ in debugger.target.fields(type_)]


def links_at(type_, address):
    """Yields the Link of each tensor in the value of `type_` at `address`."""
    target, type_ = debugger.target, debugger.target.bare(type_)
    if not holds(type_, is_tensor_or_pointer):
        return
    if is_tensor_or_pointer(type_):
        link = link_at(target, address)
        if is_node(target, link.address):
            yield link
    elif re.match(r"std::(__\w+::)?vector<", name_of(type_)):
        element = target.bare(target.template_argument(type_))
        begin, end = target.pointer(address), target.pointer(address + 8)
        if 0 < begin <= end and end - begin <= MAX_ELEMENTS * target.sizeof(element):
            for element_address in range(begin, end, target.sizeof(element)):
                yield from links_at(element, element_address)
    else:
        for _, offset, field_type, _ in target.fields(type_):
            if holds(field_type, is_tensor_or_pointer):
                field = address + offset
                yield from links_at(field_type, target.pointer(field) if target.is_reference(field_type) else field)


def links_in_scope():
    """The Links to the nodes of all tensors in each frame's variables, innermost frame first."""
    result = []
    for frame in itertools.islice(debugger.frames(), MAX_FRAMES):
        for type_, address_of in debugger.variables(frame):
            try:
                if holds(type_, is_tensor_or_pointer):
                    result.extend(links_at(type_, address_of()))
            except debugger.ERRORS:
                continue  # the variable is not initialised yet, or optimised away
    return result
