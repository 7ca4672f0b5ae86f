"""memory.py: arrays and nodes as they lie in memory; nothing here calls into the program.

A target, which gdb or lldb provide, has
  read(address, size)          bytes, or Trouble when there is no such memory
  offset(type_name, path)      of a member such as "value.m_storage.p_begin", in bytes, and its type
  has(type_name, path)         whether there is such a member
  sizeof(type_name)
  element_code(type)           of what a pointer type points to, as the module `array` calls it
  symbol(address)              the name of what lies there, such as "vtable for heed::Node", or ""
"""

import array
import collections
import struct

MOST_AXES = 32
MOST_TEXT = 4096


class Trouble(Exception):
    """What the user is told, in one line."""


def pointer_at(block, offset):
    return struct.unpack_from("<Q", block, offset)[0]


def pointer(target, address):
    return pointer_at(target.read(address, 8), 0)


def text(target, address, size):
    if size == 0:
        return ""
    if size > MOST_TEXT:
        raise Trouble("a text of %d bytes is not initialised yet" % size)
    return target.read(address, size).decode("utf-8", "replace")


def c_text(target, address):
    """A text that ends in a zero byte."""
    result = b""
    while len(result) < MOST_TEXT:
        # Never across a page: the next one may not be there.
        part = target.read(address + len(result), 64 - (address + len(result)) % 64)
        if b"\0" in part:
            return (result + part[: part.index(b"\0")]).decode("utf-8", "replace")
        result += part
    return result.decode("utf-8", "replace")


ArrayLayout = collections.namedtuple("ArrayLayout", "shape_begin shape_end begin end code")


def array_layout(target, type_name, prefix=""):
    """Where an xt::xarray keeps its shape and its numbers, from the start of `type_name`."""
    at = lambda path: target.offset(type_name, prefix + path)
    begin, pointer_type = at("m_storage.p_begin")
    return ArrayLayout(at("m_shape.m_begin")[0], at("m_shape.m_end")[0], begin,
                       at("m_storage.p_end")[0], target.element_code(pointer_type))


