"""gdb_types.py: the program's memory and types in gdb. target.py describes the methods."""

import re

import gdb

from heed_debug.target import DebuggerError, Target

WITHOUT_G = ("heed: this program was built without -g, so gdb finds no variables; build it with "
             "`cmake --preset debug && cmake --build --preset debug`")
LIBRARY_WITHOUT_G = ("heed: this program has -g, but its library heed was built without, so gdb finds no tensors; "
                     "`./heed debug N` builds lesson N and the library with -g; link a program of your own "
                     "with the library that `cmake --preset debug && cmake --build --preset debug` builds")
NO_PROGRAM = "heed: no program is loaded; start gdb with one, such as build/debug/lessons/09_..."
NOT_HEED = "heed: this is not a heed program; start gdb with one, such as build/debug/lessons/09_..."
REFERENCES = gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF


def without_g():
    """The error message for a program in which heed's functions have no debug information."""
    return WITHOUT_G if gdb.lookup_global_symbol("main") is None else LIBRARY_WITHOUT_G


class GdbTarget(Target):
    """Reads the program's memory and types through gdb."""

    script = "heed_gdb.py"

    def read_memory(self, address, size):
        try:
            return gdb.selected_inferior().read_memory(address, size).tobytes()
        except gdb.MemoryError:
            return None
        except gdb.error as error:
            raise DebuggerError("heed: " + str(error))

    def find_type(self, name):
        try:
            return gdb.lookup_type(name)
        except gdb.error:
            return None

    def has_function(self, name):
        try:
            return bool(gdb.decode_line(name)[1])
        except gdb.error:
            return False

    def without_types(self):
        if not gdb.current_progspace().filename:
            return NO_PROGRAM
        return without_g() if self.find_function("heed::topological_order") else NOT_HEED

    def bare(self, type_):
        type_ = type_.strip_typedefs()
        while type_.code in REFERENCES:
            type_ = type_.target().strip_typedefs()
        return type_.unqualified()

    def is_reference(self, type_):
        return type_.strip_typedefs().code in REFERENCES

    def pointee(self, type_):
        return self.bare(type_.target()) if type_.code == gdb.TYPE_CODE_PTR else None

    def fields(self, type_):
        if type_.code != gdb.TYPE_CODE_STRUCT:
            return []
        return [(field.name, field.bitpos // 8, field.type, field.is_base_class)
                for field in type_.fields() if hasattr(field, "bitpos")]  # static members have none

    def template_argument(self, type_):
        return type_.template_argument(0)

    def name_of(self, type_):
        return type_.name or str(type_)  # in C, the text of a type begins with "struct"

    def sizeof(self, type_):
        return type_.sizeof

    def element_code(self, type_):
        if type_.code == gdb.TYPE_CODE_FLT:
            return {4: "f", 8: "d"}.get(type_.sizeof)
        if type_.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR):
            code = {1: "b", 2: "h", 4: "i", 8: "q"}[type_.sizeof]
            return code if type_.is_signed else code.upper()
        return None

    def symbol(self, address):
        output = gdb.execute("info symbol 0x%x" % address, to_string=True)
        return re.split(r" \+ \d+ in section | in section ", output)[0].strip()
