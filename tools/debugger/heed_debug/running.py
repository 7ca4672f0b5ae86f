"""running.py: runs the program to the backward of a node, or to the first NaN or infinity."""

import re

import gdb

from heed_debug import gdb_target, graph, memory, numbers, passes
from heed_debug.gdb_target import target
from heed_debug.memory import DebuggerError

APPLY_BACKWARD = 2  # the index of Node::apply_backward in the vtable, after two destructors


class InternalBreakpoint(gdb.Breakpoint):
    """A breakpoint that the user does not see. It stops when `should_stop()` is true."""

    def __init__(self, location, should_stop=lambda: True, function=False):
        if function:
            super().__init__(function=location, internal=True, qualified=True)
        else:
            super().__init__(location, internal=True)
        self.silent = True
        self.should_stop, self.hit, self.error = should_stop, False, None

    def stop(self):
        try:
            self.hit = self.should_stop()
        except Exception as error:  # run_to reports it when the program stops
            self.hit, self.error = False, error
        return self.hit


def run_to(*breakpoints):
    """Continues, and returns whether the program stopped at one of these breakpoints. If another event
    stopped the program, prints gdb's message about it."""
    try:
        output = gdb.execute("continue", to_string=True)
    except gdb.error as error:
        text = str(error)
        if "not being run" in text or "target does not support" in text.lower():
            raise DebuggerError("heed: this program cannot continue (is it a core file?); the "
                                "commands graph, grad, show, why, back and save still work")
        raise DebuggerError("heed: " + text)
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
    print(output.strip())
    return False


def first_argument():
    """The value of `this` at the first instruction of a member function."""
    frame = gdb.newest_frame()
    register = "x0" if frame.architecture().name().startswith("aarch64") else "rdi"
    return int(frame.read_register(register)) & (2 ** 64 - 1)


def operation_of(node):
    """The operation of a node: "heed::Softmax" for the type heed::OpNode<heed::Softmax, 1ul>."""
    class_name = memory.node_class(target, node.address)
    found = re.match(r"heed::OpNode<(.*?)(?:, \d+ul)?>$", class_name)
    return found.group(1) if found else None


def in_backward_loop():
    """Whether the innermost frame is the overload of heed::backward with a parameter `upstream`."""
    return gdb_target.variable(gdb.newest_frame(), "upstream") is not None


def run_to_pass():
    """Runs to the beginning of the next backward pass."""
    if not function_exists("heed::backward"):
        raise DebuggerError(gdb_target.WITHOUT_G)
    if not run_to(InternalBreakpoint("heed::backward", in_backward_loop, function=True)):
        return None
    return passes.running_pass()


def function_exists(function):
    try:
        return bool(gdb.decode_line(function)[1])
    except gdb.error:
        return False


def node_filter(wanted):
    """Parses WANTED of `heed step WANTED`. Returns (predicate, n): stop at the n-th node that matches."""
    if re.fullmatch(r"\d+", wanted) and int(wanted) > 0:
        return (lambda graph_, node: True), int(wanted)
    if re.fullmatch(r"#\d+", wanted):
        return (lambda graph_, node: graph_.numbers.get(node.address) == int(wanted[1:])), 1
    return (lambda graph_, node: wanted in (node.op, node.name)), 1


def check_exists(wanted, current):
    """Rejects an unknown operation or name before the program continues."""
    nodes = current.nodes if current else []
    if any(wanted in (node.op, node.name) for node in nodes):
        leaf = [n for n in nodes if n.name == wanted and n.depth == 0]
        if leaf:
            raise DebuggerError("heed: '%s' is a leaf and has no backward; `heed why %s` shows where its "
                                "gradient came from" % (wanted, wanted))
        return
    if re.fullmatch(r"\w+", wanted) and function_exists("heed::%s::backward" % wanted):
        return
    if current:
        raise DebuggerError("heed: this pass has no operation and no tensor named '%s'; `heed graph` "
                            "lists its nodes" % wanted)


def find_next(wanted):
    """Returns the (graph, node) to stop at, in the running backward pass or else in a later one."""
    matches, count = node_filter(wanted)
    found = passes.running_pass()
    if re.fullmatch(r"[^#\d].*", wanted):
        check_exists(wanted, found[0] if found else None)
    while True:
        if found is not None:
            current, pending = found
            for node in reversed(pending):
                if node.depth > 0 and matches(current, node):
                    count -= 1
                    if count == 0:
                        return current, node
            if wanted.startswith("#"):
                raise DebuggerError("heed: the backward of %s does not run later in this pass; "
                                    "only those of the nodes above => in `heed graph` do" % wanted)
        found = run_to_pass()
        if found is None:
            return None


def report_end(wanted):
    if gdb.selected_thread() is not None:
        return  # run_to has printed why the program stopped
    raise DebuggerError("heed: the program ended%s; `run` starts it again" % (
        "" if re.fullmatch(r"\d*", wanted) else " before a backward of '%s'" % wanted))


