"""lldb_running.py: runs the program to the backward of a node, to what it returns, or to a NaN, in LLDB."""

import re

import lldb

from heed_debug import graph, lldb_passes, lldb_target, memory, nonfinite_text, numbers, watch_text
from heed_debug.lldb_target import function_name, target_of
from heed_debug.memory import DebuggerError

CORE = ("heed: this program cannot continue (is it a core file?); the commands graph, grad, show, why, "
        "back and save still work")
NO_BACKWARD = "heed: no backward of an operation runs here; `heed step` runs to the next one"
APPLY_BACKWARD = 2  # the index of Node::apply_backward in the vtable, after two destructors

# What the backward of a node returned: its address, its label, and (label of the input, brief text,
# text) of each gradient. It is kept for `heed step`, which begins with it.
_last = None


def check_can_continue(process):
    if "core" in (process.GetPluginName() or ""):
        raise DebuggerError(CORE)


def check_variables(process):
    """Raises DebuggerError if LLDB finds no variables in the function that runs backward passes."""
    program = process.GetTarget()
    name = lldb_target.find_function(process, "heed::backward")
    found = list(program.FindFunctions(name)) if name else []
    if not found:
        raise DebuggerError("heed: this program runs no backward pass of heed; LLDB's own commands work")
    if not any(context.GetFunction().IsValid() for context in found):
        raise DebuggerError("heed: LLDB finds no variables in heed::backward, whose code GCC has split; build "
                            "with -Og, or with -fno-reorder-blocks-and-partition, or use gdb")


class Breakpoint:
    """A breakpoint of this module. `should_stop(frame)` decides whether the program stops at a hit."""

    def __init__(self, process, location, should_stop=lambda frame: True):
        check_can_continue(process)
        program = process.GetTarget()
        self.breakpoint = (program.BreakpointCreateByAddress(location) if isinstance(location, int)
                           else program.BreakpointCreateByName(
                               lldb_target.find_function(process, location) or location))
        self.should_stop = should_stop


def run_to(process, *breakpoints):
    """Continues until the program stops at one of these breakpoints, and deletes them. Raises
    DebuggerError when something else stops the program."""
    debugger = process.GetTarget().GetDebugger()
    was_async = debugger.GetAsync()
    debugger.SetAsync(False)
    try:
        while not stopped_at(process, breakpoints):
            pass
    finally:
        debugger.SetAsync(was_async)
        for breakpoint in breakpoints:
            process.GetTarget().BreakpointDelete(breakpoint.breakpoint.GetID())


def stopped_at(process, breakpoints):
    """Continues once, and returns whether the program must stop here."""
    error = process.Continue()
    if error.Fail():
        raise DebuggerError(CORE)
    if process.GetState() != lldb.eStateStopped:
        raise DebuggerError("heed: the program ended; `run` starts it again")
    for thread in process:
        hits = ([thread.GetStopReasonDataAtIndex(i) for i in range(0, thread.GetStopReasonDataCount(), 2)]
                if thread.GetStopReason() == lldb.eStopReasonBreakpoint else [])
        ours = [b for b in breakpoints if b.breakpoint.GetID() in hits]
        if ours:
            process.SetSelectedThread(thread)
            if len(hits) > len(ours) or any([b.should_stop(thread.GetFrameAtIndex(0)) for b in ours]):
                return True
        elif thread.GetStopReason() in (lldb.eStopReasonBreakpoint, lldb.eStopReasonSignal,
                                        lldb.eStopReasonException):
            process.SetSelectedThread(thread)
            raise DebuggerError("heed: the program stopped for another reason: %s; `heed back` shows where"
                                % thread.GetStopDescription(200))
    return False


def register(frame, *names):
    for name in names:
        value = frame.FindRegister(name)
        if value.IsValid():
            return value.GetValueAsUnsigned()
    raise DebuggerError("heed: this processor has none of the registers " + ", ".join(names))


