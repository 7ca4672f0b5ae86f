"""memory.py: reads arrays and graph nodes from the program's memory, without calling its functions.

gdb_target.py and lldb_target.py each derive a target from Target, with these methods:
  read(address, size)          bytes; raises DebuggerError when the memory is not readable
  type(type_name)              the debugger's type; raises DebuggerError when the program has none
  member(type, name)           offset (bytes) and type of a member, also of a base class, or None
  name_of(type), sizeof(type)
  element_code(pointer_type)   the element type, as a type code of the module `array`
  symbol(address)              the symbol at an address, such as "vtable for heed::Node", or ""
"""

import array
import collections
import re
import struct

MAX_AXES = 32
MAX_STRING = 4096  # bytes


class DebuggerError(Exception):
    """An error message for the user, in one line."""


# A program that computes in double has its names in the inline namespace heed::float64.
FLOAT64 = "heed::float64::"


def plain(name):
    """A name without the namespace of programs that compute in double: heed::Node."""
    return (name or "").replace(FLOAT64, "heed::")


def without_arguments(name):
    """The name of a function without its arguments, which may contain templates of functions."""
    depth = 0
    for i, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0 and not name.startswith("(anonymous namespace)", i):
            return name[:i]
    return name


def full_names(name):
    """The names that heed::X may have in the program."""
    return [name, name.replace("heed::", FLOAT64, 1)] if name.startswith("heed::") else [name]


class Target:
    """What the targets of both debuggers have in common: layouts, which are looked up once."""

    script = ""  # the script that loaded these modules
    arm_strings = False  # whether libc++ stores strings as on Apple's ARM

    def __init__(self):
        self.clear()

    def clear(self, _=None):
        self.node_classes, self.layouts = {}, {}

    def offset(self, type_, path):
        """The offset and the type of a member such as "value.m_storage.p_begin"."""
        result, type_ = 0, self.type(type_)
        for name in path.split("."):
            found = self.member(type_, name)
            if not found:
                raise DebuggerError("heed: %s has no member %s; use this version's %s"
                                    % (self.name_of(type_), name, self.script))
            result, type_ = result + found[0], found[1]
        return result, type_

    def has(self, type_, path):
        try:
            return self.offset(type_, path) is not None
        except DebuggerError:
            return False

    def node_layout(self):
        if "node" not in self.layouts:
            self.layouts["node"] = NodeLayout(self)
        return self.layouts["node"]

    def array_layout(self, type_):
        key = self.name_of(type_)
        if key not in self.layouts:
            self.layouts[key] = array_layout(self, type_)
        return self.layouts[key]


def pointer_at(block, offset):
    return struct.unpack_from("<Q", block, offset)[0]


def pointer(target, address):
    return pointer_at(target.read(address, 8), 0)


def text(target, address, size):
    if size == 0:
        return ""
    if size > MAX_STRING:
        raise DebuggerError("a string seems uninitialised: its length is %d bytes" % size)
    return target.read(address, size).decode("utf-8", "backslashreplace")


def c_text(target, address):
    """Reads a null-terminated string."""
    result = b""
    while len(result) < MAX_STRING:
        # A read must not cross a page boundary: the next page may not be mapped.
        part = target.read(address + len(result), 64 - (address + len(result)) % 64)
        if b"\0" in part:
            return (result + part[: part.index(b"\0")]).decode("utf-8", "backslashreplace")
        result += part
    return result.decode("utf-8", "backslashreplace")


UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
                         r"\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]")


def printable(name):
    """A name as the library prints it: printable() in src/base/text.cpp."""
    def escape(match):
        c = ord(match[0])
        short = {9: "\\t", 10: "\\n", 13: "\\r"}.get(c)
        return short or ("\\x%02x" if c < 0x100 else "\\u%04x" if c < 0x10000 else "\\U%08x") % c
    return "␣" if name == " " else UNPRINTABLE.sub(escape, name)


ArrayLayout = collections.namedtuple("ArrayLayout", "shape_begin shape_end begin end code")


def array_layout(target, type_name, prefix=""):
    """The offsets of an xt::xarray's shape and data pointers inside an object of type `type_name`."""
    member = lambda path: target.offset(type_name, prefix + path)
    begin, pointer_type = member("m_storage.p_begin")
    return ArrayLayout(member("m_shape.m_begin")[0], member("m_shape.m_end")[0], begin,
                       member("m_storage.p_end")[0], target.element_code(pointer_type))


