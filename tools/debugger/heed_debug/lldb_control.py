"""lldb_control.py: runs the program with LLDB. debugger.py describes the functions."""

import contextlib
import shlex

import lldb

from heed_debug import graph, lldb_target, memory
from heed_debug.lldb_target import function_name, newest_frame, source_location
from heed_debug.node import Node, link_at, read_links
from heed_debug.target import CANNOT_CONTINUE, CHECK_CALLS, ENDED, DebuggerError


def check_can_continue():
    if "core" in (lldb_target.process.GetPluginName() or ""):
        raise DebuggerError(CANNOT_CONTINUE)


def require_function(name, command):
    """Raises DebuggerError also if LLDB finds no variables in the function that runs backward passes."""
    if name != "heed::backward":
        entry_of(name)
        return
    full_name = lldb_target.target.find_function(name)
    found = list(lldb_target.target.program.FindFunctions(full_name)) if full_name else []
    if not found:
        raise DebuggerError("heed: this program runs no backward pass of heed; LLDB's own commands work")
    if not any(context.GetFunction().IsValid() for context in found):
        raise DebuggerError("heed: LLDB finds no variables in heed::backward, whose code GCC has split; build "
                            "with -Og, or with -fno-reorder-blocks-and-partition, or use gdb")


def entry_of(name):
    """The address of a function's first instruction, where its arguments are in registers at any
    optimisation level."""
    program, full_name = lldb_target.target.program, lldb_target.target.find_function(name)
    if full_name is None:
        raise DebuggerError("heed: this program does not contain %s, which the command needs" % name)
    context = program.FindFunctions(full_name).GetContextAtIndex(0)
    return context.GetSymbol().GetStartAddress().GetLoadAddress(program)


class Breakpoint:
    """A breakpoint of this module. `should_stop()` decides whether the program stops at a hit."""

    def __init__(self, create, location, should_stop):
        check_can_continue()
        self.id, self.should_stop = create(location).GetID(), should_stop


def at_address(address, should_stop):
    return Breakpoint(lldb_target.target.program.BreakpointCreateByAddress, address, should_stop)


def at_function(name, should_stop):
    full_name = lldb_target.target.find_function(name) or name
    return Breakpoint(lldb_target.target.program.BreakpointCreateByName, full_name, should_stop)


def at_entry(name, should_stop):
    return at_address(entry_of(name), should_stop)


@contextlib.contextmanager
def synchronous():
    """LLDB waits for the program to stop."""
    debugger = lldb_target.target.program.GetDebugger()
    was_async = debugger.GetAsync()
    debugger.SetAsync(False)
    try:
        yield
    finally:
        debugger.SetAsync(was_async)


def run_to(*breakpoints, start=None):
    """Raises DebuggerError when something else stops the program."""
    try:
        with synchronous():
            while not stopped_at(breakpoints, start or continue_):
                if not lldb_target.is_stopped():
                    return False
                start = None
        return True
    finally:
        for breakpoint in breakpoints:
            lldb_target.target.program.BreakpointDelete(breakpoint.id)


def continue_():
    if lldb_target.process.Continue().Fail():
        raise DebuggerError(CANNOT_CONTINUE)


def stopped_at(breakpoints, go_on):
    """Continues once, and returns whether the program must stop here."""
    go_on()
    process = lldb_target.process
    for thread in process if lldb_target.is_stopped() else []:
        hits = ([thread.GetStopReasonDataAtIndex(i) for i in range(0, thread.GetStopReasonDataCount(), 2)]
                if thread.GetStopReason() == lldb.eStopReasonBreakpoint else [])
        ours = [b for b in breakpoints if b.id in hits]
        if ours:
            process.SetSelectedThread(thread)
            if len(hits) > len(ours) or any([b.should_stop() for b in ours]):
                return True
        elif thread.GetStopReason() in (lldb.eStopReasonBreakpoint, lldb.eStopReasonSignal,
                                        lldb.eStopReasonException):
            process.SetSelectedThread(thread)
            raise DebuggerError("heed: the program stopped for another reason: %s; `heed back` shows where"
                                % thread.GetStopDescription(200))
    return False


def launch_info():
    return lldb_target.target.program.GetLaunchInfo()


def arguments():
    info = launch_info()
    return " ".join(shlex.quote(info.GetArgumentAtIndex(i)) for i in range(info.GetNumArguments()))