def entry_of(process, name):
    """The address of a function's first instruction, where its arguments are in registers at any
    optimisation level."""
    full_name = lldb_target.find_function(process, name)
    if full_name is None:
        raise DebuggerError("heed: this program does not contain %s, which the command needs" % name)
    context = process.GetTarget().FindFunctions(full_name).GetContextAtIndex(0)
    return context.GetSymbol().GetStartAddress().GetLoadAddress(process.GetTarget())


def stop_at_return(process, frame):
    """A breakpoint where the callee of `frame` returns to it, not in a recursive call."""
    stack = frame.GetSP()
    return Breakpoint(process, frame.GetPC(), lambda newest: newest.GetSP() == stack)


def start_of(process, node):
    """A breakpoint at the beginning of the apply_backward of a node."""
    method = memory.pointer(target_of(process), node.vtable + 8 * APPLY_BACKWARD)
    return Breakpoint(process, method, lambda frame: register(frame, "rdi", "x0") == node.address)


def accumulate_arguments(frame):
    """The arguments of heed::accumulate(const Node& from, std::size_t i, Array part), the last one as the
    address of the array."""
    return register(frame, "rdi", "x0"), register(frame, "rsi", "x1"), register(frame, "rdx", "x2")


def array_at(process, address):
    target = target_of(process)
    return memory.read_array(target, address, target.array_layout(target.offset("heed::Node", "value")[1]))


class Recorder:
    """Records the gradients that the backward of one node passes to heed::accumulate."""

    def __init__(self, process, current, node):
        self.process, self.current, self.node, self.parts = process, current, node, []
        self.breakpoint = Breakpoint(process, entry_of(process, "heed::accumulate"), self.record)

    def record(self, frame):
        from_, i, part_address = accumulate_arguments(frame)
        if from_ != self.node.address:
            return False
        links = memory.Node(target_of(self.process), self.node.link).inputs
        if i < len(links) and links[i].address:
            node = memory.Node(target_of(self.process), links[i])
            if node.requires_grad:
                part = array_at(self.process, part_address)
                self.parts.append((self.current.label(node), numbers.brief_text(part),
                                   numbers.array_text(part)))
        return False

    def keep(self):
        global _last
        _last = self.node.address, self.current.label(self.node), self.parts


def clear():
    global _last
    _last = None


def out(process):
    """Runs until the backward of the running node has returned; returns the gradients as text."""
    current, _ = lldb_passes.require_pass(process)
    if current.running is None:
        raise DebuggerError(NO_BACKWARD)
    node, frame = current.nodes[current.running], lldb_passes.backward_frame(process)
    if lldb_passes.apply_frame(frame) is not None:
        recorder = Recorder(process, current, node)
        run_to(process, stop_at_return(process, frame), recorder.breakpoint)
        recorder.keep()
    elif _last is None or _last[0] != node.address:
        raise DebuggerError(NO_BACKWARD)
    return "\n".join(["%s, made at %s, passed" % (current.title(node), node.location)]
                     + ["to %s: %s" % (label, text) for label, _, text in _last[2]])


def run_to_pass(process):
    clear()
    check_variables(process)
    run_to(process, Breakpoint(process, "heed::backward",
                               lambda frame: frame.FindVariable("upstream").IsValid()))
    return lldb_passes.running_pass(process)


def find_next(process, wanted):
    """Returns the graph, the node to stop at, and the node whose backward runs before it, or None."""
    is_count = re.fullmatch(r"\d+", wanted) is not None
    is_name = re.fullmatch(r"#?\d+", wanted) is None
    count = int(wanted) if is_count else 1
    found = lldb_passes.running_pass(process)
    if is_name and found:
        check_exists(process, wanted, found[0])
    while True:
        if found is not None:
            current, pending = found
            before = None if current.running is None else current.nodes[current.running]
            for node in reversed(pending):
                if node.depth > 0 and (is_count or wanted in (
                        node.op, node.name, "#%d" % current.numbers[node.address])):
                    count -= 1
                    if count == 0:
                        return current, node, before
                before = node
            if not is_count and not is_name:
                raise DebuggerError("heed: the backward of %s does not run later in this pass; "
                                    "only those of the nodes above => in `heed graph` do" % wanted)
            if is_name and not any(wanted in (n.op, n.name) for n in current.nodes if n.depth > 0):
                stop_at_end_of_pass(process, wanted, current)
        found = run_to_pass(process)
        if found is None:
            raise DebuggerError("heed: no backward pass follows")