def step(wanted):
    """Runs to a node's backward and stops on its first line."""
    gdb_target.check_running()
    if re.fullmatch(r"0+|-\d+", wanted):
        raise DebuggerError("heed: `heed step` takes a positive number of steps, an operation, "
                            "a tensor's name, or a node's number such as #3")
    found = find_next(wanted or "1")
    if found is None:
        return report_end(wanted)
    _, node = found
    method = memory.pointer(target, node.vtable + 8 * APPLY_BACKWARD)
    if not run_to(InternalBreakpoint("*0x%x" % method, lambda: first_argument() == node.address)):
        return report_end(wanted)
    operation = operation_of(node)
    if operation and function_exists(operation + "::backward"):
        breakpoint = InternalBreakpoint(operation + "::backward", function=True)
        breakpoint.thread = gdb.selected_thread().num
        if not run_to(breakpoint):
            return report_end(wanted)
        enter_inlined(operation + "::backward")
    show_node(node)


def enter_inlined(function):
    """Enters an inlined function: gdb stops in its caller, from which `step` enters the function."""
    frame = gdb.newest_frame()
    block = gdb.block_for_pc(frame.pc())
    while block is not None and not block.is_global:
        if block.function is not None and block.function.name.split("(")[0] == function:
            if gdb_target.function_name(frame) != function:
                gdb.execute("step", to_string=True)
            return
        block = block.superblock


def show_node(node):
    current, _ = passes.require_pass()
    node = node.reread() or node
    print("%s, made at %s" % (current.title(node), node.location))
    print("upstream gradient (dy) = " + numbers.array_text(node.grad))
    frame = gdb.newest_frame()
    frame.select()
    lines = gdb.execute("frame", to_string=True).strip().split("\n")
    sal = frame.find_sal()
    source = lines[-1].strip() if len(lines) > 1 else ""
    if sal.symtab:
        print("%s, %s:%d" % (gdb_target.function_name(frame), short_path(sal.symtab.filename), sal.line))
    if source:
        print(source)


def short_path(path):
    """The path relative to the project's folder, as heed prints paths."""
    found = re.search(r"(?:^|/)((?:src|include/heed|lessons|tests)/.*)$", path)
    return found.group(1) if found else path


# ---- heed nan


def nonfinite_counts(array):
    values = array.numbers()
    return numbers.count_nonfinite(values) if numbers.is_real(array) else (0, 0, 0)


def may_write_infinity(op):
    """Whether the struct of an operation declares that its output may contain minus infinity."""
    try:
        fields = gdb.lookup_type("heed::" + op).fields()
    except gdb.error:
        return False
    return any(field.name == "may_write_infinity" for field in fields)


def new_nonfinite(op, value, inputs):
    """The counts of nonfinite numbers that an operation produced, or None. Ignores minus infinity if an
    input contained it, or if the operation (a mask) declares that it may write minus infinity."""
    nan, plus, minus = nonfinite_counts(value)
    if nan or plus:
        return nan, plus, minus
    if not minus or may_write_infinity(op):
        return None
    return None if any(nonfinite_counts(node.value)[2] for node in inputs) else (nan, plus, minus)


def view_text(view):
    """The text of a std::string_view, which may be stored in registers."""
    parts = {part.type.strip_typedefs().code: view[part.name] for part in view.type.strip_typedefs().fields()
             if hasattr(part, "bitpos")}
    return memory.text(target, int(parts[gdb.TYPE_CODE_PTR]), int(parts[gdb.TYPE_CODE_INT]))


def input_lines(inputs):
    return ["  input %s, made at %s: %s" % (graph.title(node), node.location, numbers.summary(node.value))
            for node in inputs]


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
        inputs = [memory.Node(target, link) for link in links if link.address]
        for node in inputs:
            if node.depth == 0 and nonfinite_counts(node.value)[0]:
                self.report = ["forward: the input %s, made at %s, has %s" % (
                    graph.title(node), node.location, numbers.nonfinite_text(nonfinite_counts(node.value)))]
                return True
        counts = new_nonfinite(op, value, inputs)
        if counts is None:
            return False
        location = frame.read_var("location")
        self.report = ["forward: %s %s, made at %s:%d, has %s" % (
            op, numbers.shape_text(value.shape), memory.c_text(target, int(location["file"])),
            int(location["line"]), numbers.nonfinite_text(counts))] + input_lines(inputs)
        return True

    def check_gradient(self):
        frame = gdb.newest_frame()
        from_ = frame.read_var("from")
        node = memory.Node(target, memory.Link(int(from_.address or from_.referenced_value().address), 0))
        i = int(frame.read_var("i"))
        if i >= len(node.inputs) or not node.inputs[i].address:
            return False
        if not memory.Node(target, node.inputs[i]).requires_grad:
            return False
        counts = nonfinite_counts(gdb_target.array_of(frame.read_var("part")))
        if not any(counts):
            return False
        self.report = ["backward: %s, made at %s, passes a gradient with %s to its input %d" % (
            graph.title(node), node.location, numbers.nonfinite_text(counts), i),
            "  upstream gradient (dy): " + numbers.summary(node.grad)]
        self.report += input_lines([memory.Node(target, link) for link in node.inputs if link.address])
        return True


def run_to_nonfinite():
    gdb_target.check_running()
    if not function_exists("heed::finish") or not function_exists("heed::accumulate"):
        raise DebuggerError(gdb_target.WITHOUT_G)
    watch = NonfiniteWatch()
    if not run_to(InternalBreakpoint("heed::finish", watch.check_value, function=True),
                  InternalBreakpoint("heed::accumulate", watch.check_gradient, function=True)):
        if gdb.selected_thread() is None:
            print("the program ended; since `heed nan` all values and gradients were finite "
                  "(minus infinity is allowed in masks)")
        return
    print("\n".join(watch.report))
