"""printers.py: gdb pretty-printers for arrays and tensors, and the choice of the printer of a value.

An array or a tensor of up to two axes is printed as a matrix. One with more axes, and one inside an
object, is printed in one line with its norm, minimum and maximum; `heed show` prints its matrices.
After `set print heed-matrices off`, gdb prints one line for each array, and an IDE can expand it."""

import re

import gdb

from heed_debug import gdb_target, graph, memory, numbers, object_printers, values
from heed_debug.gdb_target import target
from heed_debug.printer import ExpandablePrinter, Printer, in_summary, matrices, pointed_at
from heed_debug.target import plain


def prints_matrix(array):
    return matrices.value and not in_summary() and len(array.shape) <= 2


class ArrayPrinter(ExpandablePrinter):
    """In a backtrace the shape, else the matrix or one line."""

    def text(self):
        array = values.array_of(self.value)
        if in_summary():
            return numbers.shape_text(array.shape)
        return numbers.array_text(array) if prints_matrix(array) else numbers.brief_text(array)

    def parts(self):
        yield "shape", self.value["m_shape"]
        array = values.array_of(self.value)
        if array.size == 0:
            return
        type_ = target.pointee(target.bare(self.value["m_storage"]["p_begin"].type))
        for n in reversed(array.shape):  # an IDE can expand an array of gdb axis by axis
            type_ = type_.array(n - 1)
        whole = pointed_at(array.address, type_)
        if not array.shape:
            yield "value", whole
        for i in range(array.shape[0] if array.shape else 0):
            yield "[%d]" % i, whole[i]


class TensorPrinter(ExpandablePrinter):
    """Prints a tensor as: 'weights' = Softmax (1, 3, 3) = {value = ..., grad = ...}"""

    def text(self):
        node = values.node_of(self.value)
        if node is None:
            return "undefined tensor"
        if in_summary():
            return graph.named_title(node)
        return self.matrices(node) if prints_matrix(node.value) else graph.brief_text(node)

    def matrices(self, node):
        value, grad = [numbers.array_text(a, "    ") if a is not None else "no gradient yet"
                       for a in (node.value, node.grad)]
        head = graph.named_title(node) + " = "
        if "\n" in value or "\n" in grad:
            return head + "{\n  value = " + value + ",\n  grad = " + grad + "}"
        return head + "{value = " + value + ", grad = " + grad + "}"

    def parts(self):
        node = values.node_of(self.value)
        if node is None:
            return
        for name in ["value"] + ["grad"] * node.has_grad + ["has_grad", "op", "name", "location"]:
            offset, type_ = target.offset("heed::Node", name)
            yield name, pointed_at(node.address + offset, type_)
        for i in range(len(node.inputs)):  # Tensor has one member, a shared_ptr<Node> of 16 bytes
            yield "input %d" % i, pointed_at(node.field("inputs") + 16 * i, target.type("heed::Tensor"))


class ShapePrinter(Printer):
    def text(self):
        begin, end = int(self.value["m_begin"]), int(self.value["m_end"])
        return numbers.shape_text(memory.read_shape(target, begin, end))


class ExpressionPrinter(Printer):
    def text(self):
        return values.expression_text(self.value)


class TextPrinter:
    """A gdb pretty-printer without children(): an IDE shows the text of to_string() as it is."""

    def __init__(self, printer):
        self.to_string = printer.to_string


def expandable_printer(value):
    type_ = gdb_target.type_of(value)
    if type_.code != gdb.TYPE_CODE_STRUCT:
        return None
    if values.is_array(type_):
        return ArrayPrinter(value)
    if plain(type_.name) == "heed::Upstream":
        return ArrayPrinter(value["array"])
    if values.refers_to_node(type_):
        return TensorPrinter(value)
    if re.match(r"xt::svector<unsigned long, 4", str(type_)):
        return ShapePrinter(value)
    if re.match(values.EXPRESSION, str(type_)):
        return ExpressionPrinter(value)
    printer = object_printers.BY_NAME.get(plain(type_.name))
    return printer(value) if printer else None


def lookup_printer(value):
    printer = expandable_printer(value)
    if not matrices.value:
        return printer
    printer = printer or object_printers.parts_printer(value)
    return TextPrinter(printer) if printer else None


lookup_printer.name = "heed"
lookup_printer.enabled = True
lookup_printer.subprinters = []


def register_in(printers):
    """If heed_gdb.py is sourced again, its printers replace the registered ones."""
    printers[:] = [lookup_printer] + [p for p in printers if getattr(p, "name", "") != "heed"]


# gdb asks the printers of object files first, and libstdc++ has some for std::vector<heed::Tensor>.
register_in(gdb.pretty_printers)
for objfile in gdb.objfiles():
    register_in(objfile.pretty_printers)
gdb.events.new_objfile.connect(lambda event: register_in(event.new_objfile.pretty_printers))
