"""target.py: the program in the debugger, its memory and its types, and the names that C++ gives them.

gdb_target.py and lldb_target.py each derive a target from Target, with these methods:
  read_memory(address, size)   bytes, or None when the memory is not readable
  find_type(name), has_function(name)   the debugger's type, or None; whether the program has a function
  without_types()              the error message for a program without heed's types
  bare(type)                   the type without const, references and typedefs
  is_reference(type), pointee(type)   the type to which a pointer points, or None
  fields(type)                 (name, offset in bytes, type, whether a base class) of each member
  template_argument(type)      the first one
  name_of(type), sizeof(type)
  element_code(type)           the type code of the module `array`, or None
  symbol(address)              the symbol at an address, such as "vtable for heed::Node", or ""
"""

import struct

MAX_STRING = 4096  # bytes


class DebuggerError(Exception):
    """An error message for the user, in one line."""


# What both debuggers say when the program cannot go on.
CANNOT_CONTINUE = ("heed: this program cannot continue (is it a core file?); the commands graph, grad, show, why, "
                   "back and save still work")
CHECK_CALLS = "heed: `heed check` calls the program, so it needs a running program, not a core file"
ENDED = "the program ended%s; `run` starts it again"


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
    """What the targets of both debuggers have in common. Types and offsets are looked up once."""

    script = ""  # the script that loaded these modules
    arm_strings = False  # whether libc++ stores strings as on Apple's ARM

    def __init__(self):
        self.clear()

    def clear(self, _=None):
        self.types, self.offsets, self.array_layouts, self.node_classes, self.holds = {}, {}, {}, {}, {}

    # ---- memory

    def read(self, address, size):
        """Raises DebuggerError when the memory is not readable."""
        result = self.read_memory(address, size)
        if result is None or len(result) != size:
            raise DebuggerError("heed: cannot read memory at 0x%x" % address)
        return result

    def pointer(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def text(self, address, size):
        if size == 0:
            return ""
        if size > MAX_STRING:
            raise DebuggerError("a string seems uninitialised: its length is %d bytes" % size)
        return self.read(address, size).decode("utf-8", "backslashreplace")

    def c_text(self, address):
        """Reads a null-terminated string."""
        result = b""
        while b"\0" not in result and len(result) < MAX_STRING:
            # A read must not cross a page boundary: the next page may not be mapped.
            result += self.read(address + len(result), 64 - (address + len(result)) % 64)
        return result.split(b"\0")[0].decode("utf-8", "backslashreplace")

    # ---- types

    def type(self, type_):
        """The type with a name. Raises DebuggerError when the program has none."""
        if not isinstance(type_, str):
            return type_
        if type_ not in self.types:
            found = next(filter(None, map(self.find_type, full_names(type_))), None)
            if found is None:
                raise DebuggerError(self.without_types())
            self.types[type_] = self.bare(found)
        return self.types[type_]

    def find_function(self, name):
        """The full name of a function such as heed::backward in the program, or None."""
        return next(filter(self.has_function, full_names(name)), None)

    def member(self, type_, name):
        """The offset and the type of a member of a type or of its base classes, or None."""
        for field, offset, field_type, is_base in self.fields(type_):
            if field == name:
                return offset, self.bare(field_type)
            found = self.member(self.bare(field_type), name) if is_base else None
            if found:
                return offset + found[0], found[1]
        return None

    def offset(self, type_, path):
        """The offset and the type of a member such as "value.m_storage.p_begin"."""
        key = type_ if isinstance(type_, str) else self.name_of(type_), path
        if key not in self.offsets:
            self.offsets[key] = self.find_offset(self.type(type_), path)
        return self.offsets[key]

    def find_offset(self, type_, path):
        result = 0
        for name in path.split("."):
            found = self.member(type_, name)
            if not found:
                raise DebuggerError("heed: %s has no member %s; use this version's %s"
                                    % (self.name_of(type_), name, self.script))
            result, type_ = result + found[0], found[1]
        return result, type_

    def has(self, type_, path):
        """Whether a type has a member."""
        if ("has", type_, path) not in self.offsets:
            try:
                self.offsets["has", type_, path] = self.offset(type_, path) is not None
            except DebuggerError:
                self.offsets["has", type_, path] = False
        return self.offsets["has", type_, path]
