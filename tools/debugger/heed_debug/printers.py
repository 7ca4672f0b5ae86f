"""printers.py: gdb pretty-printers for arrays, tensors, parameters, scopes and generators.

After `set print heed-matrices off` they print shapes only, and an IDE can expand the values."""

import re

import gdb

from heed_debug import gdb_target, memory, numbers
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError


def in_summary():
    """Whether gdb prints function arguments in a backtrace, where a matrix would be too long."""
    return getattr(gdb, "print_options", dict)().get("summary", False)


def prints_matrices():
    return matrices.value and not in_summary()


class HeedMatrices(gdb.Parameter):
    """Set whether heed's arrays are printed as matrices.
On: shape and matrix as text. Off: the shape, and children for an IDE to expand."""

    set_doc = "Set whether heed's arrays are printed as matrices."
    show_doc = "Show whether heed's arrays are printed as matrices."

    def __init__(self):
        super().__init__("print heed-matrices", gdb.COMMAND_DATA, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return "Printing of heed's arrays as matrices is %s." % value


matrices = HeedMatrices()


def errors_as_text(function):
    """Makes a to_string method return "<error message>" instead of raising an exception."""
    def to_string(self):
        try:
            return function(self)
        except (DebuggerError, gdb.error, gdb.MemoryError) as error:
            return "<%s>" % str(error).replace("heed: ", "", 1)
        except Exception as error:  # gdb would print a traceback
            return "<not readable: %s>" % error
    return to_string


class TextPrinter:
    """A gdb pretty-printer without children(): an IDE shows the text of to_string() as it is."""

    def __init__(self, printer):
        self.to_string = printer.to_string


def gdb_array(array, element):
    """The numbers of an array as a gdb array value, which an IDE can expand axis by axis."""
    type_ = element
    for n in reversed(array.shape):
        type_ = type_.array(n - 1)
    return gdb.Value(array.address).cast(type_.pointer()).dereference()


class ArrayPrinter:
    def __init__(self, value):
        self.value = value

    @errors_as_text
    def to_string(self):
        array = gdb_target.array_of(self.value)
        return numbers.array_text(array) if prints_matrices() else numbers.shape_text(array.shape)

    def children(self):
        try:
            yield "shape", self.value["m_shape"]
            array = gdb_target.array_of(self.value)
            element = gdb_target.bare(
                gdb_target.bare(self.value["m_storage"]["p_begin"].type).target())
            if array.size == 0:
                return
            if not array.shape:
                yield "value", gdb_array(array, element)
            for i in range(array.shape[0] if array.shape else 0):
                yield "[%d]" % i, gdb_array(array, element)[i]
        except (DebuggerError, gdb.error, gdb.MemoryError):
            return


def node_member(node, name):
    offset, type_ = target.offset("heed::Node", name)
    return gdb.Value(node.address + offset).cast(type_.pointer()).dereference()


class TensorPrinter:
    """Prints a tensor as: 'weights' = Softmax (1, 3, 3) = {value = ..., grad = ...}"""

    def __init__(self, value):
        self.value = value

    def node(self):
        link = gdb_target.link_of(self.value)
        if link.address == 0:
            return None
        if not memory.is_node(target, link.address):
            raise DebuggerError("not initialised yet")
        return memory.Node(target, link)

    @errors_as_text
    def to_string(self):
        node = self.node()
        if node is None:
            return "undefined tensor"
        head = ("'%s' = " % node.name if node.name else "") + node.op + " " + numbers.shape_text(node.shape)
        return head + " = " + self.body(node) if prints_matrices() else head

    def body(self, node):
        value, grad = [numbers.array_text(a, "    ") if a is not None else "no gradient yet"
                       for a in (node.value, node.grad)]
        if "\n" in value or "\n" in grad:
            return "{\n  value = " + value + ",\n  grad = " + grad + "}"
        return "{value = " + value + ", grad = " + grad + "}"

    def children(self):
        try:
            node = self.node()
        except (DebuggerError, gdb.error, gdb.MemoryError):
            return
        if node is None:
            return
        yield "value", node_member(node, "value")
        if node.has_grad:
            yield "grad", node_member(node, "grad")
        for name in ("has_grad", "op", "name", "location"):
            yield name, node_member(node, name)
        tensor_pointer = gdb.lookup_type("heed::Tensor").pointer()
        begin = memory.pointer_at(node.block, node.layout.inputs)
        for i in range(len(node.inputs)):  # Tensor has one member, a shared_ptr<Node> of 16 bytes
            yield "input %d" % i, gdb.Value(begin + 16 * i).cast(tensor_pointer).dereference()


class ShapePrinter:
    def __init__(self, value):
        self.value = value

    @errors_as_text
    def to_string(self):
        begin, end = int(self.value["m_begin"]), int(self.value["m_end"])
        return numbers.shape_text(memory.read_shape(target, begin, end))


class ParametersPrinter:
    def __init__(self, value):
        self.value = value

    def nodes(self):
        links = gdb_target.links_at(self.value.type, gdb_target.address_of(self.value))
        return [memory.Node(target, link) for link in links]

    @errors_as_text
    def to_string(self):
        nodes = self.nodes()
        head = "%d parameters, %d numbers" % (len(nodes), sum(node.value.size for node in nodes))
        if not prints_matrices():
            return head
        return head + "".join("\n  %s %s" % (n.name, numbers.shape_text(n.shape)) for n in nodes)

    def children(self):
        try:
            first = memory.pointer(target, gdb_target.address_of(self.value["tensors_"]))
            tensor = gdb.lookup_type("heed::Tensor")
            for i, node in enumerate(self.nodes()):
                pointer = gdb.Value(first + i * tensor.sizeof).cast(tensor.pointer())
                yield node.name, pointer.dereference()
        except (DebuggerError, gdb.error, gdb.MemoryError):
            return


class ScopePrinter:
    def __init__(self, value):
        self.value = value

    @errors_as_text
    def to_string(self):
        address = gdb_target.address_of(self.value["prefix"])
        prefix = memory.std_string(target, target.node_layout(), target.read(address, 32), 0)
        parameters = ParametersPrinter(self.value["store"].referenced_value())
        return "Scope '%s' with %d parameters" % (prefix, len(parameters.nodes()))


class GeneratorPrinter:
    def __init__(self, value):
        self.value = value

    @errors_as_text
    def to_string(self):
        bits, precision = self.value["bits_"], str(self.value["precision_"]).split("::")[-1]
        result = "Generator (Mersenne Twister) of %s numbers, %d of %d state words used" % (
            precision, int(bits["next"]), bits["words"].type.sizeof // 4)
        if self.value["has_cached_normal_"]:
            result += ", next normal sample: %.4f" % float(self.value["cached_normal_"])
        return result


BY_NAME = {"heed::Parameters": ParametersPrinter, "heed::Scope": ScopePrinter,
           "heed::Generator": GeneratorPrinter}


def expandable_printer(value):
    type_ = value.type.strip_typedefs()
    if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        type_ = type_.target().strip_typedefs()
    type_ = type_.unqualified()
    if type_.code != gdb.TYPE_CODE_STRUCT:
        return None
    if gdb_target.is_array(type_):
        return ArrayPrinter(value)
    if gdb_target.is_tensor(type_) or gdb_target.is_node_type(type_):
        return TensorPrinter(value)
    if re.match(r"xt::svector<unsigned long, 4", str(type_)):
        return ShapePrinter(value)
    return BY_NAME[type_.name](value) if type_.name in BY_NAME else None


def lookup_printer(value):
    printer = expandable_printer(value)
    return TextPrinter(printer) if printer and matrices.value else printer


lookup_printer.name = "heed"
lookup_printer.enabled = True
lookup_printer.subprinters = []
# If heed_gdb.py is sourced again, its printers replace the registered ones.
gdb.pretty_printers[:] = [p for p in gdb.pretty_printers if getattr(p, "name", "") != "heed"]
gdb.pretty_printers.insert(0, lookup_printer)
