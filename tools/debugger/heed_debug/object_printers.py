"""object_printers.py: gdb pretty-printers for objects that contain arrays or tensors, and for generators."""

import itertools

import gdb

from heed_debug import gdb_target, graph, memory, numbers, values
from heed_debug.gdb_target import ERRORS, target
from heed_debug.node import Node
from heed_debug.printer import ExpandablePrinter, Printer, in_summary, matrices, pointed_at, text_of_error
from heed_debug.target import DebuggerError, plain

MAX_PARTS = 40  # lines of one object


class ParametersPrinter(ExpandablePrinter):
    def nodes(self):
        links = values.links_at(self.value.type, gdb_target.address_of(self.value))
        return [Node(target, link) for link in links]

    def text(self):
        nodes = self.nodes()
        head = "%d parameters, %d numbers" % (len(nodes), sum(node.value.size for node in nodes))
        if in_summary() or not matrices.value:
            return head
        return head + "".join("\n  %s %s" % (n.name, numbers.shape_text(n.shape)) for n in nodes)

    def parts(self):
        first = target.pointer(gdb_target.address_of(self.value["tensors_"]))
        tensor = target.type("heed::Tensor")
        for i, node in enumerate(self.nodes()):
            yield node.name, pointed_at(first + i * tensor.sizeof, tensor)


class ScopePrinter(Printer):
    def text(self):
        address = gdb_target.address_of(self.value["prefix"])
        prefix = memory.printable(memory.std_string(target, target.read(address, 32)))
        parameters = ParametersPrinter(self.value["store"].referenced_value())
        return "Scope '%s' with %d parameters" % (prefix, len(parameters.nodes()))


class GeneratorPrinter(Printer):
    def text(self):
        bits, precision = self.value["bits_"], str(self.value["precision_"]).split("::")[-1]
        used, words = int(bits["next"]), bits["words"].type.sizeof // 4
        if used > words:
            return "<not initialised yet>"
        result = "Generator (Mersenne Twister) of %s numbers, %d of %d state words used" % (
            precision, used, words)
        if self.value["has_cached_normal_"]:
            result += ", next normal sample: %.4f" % float(self.value["cached_normal_"])
        return result


BY_NAME = {"heed::Parameters": ParametersPrinter, "heed::Scope": ScopePrinter,
           "heed::Generator": GeneratorPrinter}


def parts_of(value, path=""):
    """Yields (path, text) of the members of an object, such as ("attention.query.weight", "...")."""
    type_ = gdb_target.type_of(value)
    if values.is_tensor_or_array(type_):
        yield path, part_text(value, type_)
    elif str(type_).startswith("std::shared_ptr<"):
        if value["_M_ptr"]:  # a layer in float has an empty pointer to a matrix in bfloat16
            yield path, pointed_text(value)
    elif not values.holds(type_, values.is_tensor_or_array) or plain(type_.name) in BY_NAME:
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
        if values.is_array(type_):
            return numbers.brief_text(values.array_of(value))
        node = values.node_of(value)
        return "undefined tensor" if node is None else graph.brief_text(node)
    except ERRORS as error:
        return text_of_error(error)


def pointed_text(value):
    type_ = target.bare(value["_M_ptr"].type.target())
    if plain(type_.name) != "heed::Bf16Matrix":
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
    count = (int(end) - int(begin)) // target.bare(element).sizeof
    if not 0 <= count <= values.MAX_ELEMENTS:
        raise DebuggerError("not initialised yet")
    return [begin[i] for i in range(count)]


class PartsPrinter(Printer):
    """Prints an object that contains arrays or tensors, one line for each of its members."""

    def text(self):
        if in_summary():
            return "..."
        parts = list(itertools.islice(parts_of(self.value), MAX_PARTS + 1))
        if len(parts) == 1 and parts[0][0] == "":  # an empty std::optional
            return parts[0][1]
        lines = ["%s = %s" % part for part in parts[:MAX_PARTS]]
        return "\n  ".join(["{"] + lines + (["..."] if len(parts) > MAX_PARTS else [])) + "}"


def parts_printer(value):
    type_ = gdb_target.type_of(value)
    wanted = type_.code == gdb.TYPE_CODE_STRUCT and values.holds(type_, values.is_tensor_or_array)
    return PartsPrinter(value) if wanted else None
