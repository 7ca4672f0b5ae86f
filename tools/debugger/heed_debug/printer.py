"""printer.py: what gdb's pretty-printers of heed have in common."""

import gdb

from heed_debug.gdb_target import ERRORS


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


def in_summary():
    """Whether gdb prints function arguments in a backtrace, where a matrix would be too long."""
    return getattr(gdb, "print_options", dict)().get("summary", False)


def pointed_at(address, type_):
    """The value of a type at an address."""
    return gdb.Value(address).cast(type_.pointer()).dereference()


def text_of_error(error):
    return "<%s>" % str(error).replace("heed: ", "", 1)


class Printer:
    """A pretty-printer. If text() raises an exception, of which gdb would print a traceback, the text is the
    error message."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            return self.text()
        except ERRORS as error:
            return text_of_error(error)
        except Exception as error:
            return "<not readable: %s>" % error


class ExpandablePrinter(Printer):
    """An IDE shows what parts() yields, the names and values of children."""

    def children(self):
        try:
            yield from self.parts()
        except ERRORS:
            return
