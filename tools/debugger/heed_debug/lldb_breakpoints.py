"""lldb_breakpoints.py: breakpoints, and running the program to them, in LLDB. debugger.py describes the
functions."""

import lldb

from heed_debug import graph, lldb_target, memory
from heed_debug.lldb_target import function_name, newest_frame
from heed_debug.memory import DebuggerError

CORE = ("heed: this program cannot continue (is it a core file?); the commands graph, grad, show, why, "
        "back and save still work")


def check_can_continue():
    if "core" in (lldb_target.process.GetPluginName() or ""):
        raise DebuggerError(CORE)


def function_exists(name):
    return lldb_target.find_function(name) is not None


def require_function(name, command):
    """Raises DebuggerError if the program has no such function, or LLDB finds no variables in the one that
    runs backward passes."""
    if name != "heed::backward":
        entry_of(name)
        return
    full_name = lldb_target.find_function(name)
    found = list(lldb_target.process.GetTarget().FindFunctions(full_name)) if full_name else []
    if not found:
        raise DebuggerError("heed: this program runs no backward pass of heed; LLDB's own commands work")
    if not any(context.GetFunction().IsValid() for context in found):
        raise DebuggerError("heed: LLDB finds no variables in heed::backward, whose code GCC has split; build "
                            "with -Og, or with -fno-reorder-blocks-and-partition, or use gdb")


class Breakpoint:
    """A breakpoint of this module. `should_stop()` decides whether the program stops at a hit."""

    def __init__(self, location, should_stop):
        check_can_continue()
        program = lldb_target.process.GetTarget()
        self.breakpoint = (program.BreakpointCreateByAddress(location) if isinstance(location, int)
                           else program.BreakpointCreateByName(lldb_target.find_function(location) or location))
        self.should_stop = should_stop


def at_address(address, should_stop):
    return Breakpoint(address, should_stop)


def at_function(name, should_stop):
    return Breakpoint(name, should_stop)


def at_accumulate(should_stop):
    return Breakpoint(entry_of("heed::accumulate"), should_stop)


def at_finish(should_stop):
    return Breakpoint(entry_of("heed::finish"), should_stop)


def run_to(*breakpoints):
    """Continues, and returns whether the program stopped at one of these breakpoints; false at the program's
    end. Raises DebuggerError when something else stops the program."""
    program = lldb_target.process.GetTarget()
    was_async = program.GetDebugger().GetAsync()
    program.GetDebugger().SetAsync(False)
    try:
        while not stopped_at(breakpoints):
            if not lldb_target.is_stopped():
                return False
        return True
    finally:
        program.GetDebugger().SetAsync(was_async)
        for breakpoint in breakpoints:
            program.BreakpointDelete(breakpoint.breakpoint.GetID())


def stopped_at(breakpoints):
    """Continues once, and returns whether the program must stop here."""
    process = lldb_target.process
    if process.Continue().Fail():
        raise DebuggerError(CORE)
    for thread in process if lldb_target.is_stopped() else []:
        hits = ([thread.GetStopReasonDataAtIndex(i) for i in range(0, thread.GetStopReasonDataCount(), 2)]
                if thread.GetStopReason() == lldb.eStopReasonBreakpoint else [])
        ours = [b for b in breakpoints if b.breakpoint.GetID() in hits]
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


def report_end(_):
    raise DebuggerError("heed: no backward pass follows" if lldb_target.is_stopped()
                        else "heed: the program ended; `run` starts it again")


def register(frame, *names):
    for name in names:
        value = frame.FindRegister(name)
        if value.IsValid():
            return value.GetValueAsUnsigned()
    raise DebuggerError("heed: this processor has none of the registers " + ", ".join(names))


def entry_of(name):
    """The address of a function's first instruction, where its arguments are in registers at any
    optimisation level."""
    program = lldb_target.process.GetTarget()
    full_name = lldb_target.find_function(name)
    if full_name is None:
        raise DebuggerError("heed: this program does not contain %s, which the command needs" % name)
    context = program.FindFunctions(full_name).GetContextAtIndex(0)
    return context.GetSymbol().GetStartAddress().GetLoadAddress(program)


def stop_at_return(frame):
    """A breakpoint where the callee of `frame` returns to it, not in a recursive call."""
    stack = frame.GetSP()
    return Breakpoint(frame.GetPC(), lambda: newest_frame().GetSP() == stack)