def check_exists(process, wanted, current):
    """Rejects an unknown operation or name before the program continues."""
    named = [node for node in current.nodes if wanted in (node.op, node.name)]
    if named and all(node.depth == 0 for node in named):
        raise DebuggerError("heed: '%s' is a leaf and has no backward; `heed why %s` shows where its "
                            "gradient came from" % (wanted, wanted))
    if not named and lldb_target.find_function(process, "heed::%s::backward" % wanted) is None:
        raise DebuggerError("heed: this pass has no operation and no tensor named '%s'; `heed graph` "
                            "lists its nodes" % wanted)


def caller_of_backward(process):
    """The frame of the program that called backward()."""
    frame = lldb_passes.backward_frame(process)
    while function_name(frame) in ("heed::backward", "heed::Tensor::backward"):
        frame = process.GetSelectedThread().GetFrameAtIndex(frame.GetFrameID() + 1)
    return frame


def stop_at_end_of_pass(process, wanted, current):
    """Runs to the end of a pass that has no node WANTED, and lists what it has."""
    operations = graph.operations_text(current)
    run_to(process, stop_at_return(process, caller_of_backward(process)))
    raise DebuggerError("heed: this pass had no '%s', only %s; it has ended, in %s; another `heed step %s` "
                        "searches the next pass" % (wanted, operations, function_name(
                            process.GetSelectedThread().GetFrameAtIndex(0)), wanted))


def step(process, wanted):
    """Runs until the backward of a node starts; returns what the node before passed, and dy."""
    wanted = wanted or "1"
    if re.fullmatch(r"0+|-\d+", wanted):
        raise DebuggerError("heed: `heed step` takes a positive number of steps, an operation, "
                            "a tensor's name, or a node's number such as #3")
    current, node, before = find_next(process, wanted)
    lines = [graph.new_pass_text(current)] if current.running is None else []
    lines += record_before(process, current, node, before)
    class_name = memory.node_class(target_of(process), node.address)
    found = re.match(r"heed::(?:float64::)?OpNode<(.*?)(?:, \d+ul)?>$", class_name)
    if found:
        run_to(process, Breakpoint(process, found.group(1) + "::backward"))
    current, _ = lldb_passes.require_pass(process)
    node = node.reread() or node
    frame = process.GetSelectedThread().GetFrameAtIndex(0)
    return "\n".join(lines + [
        "%s, made at %s" % (current.title(node), node.location),
        "upstream gradient (dy) = " + numbers.array_text(node.grad),
        "%s, %s:%d" % (function_name(frame), graph.short_path(lldb_target.file_of(frame)),
                       frame.GetLineEntry().GetLine())])


def record_before(process, current, node, before):
    """Runs to the apply_backward of a node; returns lines about what the node before it passed."""
    if before is None:
        run_to(process, start_of(process, node))
        return []
    runs = current.running is not None and current.nodes[current.running].address == before.address
    returned = runs and lldb_passes.apply_frame(lldb_passes.backward_frame(process)) is None
    if returned and _last is not None and _last[0] == before.address:
        run_to(process, start_of(process, node))
    else:
        if not runs:
            run_to(process, start_of(process, before))
        recorder = Recorder(process, current, before)
        run_to(process, start_of(process, node), recorder.breakpoint)
        recorder.keep()
    return ["%s passed to %s: %s" % (_last[1], label, brief) for label, brief, _ in _last[2]]


# ---- heed nan


