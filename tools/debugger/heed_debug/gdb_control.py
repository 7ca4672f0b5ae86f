"""gdb_control.py: runs the program with gdb. debugger.py describes the functions."""

import contextlib
import re

import gdb

from heed_debug import gdb_target, graph, values
from heed_debug.gdb_target import target
from heed_debug.gdb_types import without_g
from heed_debug.node import Node, link_at, read_links
from heed_debug.target import CANNOT_CONTINUE, CHECK_CALLS, ENDED, DebuggerError, plain

NO_OPERATIONS = ("heed: this program runs no operation of heed, which `%s` needs; gdb's `step`, `next` and "
                 "`print` work")


class InternalBreakpoint(gdb.Breakpoint):
    """A breakpoint that the user does not see. It stops when `should_stop()` is true. For an IDE it is
    visible while the program runs: gdb does not tell an IDE the reason of a stop at an internal one."""

    def __init__(self, location, should_stop=lambda: True, function=False):
        internal = gdb.parameter("print heed-matrices")
        if function:
            super().__init__(function=target.find_function(location) or location, internal=internal, qualified=True)
        else:
            super().__init__(location, internal=internal)
        self.silent = internal
        self.should_stop, self.hit, self.error = should_stop, False, None

    def stop(self):
        try:
            self.hit = self.should_stop()
        except Exception as error:  # run_to reports it when the program stops
            self.hit, self.error = False, error
        return self.hit


def at_function(name, should_stop):
    return InternalBreakpoint(name, should_stop, function=True)


at_entry = at_function


def at_address(address, should_stop):
    return InternalBreakpoint("*0x%x" % address, should_stop)


def check_can_continue():
    connection = getattr(gdb.selected_inferior(), "connection", None)  # since gdb 12
    if connection is not None and connection.type == "core":
        raise DebuggerError(CANNOT_CONTINUE)


def execute(command):
    """Continues the program with a command of gdb, and returns what gdb prints."""
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        cannot = "not being run" in str(error) or "target does not support" in str(error).lower()
        raise DebuggerError(CANNOT_CONTINUE if cannot else "heed: %s" % error)


# Functions to call when another process is selected. They return whether it is the copy that `heed mark`
# made, with which gdb goes on when the program has ended.
when_process_changed = []


def run_to(*breakpoints, command="continue"):
    """If another event stopped the program, prints gdb's message about it."""
    process = command == "continue" and gdb.selected_thread().ptid[0]
    try:
        output = execute(command)
    finally:
        hit = any(breakpoint.hit for breakpoint in breakpoints)
        errors = [breakpoint.error for breakpoint in breakpoints if breakpoint.error]
        for breakpoint in breakpoints:
            breakpoint.delete()
    if hit:
        return True
    if errors:
        raise DebuggerError("heed: a value could not be read while the program ran: %s" % errors[0])
    if gdb.selected_thread() is None:
        return False
    if process and gdb.selected_thread().ptid[0] != process and any([f() for f in when_process_changed]):
        raise DebuggerError("heed: the program ended; this is the marked place again")
    print(output.strip())
    return False


def arguments():
    # gdb.parameter("args") is empty in gdb 13
    return re.search(r'"(.*)"', gdb.execute("show args", to_string=True), re.DOTALL).group(1)


def set_arguments(text):
    gdb.execute("set args " + text)


def run_again(breakpoint):
    return run_to(breakpoint, command="run")


@contextlib.contextmanager
def without_breakpoints():
    enabled = [breakpoint for breakpoint in gdb.breakpoints() if breakpoint.enabled]
    for breakpoint in enabled:
        breakpoint.enabled = False
    try:
        yield
    finally:
        for breakpoint in enabled:
            if breakpoint.is_valid():
                breakpoint.enabled = True


def report_end(wanted):
    if gdb.selected_thread() is None:  # otherwise run_to has printed why the program stopped
        raise DebuggerError("heed: " + ENDED % (
            "" if wanted.isdecimal() or not wanted else " before a backward of '%s'" % wanted))


def require_function(function, command):
    if target.find_function(function) is None:
        without = gdb.lookup_global_symbol("main") is None
        raise DebuggerError(without_g() if without else NO_OPERATIONS % command)