def first_argument():
    return register(newest_frame(), "rdi", "x0")


def accumulate_arguments():
    """The arguments of heed::accumulate(const Node& from, std::size_t i, Array part), from registers."""
    frame = newest_frame()
    part = register(frame, "rdx", "x2")
    return register(frame, "rdi", "x0"), register(frame, "rsi", "x1"), lambda: array_at(part)


def array_at(address):
    target = lldb_target.target
    return memory.read_array(target, address, target.array_layout(target.offset("heed::Node", "value")[1]))


def finish_words(target, frame):
    """The arguments value (its address), op (two words), location (two words) and inputs (its address) of
    heed::finish(std::shared_ptr<Node> node, Array value, std::string_view op, SourceLocation location,
    NodeList inputs), by the calling conventions of x86-64 (System V) and of AArch64."""
    if frame.FindRegister("x0").IsValid():
        x = [register(frame, "x%d" % i) for i in range(7)]
        return x[1], x[2:4], x[4:6], x[6]
    stack = frame.GetSP() + 8  # location has 16 bytes, which do not fit into the registers that are left
    return (register(frame, "rdx"), [register(frame, "rcx"), register(frame, "r8")],
            [memory.pointer(target, stack), memory.pointer(target, stack + 8)], register(frame, "r9"))


def finish_arguments():
    target = lldb_target.target
    value, op, location, inputs = finish_words(target, newest_frame())
    links = memory.read_links(target, memory.pointer(target, inputs), memory.pointer(target, inputs + 8))
    file, line = memory.c_text(target, location[0]), location[1] & 0xffffffff
    return (array_at(value), memory.text(target, max(op), min(op)),  # an address is larger than a length
            "%s:%d" % (file, line), links)


def may_write_infinity(op):
    try:
        type_ = lldb_target.target.type("heed::" + op)
    except DebuggerError:
        return False
    return op == "MaskedFill" or any(type_.GetFieldAtIndex(i).GetName() == "may_write_infinity"
                                     for i in range(type_.GetNumberOfFields()))


def enter(function):
    return run_to(Breakpoint(function, lambda: True))


def position_lines():
    frame = newest_frame()
    return ["%s, %s:%d" % (function_name(frame), graph.short_path(lldb_target.file_of(frame)),
                           frame.GetLineEntry().GetLine())]


def call_check(node):
    """Calls heed::check_text, with breakpoints ignored."""
    if not function_exists("heed::check_text"):
        raise DebuggerError(lldb_target.WITHOUT_G)
    options = lldb.SBExpressionOptions()
    options.SetIgnoreBreakpoints(True)
    result = lldb_target.selected_frame().EvaluateExpression(
        "((unsigned long (*)(unsigned long))%d)(%d)" % (entry_of("heed::check_text"), node.address), options)
    if result.GetError().Fail():
        raise DebuggerError("heed: `heed check` calls the program, so it needs a running program, not a "
                            "core file")
    return memory.c_text(lldb_target.target, result.GetValueAsUnsigned())


MAX_STEPS = 3000
LIBRARIES = "^(std|xt|xtl|xsimd|__gnu_cxx)::"  # functions that a step passes over


def step_in():
    """Steps to another line outside the engine and the libraries."""
    check_can_continue()
    process = lldb_target.process
    thread, debugger = process.GetSelectedThread(), process.GetTarget().GetDebugger()
    thread.SetSelectedFrame(0)
    start, was_async = position(thread), debugger.GetAsync()
    debugger.SetAsync(False)
    try:
        for _ in range(MAX_STEPS):
            thread.StepInto()
            if process.GetState() != lldb.eStateStopped:
                raise DebuggerError("heed: the program ended; `run` starts it again")
            file, line, function = position(thread)
            if thread.GetStopReason() == lldb.eStopReasonBreakpoint or (
                    (file, line, function) != start and file and line and not graph.ENGINE.fullmatch(file)):
                return "%s at %s:%d" % (function, graph.short_path(file), line)
    finally:
        debugger.SetAsync(was_async)
    raise DebuggerError("heed: %d steps led to no line outside the engine; `finish` ends this function"
                        % MAX_STEPS)


def position(thread):
    frame = thread.GetFrameAtIndex(0)
    return lldb_target.file_of(frame), frame.GetLineEntry().GetLine(), function_name(frame)
