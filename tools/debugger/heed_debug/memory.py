"""memory.py: reads arrays and objects from the program's memory, without calling its functions."""

import array
import collections
import re
import struct

from heed_debug.target import DebuggerError

MAX_AXES = 32

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
                         r"\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]")


def printable(name):
    """A name as the library prints it: printable() in src/base/text.cpp."""
    def escape(match):
        c = ord(match[0])
        short = {9: "\\t", 10: "\\n", 13: "\\r"}.get(c)
        return short or ("\\x%02x" if c < 0x100 else "\\u%04x" if c < 0x10000 else "\\U%08x") % c
    return "␣" if name == " " else UNPRINTABLE.sub(escape, name)


# ---- arrays

ArrayLayout = collections.namedtuple("ArrayLayout", "shape_begin shape_end begin end code")


def array_layout(target, type_, prefix=""):
    """The offsets of the pointers of an xt::xarray inside an object; `prefix` is the path of the array."""
    key = type_ if isinstance(type_, str) else target.name_of(type_), prefix
    if key not in target.array_layouts:
        paths = ("m_shape.m_begin", "m_shape.m_end", "m_storage.p_begin", "m_storage.p_end")
        found = [target.offset(type_, prefix + path) for path in paths]
        element = target.pointee(found[2][1])
        code = target.element_code(element)
        if code is None:
            raise DebuggerError("heed: arrays of type %s are not supported" % target.name_of(element))
        target.array_layouts[key] = ArrayLayout(*(offset for offset, _ in found), code)
    return target.array_layouts[key]


class Array:
    """An array's shape and address. Its elements are read from the debugged program on demand. They must
    end at the address `end`, as the shape says."""

    def __init__(self, target, shape, code, address, end):
        self.target, self.shape, self.code, self.address = target, shape, code, address
        self.itemsize = array.array(code).itemsize
        self.size = 1
        for n in shape:
            self.size *= n
        if end - address != self.size * self.itemsize:
            raise DebuggerError("not initialised yet")

    def numbers(self, start=0, count=None):
        count = self.size - start if count is None else count
        result = array.array(self.code)
        if count:
            result.frombytes(self.target.read(self.address + start * self.itemsize, count * self.itemsize))
        return result


def read_words(target, begin, end, limit, width=1):
    """The words of 8 bytes between two addresses, at most `limit` times `width` of them."""
    if end < begin or (end - begin) % (8 * width) or end - begin > 8 * width * limit:
        raise DebuggerError("not initialised yet")
    return struct.unpack("<%dQ" % ((end - begin) // 8), target.read(begin, end - begin) if end > begin else b"")


def read_shape(target, begin, end):
    return read_words(target, begin, end, MAX_AXES)


def read_array(target, address, layout):
    block = target.read(address, max(layout[:4]) + 8)
    shape_begin, shape_end, begin, end = (struct.unpack_from("<Q", block, offset)[0] for offset in layout[:4])
    return Array(target, read_shape(target, shape_begin, shape_end), layout.code, begin, end)


# ---- objects


class Record:
    """A copy of an object of one of heed's types, made when the debugger reads the object."""

    def __init__(self, target, type_, address):
        self.target, self.type, self.address = target, type_, address
        self.block = target.read(address, target.sizeof(target.type(type_)))

    def field(self, path, form="Q", skipped=0):
        """A member, as struct.unpack reads it; `skipped` bytes before it belong to the member too."""
        return struct.unpack_from("<" + form, self.block, self.target.offset(self.type, path)[0] + skipped)[0]

    @property
    def location(self):
        return "%s:%d" % (self.target.c_text(self.field("location.file")), self.field("location.line", "i"))

    def view(self, path):
        """A std::string_view."""
        first, second = self.field(path), self.field(path, skipped=8)
        size, address = (first, second) if is_libstdcxx(self.target) else (second, first)
        return self.target.text(address, size)

    def string(self, path):
        """A std::string."""
        offset = self.target.offset(self.type, path)[0]
        return std_string(self.target, self.block[offset: offset + 32])


def is_libstdcxx(target):
    return target.has("heed::Node", "name._M_dataplus")


def std_string(target, block):
    """The text of the std::string whose bytes are `block`."""
    first, second, third = struct.unpack_from("<3Q", block)
    if is_libstdcxx(target):
        return target.text(first, second)
    # libc++ stores a string of up to 22 bytes inside the string object (small-string optimisation).
    # One bit of the object tells whether its string is stored inside: the highest bit of the last
    # byte on Apple's ARM, else the lowest bit of the first byte.
    if target.arm_strings:
        inside = block[: block[23]] if block[23] < 128 else None
        address, size = first, second
    else:
        inside = None if block[0] & 1 else block[1: 1 + block[0] // 2]
        address, size = third, second
    return target.text(address, size) if inside is None else inside.decode("utf-8", "backslashreplace")
