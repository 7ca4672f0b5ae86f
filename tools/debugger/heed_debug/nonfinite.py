"""nonfinite.py: runs the program to the first NaN or infinity: `heed nan`."""

import gdb

from heed_debug import gdb_target, memory, nonfinite_text
from heed_debug.breakpoints import InternalBreakpoint, function_exists, require_function, run_to
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError


def may_write_infinity(op):
    """Whether the struct of an operation declares that its output may contain minus infinity."""
    try:
        fields = target.type("heed::" + op).fields()
    except DebuggerError:
        return False
    return any(field.name == "may_write_infinity" for field in fields)


def view_text(view):
    """The text of a std::string_view, which may be stored in registers."""
    parts = {part.type.strip_typedefs().code: view[part.name] for part in view.type.strip_typedefs().fields()
             if hasattr(part, "bitpos")}
    return memory.text(target, int(parts[gdb.TYPE_CODE_PTR]), int(parts[gdb.TYPE_CODE_INT]))


class NonfiniteWatch:
    """Checks every value passed to heed::finish and every gradient passed to heed::accumulate. The
    methods return True to stop the program. The lines to print are then in `report`."""

    def __init__(self):
        self.report = None

    def check_value(self):
        frame = gdb.newest_frame()
        value = gdb_target.array_of(frame.read_var("value"))
        op = view_text(frame.read_var("op"))
        inputs_address = gdb_target.address_of(frame.read_var("inputs"))
        links = memory.read_links(target, memory.pointer(target, inputs_address),
                                  memory.pointer(target, inputs_address + 8))
        location = frame.read_var("location")
        self.report = nonfinite_text.value_report(
            op, value, "%s:%d" % (memory.c_text(target, int(location["file"])), int(location["line"])),
            [memory.Node(target, link) for link in links if link.address], may_write_infinity(op))
        return self.report is not None

    def check_gradient(self):
        frame = gdb.newest_frame()
        from_ = frame.read_var("from")
        node = memory.Node(target, memory.Link(int(from_.address or from_.referenced_value().address), 0))
        self.report = nonfinite_text.gradient_report(
            node, int(frame.read_var("i")), gdb_target.array_of(frame.read_var("part")))
        return self.report is not None


def run_to_nonfinite():
    gdb_target.check_running()
    require_function("heed::finish", "heed nan")
    watch = NonfiniteWatch()
    breakpoints = [InternalBreakpoint("heed::finish", watch.check_value, function=True)]
    if function_exists("heed::accumulate"):  # a program without a backward pass does not contain it
        breakpoints.append(InternalBreakpoint("heed::accumulate", watch.check_gradient, function=True))
    if not run_to(*breakpoints):
        if gdb.selected_thread() is None:
            print("the program ended; since `heed nan` all values and gradients were finite "
                  "(minus infinity is allowed in masks)")
        return
    print("\n".join(watch.report))