class Array:
    """An array's shape and address. Its elements are read from the debugged program on demand."""

    def __init__(self, target, shape, code, address):
        self.target, self.shape, self.code, self.address = target, shape, code, address
        self.itemsize = array.array(code).itemsize
        self.size = 1
        for n in shape:
            self.size *= n

    def numbers(self, start=0, count=None):
        count = self.size - start if count is None else count
        result = array.array(self.code)
        if count:
            result.frombytes(self.bytes(start, count))
        return result

    def bytes(self, start, count):
        return self.target.read(self.address + start * self.itemsize, count * self.itemsize)


def read_shape(target, begin, end):
    if end < begin or (end - begin) % 8 or end - begin > 8 * MAX_AXES:
        raise DebuggerError("not initialised yet")
    return struct.unpack("<%dQ" % ((end - begin) // 8), target.read(begin, end - begin) if end > begin else b"")


EXPRESSION = r"xt::x([a-z_]*view|function|broadcast|reducer|generator|scalar|repeat)<"


def expression_shape(target, type_, address_of, value):
    """The shape that an xtensor expression such as a view stores; None if it computes its shape."""
    try:
        address = address_of(value)
        return read_shape(target, *(pointer(target, address + target.offset(type_, "m_shape." + name)[0])
                                    for name in ("m_begin", "m_end")))
    except DebuggerError:
        return None


def read_array(target, address, layout):
    block = target.read(address, max(layout[:4]) + 8)
    shape = read_shape(target, pointer_at(block, layout.shape_begin), pointer_at(block, layout.shape_end))
    begin, end = pointer_at(block, layout.begin), pointer_at(block, layout.end)
    return checked_array(Array(target, shape, layout.code, begin), end)


def checked_array(result, end):
    """Returns the array, if its elements end at the address `end` as its shape says."""
    if end - result.address != result.size * result.itemsize:
        raise DebuggerError("not initialised yet")
    return result


Contribution = collections.namedtuple("Contribution", "op name location norm")
Link = collections.namedtuple("Link", "address control")  # the two pointers of a shared_ptr<Node>


class NodeLayout:
    """The member offsets of heed::Node and heed::Contribution, looked up once."""

    def __init__(self, target):
        node, contribution = "heed::Node", "heed::Contribution"
        offset_of = lambda path, name=node: target.offset(name, path)[0]
        self.size = target.sizeof(node)
        self.value = array_layout(target, node, "value.")
        self.grad = array_layout(target, node, "grad.")
        self.flags = {flag: offset_of(flag) for flag in ("has_grad", "requires_grad")}
        self.depth, self.op, self.name = offset_of("depth"), offset_of("op"), offset_of("name")
        self.file, self.line = offset_of("location.file"), offset_of("location.line")
        self.inputs, self.contributions = offset_of("inputs"), offset_of("contributions")
        self.contribution_size = target.sizeof(contribution)
        self.contribution_op = offset_of("op", contribution)
        self.contribution_name = offset_of("name", contribution)
        self.contribution_file = offset_of("location.file", contribution)
        self.contribution_line = offset_of("location.line", contribution)
        self.contribution_norm = offset_of("norm", contribution)
        self.library = "libstdc++" if target.has(node, "name._M_dataplus") else "libc++"
        self.arm_strings = target.arm_strings


def std_string(target, layout, block, offset):
    if layout.library == "libstdc++":
        return text(target, pointer_at(block, offset), pointer_at(block, offset + 8))
    # libc++ stores a string of up to 22 bytes inside the string object (small-string optimisation).
    # One bit of the object tells whether its string is stored inside: the highest bit of the last
    # byte on Apple's ARM, else the lowest bit of the first byte.
    if layout.arm_strings:
        if block[offset + 23] < 128:
            return block[offset: offset + block[offset + 23]].decode("utf-8", "backslashreplace")
        return text(target, pointer_at(block, offset), pointer_at(block, offset + 8))
    if block[offset] & 1:
        return text(target, pointer_at(block, offset + 16), pointer_at(block, offset + 8))
    return block[offset + 1: offset + 1 + block[offset] // 2].decode("utf-8", "backslashreplace")


def string_view(target, layout, block, offset):
    first, second = pointer_at(block, offset), pointer_at(block, offset + 8)
    size, address = (first, second) if layout.library == "libstdc++" else (second, first)
    return text(target, address, size)


def read_links(target, begin, end):
    """Reads the shared_ptr<Node> objects between two addresses."""
    if end < begin or (end - begin) % 16 or end - begin > 16 * 100000000:
        raise DebuggerError("not initialised yet")
    if begin == end:
        return []
    words = struct.unpack("<%dQ" % ((end - begin) // 8), target.read(begin, end - begin))
    return [Link(*pair) for pair in zip(words[::2], words[1::2])]


def with_control(target, link):
    """Adds the address of the control block, which allocate_shared puts 16 bytes before the node."""
    try:
        vtable = pointer(target, link.address - 16)
        if not link.control and "_Sp_counted_ptr_inplace<heed::" in target.symbol(vtable):
            return Link(link.address, link.address - 16)
    except DebuggerError:
        pass
    return link


class Node:
    """A copy of a heed::Node, made when the debugger reads the node."""

    def __init__(self, target, link):
        self.target, self.link, self.address = target, link, link.address
        self.layout = layout = target.node_layout()
        self.block = block = target.read(link.address, layout.size)
        for name, offset in layout.flags.items():
            setattr(self, name, block[offset] != 0)
        self.vtable = pointer_at(block, 0)
        self.depth = pointer_at(block, layout.depth)
        self.op = string_view(target, layout, block, layout.op)
        self.name = printable(std_string(target, layout, block, layout.name))
        self.inputs = read_links(target, pointer_at(block, layout.inputs),
                                 pointer_at(block, layout.inputs + 8))
        self.shape = self.value.shape
        self.inputs_text, self.input_addresses = None, []  # set by graph.inputs_text
        self.control = target.read(link.control, 8) if link.control else b""

    @property
    def value(self):
        return read_array(self.target, self.address, self.layout.value)

    @property
    def grad(self):
        return read_array(self.target, self.address, self.layout.grad) if self.has_grad else None

    @property
    def location(self):
        line = struct.unpack_from("<i", self.block, self.layout.line)[0]
        return "%s:%d" % (c_text(self.target, pointer_at(self.block, self.layout.file)), line)

    @property
    def contributions(self):
        layout, offset = self.layout, self.layout.contributions
        begin, end = pointer_at(self.block, offset), pointer_at(self.block, offset + 8)
        size = layout.contribution_size
        return [self.contribution(self.target.read(address, size)) for address in range(begin, end, size)]

    def contribution(self, block):
        layout, target = self.layout, self.target
        line = struct.unpack_from("<i", block, layout.contribution_line)[0]
        return Contribution(std_string(target, layout, block, layout.contribution_op),
                            printable(std_string(target, layout, block, layout.contribution_name)),
                            "%s:%d" % (c_text(target, pointer_at(block, layout.contribution_file)), line),
                            struct.unpack_from("<d", block, layout.contribution_norm)[0])

    def reread(self):
        """Reads the node again. Returns None if the program has freed the node."""
        try:
            # free() overwrites the start of the memory block, which holds shared_ptr's counters.
            counts = self.target.read(self.link.control, 12) if self.link.control else b""
            if counts[:8] != self.control or (counts and struct.unpack_from("<i", counts, 8)[0] <= 0
                                              and self.layout.library == "libstdc++"):
                return None
            return Node(self.target, self.link) if is_node(self.target, self.address) else None
        except DebuggerError:
            return None


def node_class(target, address):
    """The class of the node at an address, such as "heed::OpNode<heed::Softmax, 1ul>", or ""."""
    try:
        vtable = pointer(target, address)
    except DebuggerError:
        return ""
    if vtable not in target.node_classes:
        name = target.symbol(vtable)
        is_vtable = name.startswith("vtable for ") and ("OpNode<" in name or plain(name) == "vtable for heed::Node")
        target.node_classes[vtable] = name[len("vtable for "):] if is_vtable else ""
    return target.node_classes[vtable]


def is_node(target, address):
    return address > 4096 and node_class(target, address) != ""