# ---- arguments


def accumulate_arguments():
    frame = gdb.newest_frame()
    from_ = frame.read_var("from")
    return (int(from_.address or from_.referenced_value().address), int(frame.read_var("i")),
            lambda: values.array_of(frame.read_var("part")))


def finish_arguments():
    frame = gdb.newest_frame()
    location = frame.read_var("location")
    node = Node(target, link_at(target, gdb_target.address_of(frame.read_var("node"))))
    return (node.value, view_text(frame.read_var("op")),
            "%s:%d" % (target.c_text(int(location["file"])), int(location["line"])),
            read_links(target, gdb_target.address_of(frame.read_var("inputs"))))


def view_text(view):
    """The text of a std::string_view, which may be stored in registers."""
    parts = {part.type.strip_typedefs().code: view[part.name] for part in view.type.strip_typedefs().fields()
             if hasattr(part, "bitpos")}
    return target.text(int(parts[gdb.TYPE_CODE_PTR]), int(parts[gdb.TYPE_CODE_INT]))


def may_write_infinity(operation):
    return any(field.name == "may_write_infinity" for field in operation.fields())


def first_argument():
    frame = gdb.newest_frame()
    register = "x0" if frame.architecture().name().startswith("aarch64") else "rdi"
    return int(frame.read_register(register)) & (2 ** 64 - 1)


# ---- entering functions


def enter(function):
    breakpoint = at_function(function, lambda: True)
    breakpoint.thread = gdb.selected_thread().num
    if not run_to(breakpoint):
        return False
    enter_inlined(function)
    return True


def enter_inlined(function):
    """Enters an inlined function: gdb stops in its caller, from which `step` enters the function."""
    frame = gdb.newest_frame()
    block = gdb.block_for_pc(frame.pc())
    while block is not None and not block.is_global:
        if block.function is not None and block.function.name.split("(")[0] == function:
            if gdb_target.function_name(frame) != plain(function):
                gdb.execute("step", to_string=True)
            return
        block = block.superblock


def position_lines():
    frame = gdb.newest_frame()
    frame.select()
    printed = gdb.execute("frame", to_string=True).strip().split("\n")
    source = printed[-1].strip() if len(printed) > 1 else ""
    path, line = gdb_target.source_location(frame)
    lines = ["%s, %s:%d" % (gdb_target.function_name(frame), graph.short_path(path), line)] if path else []
    return lines + [source] if source and line == frame.find_sal().line else lines


def skip_libraries(pattern):
    if pattern not in gdb.execute("info skip", to_string=True):
        gdb.execute("skip -rfu " + pattern, to_string=True)


@contextlib.contextmanager
def stepping():
    """gdb prints nothing about the stops."""
    events = []
    gdb.events.stop.connect(events.append)
    try:
        gdb.execute("set suppress-cli-notifications on", to_string=True)
    except gdb.error:
        pass  # before version 12, gdb prints each step
    try:
        yield lambda: bool(events) and isinstance(events[-1], (gdb.BreakpointEvent, gdb.SignalEvent))
    finally:
        gdb.events.stop.disconnect(events.append)
        with contextlib.suppress(gdb.error):
            gdb.execute("set suppress-cli-notifications off", to_string=True)


def step_line():
    execute("step")


def end_of_steps():
    return ENDED % ""


def stop_text():
    return gdb.execute("frame", to_string=True).strip()


# ---- calling a function


def reason(error):
    """The first line of an error of gdb that could not call a function of the program."""
    if "extended state" in str(error):
        return "gdb %s cannot call functions on this processor (AMX); gdb 14 can" % gdb.VERSION
    return str(error).split("\n")[0]


def call_check(node):
    try:
        with without_breakpoints(), gdb_target.selection_restored():
            return int(gdb.parse_and_eval("(const char*) %s((const %s*) 0x%x)" % (
                target.find_function("heed::check_text"), target.type("heed::Node"), node.address)))
    except gdb.error as error:
        text = reason(error)
        none = any(part in text for part in ("cannot be called", "without a process", "No symbol"))
        raise DebuggerError(CHECK_CALLS if none else "heed: " + text)
