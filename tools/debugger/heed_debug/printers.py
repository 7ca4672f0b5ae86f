"""printers.py: how gdb prints arrays, tensors and what holds them.

`set print heed-matrices off` prints shapes, and gives IDEs children to open."""

import re

import gdb

from heed_debug import graph, memory, numbers
from heed_debug import gdb_target as here
from heed_debug.memory import Trouble


def in_short():
    """Whether gdb prints the arguments in a list of frames, where a matrix has no place."""
    return getattr(gdb, "print_options", dict)().get("summary", False)


def as_matrix():
    return matrices.value and not in_short()


class HeedMatrices(gdb.Parameter):
    """Set whether heed's arrays print as matrices.
On: shape and matrix as text. Off: the shape, and children for an IDE to open."""

    set_doc = "Set whether heed's arrays print as matrices."
    show_doc = "Show whether heed's arrays print as matrices."

    def __init__(self):
        super().__init__("print heed-matrices", gdb.COMMAND_DATA, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return "heed's arrays print as matrices: %s." % value


matrices = HeedMatrices()


def guarded(function):
    """A printer's text; of what cannot be read, why."""
    def safe(self):
        try:
            return function(self)
        except (Trouble, gdb.error, gdb.MemoryError) as error:
            return "<%s>" % str(error).replace("heed: ", "", 1)
        except Exception as error:  # never a traceback
            return "<not readable: %s>" % error
    return safe


class Text:
    """A printer of text alone, whose value an IDE shows as it is."""

    def __init__(self, printer):
        self.to_string = printer.to_string


def dense(array, element):
    """The numbers as gdb's own array type, which knows how to be opened, one index after another."""
    kind = element
    for n in reversed(array.shape):
        kind = kind.array(n - 1)
    return gdb.Value(array.address).cast(kind.pointer()).dereference()


class ArrayPrinter:
    def __init__(self, value):
        self.value = value

    @guarded
    def to_string(self):
        array = here.array_of(self.value)
        return numbers.array_text(array) if as_matrix() else numbers.shape_text(array.shape)

    def children(self):
        try:
            yield "shape", self.value["m_shape"]
            array = here.array_of(self.value)
            element = here.bare(here.bare(self.value["m_storage"]["p_begin"].type).target())
            if array.size == 0:
                return
            if not array.shape:
                yield "value", dense(array, element)
            for i in range(array.shape[0] if array.shape else 0):
                yield "[%d]" % i, dense(array, element)[i]
        except (Trouble, gdb.error, gdb.MemoryError):
            return


def member_of(node, name):
    offset, kind = here.target.offset("heed::Node", name)
    return gdb.Value(node.address + offset).cast(kind.pointer()).dereference()


class TensorPrinter:
    """'weights' = Softmax (1, 3, 3) = {value = ..., grad = ...}"""

    def __init__(self, value):
        self.value = value

    def node(self):
        link = here.link_of(self.value)
        if link.address == 0:
            return None
        if not memory.is_node(here.target, link.address):
            raise Trouble("not initialised yet")
        return memory.Node(here.target, link)

    @guarded
    def to_string(self):
        node = self.node()
        if node is None:
            return "a tensor that was not given"
        head = ("'%s' = " % node.name if node.name else "") + node.op + " " + numbers.shape_text(node.shape)
        return head + " = " + self.body(node) if as_matrix() else head

    def body(self, node):
        value, grad = [numbers.array_text(a, "    ") if a is not None else "no grad yet"
                       for a in (node.value, node.grad)]
        if "\n" in value or "\n" in grad:
            return "{\n  value = " + value + ",\n  grad = " + grad + "}"
        return "{value = " + value + ", grad = " + grad + "}"

    def children(self):
        try:
            node = self.node()
        except (Trouble, gdb.error, gdb.MemoryError):
            return
        if node is None:
            return
        yield "value", member_of(node, "value")
        if node.has_grad:
            yield "grad", member_of(node, "grad")
        for name in ("has_grad", "op", "name", "where"):
            yield name, member_of(node, name)
        handle = gdb.lookup_type("heed::Tensor").pointer()
        begin = memory.pointer_at(node.block, node.layout.inputs)
        for i in range(len(node.inputs)):  # a Tensor is a shared_ptr and nothing more
            yield "input %d" % i, gdb.Value(begin + 16 * i).cast(handle).dereference()


class ShapePrinter:
    def __init__(self, value):
        self.value = value

    @guarded
    def to_string(self):
        begin, end = int(self.value["m_begin"]), int(self.value["m_end"])
        return numbers.shape_text(memory.read_shape(here.target, begin, end))


class ParametersPrinter:
    def __init__(self, value):
        self.value = value

    def nodes(self):
        links = here.links_at(self.value.type, here.address_of(self.value))
        return [memory.Node(here.target, link) for link in links]

    @guarded
    def to_string(self):
        nodes = self.nodes()
        head = "%d parameters, %d numbers" % (len(nodes), sum(node.value.size for node in nodes))
        if not as_matrix():
            return head
        return head + "".join("\n  %s %s" % (n.name, numbers.shape_text(n.shape)) for n in nodes)

    def children(self):
        try:
            first = memory.pointer(here.target, here.address_of(self.value["tensors_"]))
            tensor = gdb.lookup_type("heed::Tensor")
            for i, node in enumerate(self.nodes()):
                at = gdb.Value(first + i * tensor.sizeof).cast(tensor.pointer())
                yield node.name, at.dereference()
        except (Trouble, gdb.error, gdb.MemoryError):
            return


class ScopePrinter:
    def __init__(self, value):
        self.value = value

    @guarded
    def to_string(self):
        layout = here.target.node_layout()
        at = here.address_of(self.value["prefix"])
        prefix = memory.std_string(here.target, layout, here.target.read(at, 32), 0)
        store = ParametersPrinter(self.value["store"].referenced_value())
        return "Scope '%s' of %d parameters" % (prefix, len(store.nodes()))


class GeneratorPrinter:
    def __init__(self, value):
        self.value = value

    @guarded
    def to_string(self):
        bits, kind = self.value["bits_"], str(self.value["precision_"]).split("::")[-1]
        result = "Generator of %s, at word %d of %d" % (
            kind, int(bits["next"]), bits["words"].type.sizeof // 4)
        if self.value["has_cached_normal_"]:
            result += ", one normal waiting: %.4f" % float(self.value["cached_normal_"])
        return result


BY_NAME = {"heed::Parameters": ParametersPrinter, "heed::Scope": ScopePrinter,
           "heed::Generator": GeneratorPrinter}


def opened(value):
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        kind = kind.target().strip_typedefs()
    kind = kind.unqualified()
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return None
    if here.is_array(kind):
        return ArrayPrinter(value)
    if here.is_tensor(kind) or here.is_node_type(kind):
        return TensorPrinter(value)
    if re.match(r"xt::svector<unsigned long, 4", str(kind)):
        return ShapePrinter(value)
    return BY_NAME[kind.name](value) if kind.name in BY_NAME else None


def printer_of(value):
    printer = opened(value)
    return Text(printer) if printer and matrices.value else printer


printer_of.name = "heed"
printer_of.enabled = True
printer_of.subprinters = []
# Typed once: sourcing heed_gdb.py again replaces them.
gdb.pretty_printers[:] = [p for p in gdb.pretty_printers if getattr(p, "name", "") != "heed"]
gdb.pretty_printers.insert(0, printer_of)
