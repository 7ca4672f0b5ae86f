"""printers.py: gdb pretty-printers for arrays, tensors, parameters, scopes and generators.

An array or a tensor of up to two axes is printed as a matrix. One with more axes, and one inside an
object, is printed in one line with its norm, minimum and maximum; `heed show` prints its matrices.
After `set print heed-matrices off`, gdb prints one line for each array, and an IDE can expand it."""

import itertools
import re

import gdb

from heed_debug import gdb_target, graph, memory, numbers
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError


def in_summary():
    """Whether gdb prints function arguments in a backtrace, where a matrix would be too long."""
    return getattr(gdb, "print_options", dict)().get("summary", False)


def prints_matrix(array):
    return matrices.value and not in_summary() and len(array.shape) <= 2


def array_text(array):
    """The text of an array: in a backtrace its shape, else its matrix or one line."""
    if in_summary():
        return numbers.shape_text(array.shape)
    return numbers.array_text(array) if prints_matrix(array) else numbers.brief_text(array)


class HeedMatrices(gdb.Parameter):
    """Set whether heed's arrays are printed as matrices.
On: shape and matrix as text. Off: one line, and children for an IDE to expand."""

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
        return array_text(gdb_target.array_of(self.value))

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
        tensor_pointer = target.type("heed::Tensor").pointer()
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


class ExpressionPrinter:
    def __init__(self, value):
        self.value = value

    @errors_as_text
    def to_string(self):
        return numbers.expression_text(memory.expression_shape(
            target, gdb_target.bare(self.value.type), gdb_target.address_of, self.value))


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
        if in_summary() or not matrices.value:
            return head
        return head + "".join("\n  %s %s" % (n.name, numbers.shape_text(n.shape)) for n in nodes)

    def children(self):
        try:
            first = memory.pointer(target, gdb_target.address_of(self.value["tensors_"]))
            tensor = target.type("heed::Tensor")
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
        prefix = memory.printable(
            memory.std_string(target, target.node_layout(), target.read(address, 32), 0))
        parameters = ParametersPrinter(self.value["store"].referenced_value())
        return "Scope '%s' with %d parameters" % (prefix, len(parameters.nodes()))


class GeneratorPrinter:
    def __init__(self, value):
        self.value = value

    @errors_as_text
    def to_string(self):
        bits, precision = self.value["bits_"], str(self.value["precision_"]).split("::")[-1]
        used, words = int(bits["next"]), bits["words"].type.sizeof // 4
        if used > words:
            return "<not initialised yet>"
        result = "Generator (Mersenne Twister) of %s numbers, %d of %d state words used" % (
            precision, used, words)
        if self.value["has_cached_normal_"]:
            result += ", next normal sample: %.4f" % float(self.value["cached_normal_"])
        return result


# ---- objects that contain arrays or tensors

MAX_PARTS = 40  # lines of one object


def parts_of(value, path=""):
    """Yields (path, text) of the members of an object, such as ("attention.query.weight", "...")."""
    type_ = gdb_target.bare(value.type)
    if gdb_target.is_tensor_or_array(type_):
        yield path, part_text(value, type_)
    elif str(type_).startswith("std::shared_ptr<"):
        if value["_M_ptr"]:  # a layer in float has an empty pointer to a matrix in bfloat16
            yield path, pointed_text(value)
    elif not gdb_target.holds(type_, gdb_target.is_tensor_or_array) or memory.plain(type_.name) in BY_NAME:
        yield path, member_text(value)
    elif str(type_).startswith("std::optional<") and not value["_M_payload"]["_M_engaged"]:
        yield path, "none"
    elif str(type_).startswith("std::"):
        for i, element in enumerate(elements_of(value, type_)):
            yield from parts_of(element, "%s[%d]" % (path, i))
    else:
        for field in type_.fields():
            if hasattr(field, "bitpos"):
                inner = path if field.is_base_class else path + "." + field.name if path else field.name
                yield from parts_of(value[field], inner)


def part_text(value, type_):
    try:
        if gdb_target.is_array(type_):
            return numbers.brief_text(gdb_target.array_of(value))
        node = TensorPrinter(value).node()
        return "undefined tensor" if node is None else graph.brief_text(node)
    except (DebuggerError, gdb.error, gdb.MemoryError) as error:
        return "<%s>" % str(error).replace("heed: ", "", 1)


def pointed_text(value):
    type_ = gdb_target.bare(value["_M_ptr"].type.target())
    if memory.plain(type_.name) != "heed::Bf16Matrix":
        return member_text(value)
    matrix = value["_M_ptr"].dereference()
    return "Bf16Matrix " + numbers.shape_text((int(matrix["rows_"]), int(matrix["columns_"])))


def member_text(value):
    try:
        text = " ".join(value.format_string(max_elements=8).split())
    except gdb.error as error:
        text = "<%s>" % error
    return text if len(text) <= 90 else text[:87] + "..."


def elements_of(value, type_):
    """The elements of a std::vector or std::array, or the value of a std::optional."""
    element = type_.template_argument(0)
    if str(type_).startswith("std::array<"):
        return [value["_M_elems"][i] for i in range(int(type_.template_argument(1)))]
    if str(type_).startswith("std::optional<"):
        return [value["_M_payload"]["_M_payload"]["_M_value"]]
    begin, end = (value["_M_impl"][name] for name in ("_M_start", "_M_finish"))
    count = (int(end) - int(begin)) // gdb_target.bare(element).sizeof
    if not 0 <= count <= 100000:
        raise DebuggerError("not initialised yet")
    return [begin[i] for i in range(count)]


class PartsPrinter:
    """Prints an object that contains arrays or tensors, one line for each of its members."""

    def __init__(self, value):
        self.value = value

    @errors_as_text
    def to_string(self):
        if in_summary():
            return "..."
        parts = list(itertools.islice(parts_of(self.value), MAX_PARTS + 1))
        if len(parts) == 1 and parts[0][0] == "":  # an empty std::optional
            return parts[0][1]
        lines = ["%s = %s" % part for part in parts[:MAX_PARTS]]
        return "\n  ".join(["{"] + lines + (["..."] if len(parts) > MAX_PARTS else [])) + "}"


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
    if memory.plain(type_.name) == "heed::Upstream":
        return ArrayPrinter(value["array"])
    if gdb_target.link_type(type_):
        return TensorPrinter(value)
    if re.match(r"xt::svector<unsigned long, 4", str(type_)):
        return ShapePrinter(value)
    if re.match(memory.EXPRESSION, str(type_)):
        return ExpressionPrinter(value)
    printer = BY_NAME.get(memory.plain(type_.name))
    return printer(value) if printer else None


def parts_printer(value):
    type_ = gdb_target.bare(value.type)
    wanted = type_.code == gdb.TYPE_CODE_STRUCT and gdb_target.holds(type_, gdb_target.is_tensor_or_array)
    return PartsPrinter(value) if wanted else None


def lookup_printer(value):
    if not matrices.value:
        return expandable_printer(value)
    printer = expandable_printer(value) or parts_printer(value)
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