def set_arguments(text):
    info = launch_info()
    info.SetArguments(shlex.split(text), False)
    lldb_target.target.program.SetLaunchInfo(info)


def launch():
    if lldb_target.process.IsValid():
        lldb_target.process.Kill()
    program, error = lldb_target.target.program, lldb.SBError()
    process = program.Launch(launch_info(), error)
    if error.Fail():
        raise DebuggerError("heed: the program cannot be started: %s" % error)
    lldb_target.select_process(process)


def run_again(breakpoint):
    return run_to(breakpoint, start=launch)


@contextlib.contextmanager
def without_breakpoints():
    program = lldb_target.target.program
    enabled = [breakpoint for breakpoint in program.breakpoint_iter() if breakpoint.IsEnabled()]
    for breakpoint in enabled:
        breakpoint.SetEnabled(False)
    try:
        yield
    finally:
        for breakpoint in enabled:
            breakpoint.SetEnabled(True)


def report_end(_):
    raise DebuggerError("heed: no backward pass follows" if lldb_target.is_stopped() else "heed: " + ENDED % "")


# ---- arguments


def register(*names):
    found = [newest_frame().FindRegister(name) for name in names]
    for value in found:
        if value.IsValid():
            return value.GetValueAsUnsigned()
    raise DebuggerError("heed: this processor has none of the registers " + ", ".join(names))


def first_argument():
    return register("rdi", "x0")


def accumulate_arguments():
    """The arguments of heed::accumulate(const Node& from, std::size_t i, Array part), from registers."""
    part = register("rdx", "x2")
    return register("rdi", "x0"), register("rsi", "x1"), lambda: array_at(part)


def array_at(address):
    target = lldb_target.target
    type_ = target.offset("heed::Node", "value")[1]
    return memory.read_array(target, address, memory.array_layout(target, type_))


def finish_words(target, frame):
    """The arguments node (its address), op (two words), location (two words) and inputs (its address) of
    heed::finish(std::shared_ptr<Node> node, std::string_view op, SourceLocation location, NodeList inputs),
    by the calling conventions of x86-64 (System V) and of AArch64."""
    if frame.FindRegister("x0").IsValid():
        x = [register("x%d" % i) for i in range(6)]
        return x[0], x[1:3], x[3:5], x[5]
    return (register("rsi"), [register("rdx"), register("rcx")], [register("r8"), register("r9")],
            target.pointer(frame.GetSP() + 8))


def finish_arguments():
    target = lldb_target.target
    node, op, location, inputs = finish_words(target, newest_frame())
    value = Node(target, link_at(target, node)).value
    return (value, target.text(max(op), min(op)),  # an address is larger than a length
            "%s:%d" % (target.c_text(location[0]), location[1] & 0xffffffff), read_links(target, inputs))


def may_write_infinity(operation):
    names = [operation.GetFieldAtIndex(i).GetName() for i in range(operation.GetNumberOfFields())]
    return operation.GetName().endswith("MaskedFill") or "may_write_infinity" in names


# ---- entering functions


def enter(function):
    return run_to(at_function(function, lambda: True))


def position_lines():
    path, line = source_location(newest_frame())
    return ["%s, %s:%d" % (function_name(newest_frame()), graph.short_path(path), line)]


@contextlib.contextmanager
def stepping():
    thread = lldb_target.process.GetSelectedThread()
    with synchronous():
        yield lambda: thread.GetStopReason() == lldb.eStopReasonBreakpoint


def step_line():
    lldb_target.process.GetSelectedThread().StepInto()


def end_of_steps():
    raise DebuggerError("heed: " + ENDED % "")


def stop_text():
    path, line = source_location(newest_frame())
    return "%s at %s:%d" % (function_name(newest_frame()), graph.short_path(path), line)


# ---- calling a function


def call_check(node):
    if lldb_target.target.find_function("heed::check_text") is None:
        raise DebuggerError(lldb_target.WITHOUT_G)
    options = lldb.SBExpressionOptions()
    options.SetIgnoreBreakpoints(True)
    result = lldb_target.selected_frame().EvaluateExpression(
        "((unsigned long (*)(unsigned long))%d)(%d)" % (entry_of("heed::check_text"), node.address), options)
    if result.GetError().Fail():
        raise DebuggerError(CHECK_CALLS)
    return result.GetValueAsUnsigned()