def finish_arguments(target, frame):
    """The arguments value (its address), op (two words), location (two words) and inputs (its address) of
    heed::finish(std::shared_ptr<Node> node, Array value, std::string_view op, SourceLocation location,
    NodeList inputs), by the calling conventions of x86-64 (System V) and of AArch64."""
    if frame.FindRegister("x0").IsValid():
        x = [register(frame, "x%d" % i) for i in range(7)]
        return x[1], x[2:4], x[4:6], x[6]
    stack = frame.GetSP() + 8  # location has 16 bytes, which do not fit into the registers that are left
    return (register(frame, "rdx"), [register(frame, "rcx"), register(frame, "r8")],
            [memory.pointer(target, stack), memory.pointer(target, stack + 8)], register(frame, "r9"))


class NonfiniteWatch:
    """Checks every value passed to heed::finish and every gradient passed to heed::accumulate."""

    def __init__(self, process):
        self.process, self.report = process, None

    def check_value(self, frame):
        target = target_of(self.process)
        value, op, location, inputs = finish_arguments(target, frame)
        links = memory.read_links(target, memory.pointer(target, inputs), memory.pointer(target, inputs + 8))
        op_text = memory.text(target, max(op), min(op))  # an address is larger than a length
        file, line = memory.c_text(target, location[0]), location[1] & 0xffffffff
        self.report = nonfinite_text.value_report(
            op_text, array_at(self.process, value), "%s:%d" % (file, line),
            [memory.Node(target, link) for link in links if link.address], self.may_write_infinity(op_text))
        return self.report is not None

    def may_write_infinity(self, op):
        try:
            type_ = target_of(self.process).type("heed::" + op)
        except DebuggerError:
            return False
        return op == "MaskedFill" or any(
            type_.GetFieldAtIndex(i).GetName() == "may_write_infinity"
            for i in range(type_.GetNumberOfFields()))

    def check_gradient(self, frame):
        from_, i, part = accumulate_arguments(frame)
        node = memory.Node(target_of(self.process), memory.Link(from_, 0))
        self.report = nonfinite_text.gradient_report(node, i, array_at(self.process, part))
        return self.report is not None


def run_to_nonfinite(process):
    watch = NonfiniteWatch(process)
    try:
        breakpoints = [Breakpoint(process, entry_of(process, "heed::finish"), watch.check_value)]
        if lldb_target.find_function(process, "heed::accumulate"):  # not without a backward pass
            breakpoints.append(Breakpoint(process, entry_of(process, "heed::accumulate"),
                                          watch.check_gradient))
        run_to(process, *breakpoints)
    except DebuggerError as error:
        if "the program ended" not in str(error):
            raise
        return "the program ended; since `heed nan` all values and gradients were finite " \
               "(minus infinity is allowed in masks)"
    return "\n".join(watch.report)


# ---- heed watch and heed in


def watch(process, argument):
    """Runs several backward passes; returns a table of how the tensor changes after each of them."""
    text, count = watch_text.parse(argument)
    current, node = lldb_passes.find_tensor(process, text)
    watch_text.check(current, node)
    check_can_continue(process)
    lines = watch_text.head_lines(node)
    try:
        if lldb_passes.running_pass(process) is None:
            run_to_pass(process)
        for number in range(1, count + 1):
            lines.append(watch_pass(process, number, node))
            if process.GetState() != lldb.eStateStopped:
                break
    except DebuggerError as error:
        return "\n".join(lines + [str(error)])
    return "\n".join(lines)


def watch_pass(process, number, node):
    """Runs to the end of this pass, then to the next one; returns a row of the table."""
    run_to(process, stop_at_return(process, caller_of_backward(process)))
    before = memory.Node(node.target, node.link)
    values, grad = before.value.numbers(), watch_text.grad_norm(before)
    try:
        run_to_pass(process)
    except DebuggerError as error:
        return watch_text.row(number, values, grad, None) + "\n" + str(error)
    return watch_text.row(number, values, grad, memory.Node(node.target, node.link).value.numbers())


MAX_STEPS = 3000
LIBRARIES = "^(std|xt|xtl|xsimd|__gnu_cxx)::"  # functions that a step passes over


def step_in(process, _):
    """Steps to another line outside the engine and the libraries."""
    check_can_continue(process)
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
