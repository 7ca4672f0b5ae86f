"""breakpoints.py: breakpoints that the user does not see, and running the program to them."""

import contextlib
import re

import gdb

from heed_debug import gdb_target, graph, memory
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError

NO_OPERATIONS = ("heed: this program runs no operation of heed, which `%s` needs; gdb's `step`, `next` and "
                 "`print` work")


class InternalBreakpoint(gdb.Breakpoint):
    """A breakpoint that the user does not see. It stops when `should_stop()` is true. For an IDE it is
    visible while the program runs: gdb does not tell an IDE the reason of a stop at an internal one."""

    def __init__(self, location, should_stop=lambda: True, function=False):
        internal = gdb.parameter("print heed-matrices")
        if function:
            super().__init__(function=gdb_target.find_function(location) or location, internal=internal, qualified=True)
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


def cannot_continue(error):
    """The error message for a gdb.error of a command that continues the program."""
    text = str(error)
    if "not being run" in text or "target does not support" in text.lower():
        text = ("this program cannot continue (is it a core file?); the commands graph, grad, show, why, "
                "back and save still work")
    return DebuggerError("heed: " + text)


def check_can_continue():
    """Raises DebuggerError for a core file, before a command prints anything."""
    connection = getattr(gdb.selected_inferior(), "connection", None)  # since gdb 12
    if connection is not None and connection.type == "core":
        raise cannot_continue("The program is not being run.")


# Functions to call when another process is selected. They return whether it is the copy that `heed mark`
# made, with which gdb goes on when the program has ended.
when_process_changed = []


def run_to(*breakpoints):
    """Continues, and returns whether the program stopped at one of these breakpoints. If another event
    stopped the program, prints gdb's message about it."""
    process = gdb.selected_thread().ptid[0]
    try:
        output = gdb.execute("continue", to_string=True)
    except gdb.error as error:
        raise cannot_continue(error)
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
    if gdb.selected_thread().ptid[0] != process and any([f() for f in when_process_changed]):
        raise DebuggerError("heed: the program ended; this is the marked place again")
    print(output.strip())
    return False


@contextlib.contextmanager
def stop_events():
    """Yields a list to which each stop of the program is appended. gdb prints nothing about the stops."""
    events = []
    gdb.events.stop.connect(events.append)
    try:
        gdb.execute("set suppress-cli-notifications on", to_string=True)
    except gdb.error:
        pass  # before version 12, gdb prints each step
    try:
        yield events
    finally:
        gdb.events.stop.disconnect(events.append)
        with contextlib.suppress(gdb.error):
            gdb.execute("set suppress-cli-notifications off", to_string=True)


def stop_at_return(frame):
    """A breakpoint at the instruction of `frame` to which its callee returns. It stops only there, not
    in a recursive call of the same function."""
    stack, thread = frame.read_register("sp"), gdb.selected_thread().num
    breakpoint = InternalBreakpoint(
        "*0x%x" % frame.pc(), lambda: gdb.newest_frame().read_register("sp") == stack)
    breakpoint.thread = thread
    return breakpoint


def function_exists(function):
    return gdb_target.find_function(function) is not None


def require_function(function, command):
    """Raises DebuggerError when the program does not contain a function that `command` stops in."""
    if function_exists(function):
        return
    main = gdb.lookup_global_symbol("main")
    raise DebuggerError(gdb_target.WITHOUT_G if main is None else NO_OPERATIONS % command)


def report_end(wanted):
    if gdb.selected_thread() is not None:
        return  # run_to has printed why the program stopped
    raise DebuggerError("heed: the program ended%s; `run` starts it again" % (
        "" if re.fullmatch(r"\d*", wanted) else " before a backward of '%s'" % wanted))


# ---- the functions that debugger.py describes


def at_function(name, should_stop):
    return InternalBreakpoint(name, should_stop, function=True)


def at_address(address, should_stop):
    return InternalBreakpoint("*0x%x" % address, should_stop)


def at_accumulate(should_stop):
    return at_function("heed::accumulate", should_stop)


def at_finish(should_stop):
    return at_function("heed::finish", should_stop)


def accumulate_arguments():
    frame = gdb.newest_frame()
    from_ = frame.read_var("from")
    return (int(from_.address or from_.referenced_value().address), int(frame.read_var("i")),
            lambda: gdb_target.array_of(frame.read_var("part")))


def finish_arguments():
    frame = gdb.newest_frame()
    inputs = gdb_target.address_of(frame.read_var("inputs"))
    location = frame.read_var("location")
    return (gdb_target.array_of(frame.read_var("value")), view_text(frame.read_var("op")),
            "%s:%d" % (memory.c_text(target, int(location["file"])), int(location["line"])),
            memory.read_links(target, memory.pointer(target, inputs), memory.pointer(target, inputs + 8)))


def view_text(view):
    """The text of a std::string_view, which may be stored in registers."""
    parts = {part.type.strip_typedefs().code: view[part.name] for part in view.type.strip_typedefs().fields()
             if hasattr(part, "bitpos")}
    return memory.text(target, int(parts[gdb.TYPE_CODE_PTR]), int(parts[gdb.TYPE_CODE_INT]))


def may_write_infinity(op):
    """Whether the struct of an operation declares that its output may contain minus infinity."""
    try:
        fields = target.type("heed::" + op).fields()
    except DebuggerError:
        return False
    return any(field.name == "may_write_infinity" for field in fields)


def first_argument():
    frame = gdb.newest_frame()
    register = "x0" if frame.architecture().name().startswith("aarch64") else "rdi"
    return int(frame.read_register(register)) & (2 ** 64 - 1)


def enter(function):
    breakpoint = InternalBreakpoint(function, function=True)
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
            if gdb_target.function_name(frame) != memory.plain(function):
                gdb.execute("step", to_string=True)
            return
        block = block.superblock


def position_lines():
    """The function and line where the program has stopped, and the line's text."""
    frame = gdb.newest_frame()
    frame.select()
    printed = gdb.execute("frame", to_string=True).strip().split("\n")
    source = printed[-1].strip() if len(printed) > 1 else ""
    path, line = gdb_target.source_location(frame)
    lines = ["%s, %s:%d" % (gdb_target.function_name(frame), graph.short_path(path), line)] if path else []
    return lines + [source] if source and line == frame.find_sal().line else lines


def call_check(node):
    """Calls heed::check_text, with breakpoints disabled so that the call cannot stop."""
    enabled = [b for b in gdb.breakpoints() if b.enabled]
    for breakpoint in enabled:
        breakpoint.enabled = False
    try:
        with gdb_target.selection_restored():
            result = gdb.parse_and_eval("(const char*) %s((const %s*) 0x%x)" % (
                gdb_target.find_function("heed::check_text"), target.type("heed::Node"), node.address))
            return memory.c_text(target, int(result))
    except gdb.error as error:
        text = gdb_target.reason(error)
        if "cannot be called" in text or "without a process" in text or "No symbol" in text:
            text = "`heed check` calls the program, so it needs a running program, not a core file"
        raise DebuggerError("heed: " + text)
    finally:
        for breakpoint in enabled:
            breakpoint.enabled = True
