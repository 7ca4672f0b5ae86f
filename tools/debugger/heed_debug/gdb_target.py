"""gdb_target.py: reads the program's values, frames and variables through gdb. debugger.py describes the
functions."""

import contextlib
import functools
import operator
import re

import gdb

from heed_debug import graph
from heed_debug.gdb_types import GdbTarget, without_g
from heed_debug.target import DebuggerError, full_names, plain, without_arguments

ERRORS = DebuggerError, gdb.error
PROVENANCE = "`set environment HEED_TRACE provenance`"
NOT_RUNNING = "heed: the program is not running; type `run`, or `start` to stop at main"

target = GdbTarget()
for event in (gdb.events.new_objfile, gdb.events.clear_objfiles):
    event.connect(target.clear)


def is_stopped():
    return gdb.selected_thread() is not None


def check_running():
    target.type("heed::Node")  # raises DebuggerError when this is not a heed program
    if not is_stopped():
        raise DebuggerError(NOT_RUNNING)


def program_path():
    return gdb.current_progspace().filename


def global_address(name):
    for full_name in full_names(name):
        with contextlib.suppress(gdb.error):
            return int(gdb.parse_and_eval("(unsigned long) &" + full_name))
    raise DebuggerError("heed: this program has no " + name)


# ---- values


def type_of(value):
    return target.bare(value.type)


def dereferenced(value):
    return value.referenced_value() if target.is_reference(value.type) else value


def address_of(value):
    value = dereferenced(value)
    if value.is_optimized_out:
        raise DebuggerError("heed: the compiler optimised this value away; go `up`, or build with -Og")
    if value.address is None:
        raise DebuggerError("heed: this value has no address: it is a copy, or the compiler optimised its variable "
                            "away; print the variable itself, or build with -Og")
    return int(value.address)


def copied_words(value, *paths):
    """The pointers at these paths in a value that has no address, because a function returned it or the
    compiler made it a constant. gdb holds a copy, whose pointers are valid. None if it has an address."""
    value = dereferenced(value)
    if value.is_optimized_out or value.address is not None:
        return None
    try:
        return [int(functools.reduce(operator.getitem, path.split("."), value)) for path in paths]
    except gdb.error:
        return None


# ---- frames


@contextlib.contextmanager
def selection_restored():
    """Restores the selected thread and frame at the end of a `with` block."""
    thread = gdb.selected_thread()
    frame = gdb.selected_frame() if thread else None
    try:
        yield
    finally:
        if thread and thread.is_valid():
            thread.switch()
            if frame.is_valid():
                frame.select()


newest_frame = gdb.newest_frame


def newer(frame):
    return frame.newer()


def older(frame):
    return frame.older()


def frames():
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame
        frame = frame.older()


def place(frame):
    return frame.pc(), int(frame.read_register("sp"))


def function_name(frame):
    return without_arguments(plain(frame.name()))


def backward_frame():
    """Searches the selected thread first, then the others."""
    selected = gdb.selected_thread()
    others = [thread for thread in gdb.selected_inferior().threads() if thread.num != selected.num]
    with selection_restored():
        for thread in [selected] + others:
            thread.switch()
            for frame in filter(is_backward, frames()):
                return frame
    return None


def is_backward(frame):
    """Whether the frame is that of the overload of heed::backward that loops over the nodes."""
    if function_name(frame) != "heed::backward":
        return False
    if frame.function() is None or frame.function().symtab is None:
        raise DebuggerError(without_g())
    if variable(frame, "upstream") is not None:
        return True
    try:
        return frame.read_var("nodes") is not None
    except (ValueError, gdb.error):
        return False


def source_line(frame):
    sal = frame.find_sal()
    return sal.symtab.fullname() if sal.symtab else "", sal.line


def source_location(frame):
    """At -O2 the current instruction may belong to an inlined function of a library without a frame of its
    own: then the file and the first line of the function."""
    (path, line), function = source_line(frame), frame.function()
    if function is not None and function.symtab and re.fullmatch(graph.LIBRARY, path):
        return function.symtab.fullname(), function.line
    return path, line


def select(number, frame):
    """gdb prints the line of a frame that a command selects."""
    frame.select()
    return [graph.frame_line(number, function_name(frame), *source_location(frame))]


# ---- variables


def symbols(frame):
    """The arguments and variables visible at the frame's line."""
    try:
        block = frame.block()
    except RuntimeError:
        return
    while block is not None and not (block.is_global or block.is_static):
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                yield symbol
        if block.function is not None:
            return
        block = block.superblock


def variables(frame):
    for symbol in symbols(frame):
        pointee = target.pointee(symbol.type.strip_typedefs()) if symbol.name == "this" else None
        if pointee is None:
            yield symbol.type, lambda: address_of(symbol.value(frame))
        else:
            yield pointee, lambda: int(symbol.value(frame))


def variable(frame, name):
    try:
        value = frame.read_var(name)
    except (ValueError, gdb.error):
        return None
    return None if value.is_optimized_out else value


def is_declared_later(name):
    frame = gdb.selected_frame()
    lines = [symbol.line for symbol in symbols(frame) if symbol.name == name and not symbol.is_argument]
    return bool(lines) and min(lines) >= frame.find_sal().line


# ---- expressions

# What gdb says of a name that is no variable. A name such as `token` may be a function of libc.
UNKNOWN = r"heed: (No symbol \"%s|Attempt to extract a component|'[^']*' has unknown (return )?type)"


def evaluate(expression):
    """The value of an expression. Raises DebuggerError if it would call a function of the program."""
    before = gdb.parameter("may-call-functions")
    gdb.execute("set may-call-functions off", to_string=True)
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as error:
        text = str(error)
        if re.search("may-call-functions|Cannot evaluate function|cannot resolve|Cannot perform", text):
            text = "'%s' would call a function; heed's commands only read memory" % expression
        raise DebuggerError("heed: " + text)
    finally:
        gdb.execute("set may-call-functions " + ("on" if before else "off"), to_string=True)


def evaluate_in_stack(text):
    """The value of an expression in the selected frame, else in the nearest caller that has it."""
    first_error = None
    with selection_restored():
        frame = gdb.selected_frame()
        while frame is not None:
            frame.select()
            try:
                return evaluate(text)
            except DebuggerError as error:
                if first_error is None and "No symbol" not in str(error):
                    raise
                # A caller may have the variable, and yet not the value of the expression.
                if first_error is None or re.match(UNKNOWN % ".*", str(first_error)):
                    first_error = error
                frame = frame.older()
    raise first_error


def unless_unknown(evaluate_, text, name):
    """The value of an expression; None if gdb says that `name`, a pattern, is no variable."""
    try:
        return evaluate_(text)
    except DebuggerError as error:
        if re.match(UNKNOWN % name, str(error)):
            return None
        raise


def value_in_stack(text):
    return unless_unknown(evaluate_in_stack, text, re.match(r"\w*", text).group())


def local_value(text):
    # `norm.weight` may be a tensor's name although `norm` is a number here
    known = re.match(r"\w*", text).group() in [symbol.name for symbol in symbols(gdb.selected_frame())]
    return unless_unknown(evaluate, text, ".*") if known else None


integer = int
type_name = str
note = print
when_exited = gdb.events.exited.connect