class Array:
    """The shape and the place of a block of numbers; they are read when asked for."""

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
    if end < begin or (end - begin) % 8 or end - begin > 8 * MOST_AXES:
        raise Trouble("not initialised yet")
    return struct.unpack("<%dQ" % ((end - begin) // 8), target.read(begin, end - begin) if end > begin else b"")


def read_array(target, address, layout):
    block = target.read(address, max(layout[:4]) + 8)
    shape = read_shape(target, pointer_at(block, layout.shape_begin), pointer_at(block, layout.shape_end))
    begin, end = pointer_at(block, layout.begin), pointer_at(block, layout.end)
    result = Array(target, shape, layout.code, begin)
    if end - begin != result.size * result.itemsize:
        raise Trouble("not initialised yet")
    return result


Contribution = collections.namedtuple("Contribution", "op name where norm")
Link = collections.namedtuple("Link", "address control")  # what a shared_ptr holds


class NodeLayout:
    """The offsets of all that is read of a heed::Node, looked up once."""

    def __init__(self, target):
        node, part = "heed::Node", "heed::Contribution"
        at = lambda path, name=node: target.offset(name, path)[0]
        self.size = target.sizeof(node)
        self.value = array_layout(target, node, "value.")
        self.grad = array_layout(target, node, "grad.")
        self.flags = {f: at(f) for f in ("has_grad", "requires_grad", "released")}
        self.depth, self.op, self.name = at("depth"), at("op"), at("name")
        self.file, self.line = at("where.file"), at("where.line")
        self.inputs, self.contributions = at("inputs"), at("contributions")
        self.part_size = target.sizeof(part)
        self.part_op, self.part_name = at("op", part), at("name", part)
        self.part_file, self.part_line = at("where.file", part), at("where.line", part)
        self.part_norm = at("norm", part)
        self.library = "libstdc++" if target.has(node, "name._M_dataplus") else "libc++"
        self.arm_strings = getattr(target, "arm_strings", False)


def std_string(target, layout, block, offset):
    if layout.library == "libstdc++":
        return text(target, pointer_at(block, offset), pointer_at(block, offset + 8))
    # libc++ keeps up to 22 bytes in place; one bit, elsewhere on Apple's ARM, tells.
    if layout.arm_strings:
        if block[offset + 23] < 128:
            return block[offset: offset + block[offset + 23]].decode("utf-8", "replace")
        return text(target, pointer_at(block, offset), pointer_at(block, offset + 8))
    if block[offset] & 1:
        return text(target, pointer_at(block, offset + 16), pointer_at(block, offset + 8))
    return block[offset + 1: offset + 1 + block[offset] // 2].decode("utf-8", "replace")


def string_view(target, layout, block, offset):
    first, second = pointer_at(block, offset), pointer_at(block, offset + 8)
    size, address = (first, second) if layout.library == "libstdc++" else (second, first)
    return text(target, address, size)


def read_links(target, begin, end):
    """The shared_ptrs between two addresses."""
    if end < begin or (end - begin) % 16 or end - begin > 16 * 100000000:
        raise Trouble("not initialised yet")
    if begin == end:
        return []
    words = struct.unpack("<%dQ" % ((end - begin) // 8), target.read(begin, end - begin))
    return [Link(*pair) for pair in zip(words[::2], words[1::2])]


class Node:
    """One heed::Node, as it was when it was read."""

    def __init__(self, target, link):
        self.target, self.link, self.address = target, link, link.address
        self.layout = layout = target.node_layout()
        self.block = block = target.read(link.address, layout.size)
        for name, offset in layout.flags.items():
            setattr(self, name, block[offset] != 0)
        self.vtable = pointer_at(block, 0)
        self.depth = pointer_at(block, layout.depth)
        self.op = string_view(target, layout, block, layout.op)
        self.name = std_string(target, layout, block, layout.name)
        self.inputs = read_links(target, pointer_at(block, layout.inputs),
                                 pointer_at(block, layout.inputs + 8))
        self.shape = self.value.shape
        self.told = None  # its inputs, as the list of a graph names them
        self.control = target.read(link.control, 8) if link.control else b""

    @property
    def value(self):
        return read_array(self.target, self.address, self.layout.value)

    @property
    def grad(self):
        return read_array(self.target, self.address, self.layout.grad) if self.has_grad else None

    @property
    def where(self):
        line = struct.unpack_from("<i", self.block, self.layout.line)[0]
        return "%s:%d" % (c_text(self.target, pointer_at(self.block, self.layout.file)), line)

    @property
    def contributions(self):
        layout, offset = self.layout, self.layout.contributions
        begin, end = pointer_at(self.block, offset), pointer_at(self.block, offset + 8)
        blocks = [self.target.read(at, layout.part_size) for at in range(begin, end, layout.part_size)]
        return [self.contribution(block) for block in blocks]

    def contribution(self, block):
        layout, target = self.layout, self.target
        line = struct.unpack_from("<i", block, layout.part_line)[0]
        return Contribution(std_string(target, layout, block, layout.part_op),
                            std_string(target, layout, block, layout.part_name),
                            "%s:%d" % (c_text(target, pointer_at(block, layout.part_file)), line),
                            struct.unpack_from("<d", block, layout.part_norm)[0])

    def fresh(self):
        """The same node as it is now, or None when it was freed."""
        try:
            # Freeing memory overwrites the start of it, the counts that shared_ptr keeps.
            counts = self.target.read(self.link.control, 12) if self.link.control else b""
            if counts[:8] != self.control or (counts and struct.unpack_from("<i", counts, 8)[0] <= 0
                                              and self.layout.library == "libstdc++"):
                return None
            return Node(self.target, self.link) if is_node(self.target, self.address) else None
        except Trouble:
            return None


def kind_of(target, address):
    """The class of the node at an address, such as "heed::OpNode<heed::Softmax, 1ul>", or ""."""
    try:
        vtable = pointer(target, address)
    except Trouble:
        return ""
    if vtable not in target.kinds:
        name = target.symbol(vtable)
        wanted = name.startswith("vtable for ") and ("OpNode<" in name or name == "vtable for heed::Node")
        target.kinds[vtable] = name[len("vtable for "):] if wanted else ""
    return target.kinds[vtable]


def is_node(target, address):
    return address > 4096 and kind_of(target, address) != ""
