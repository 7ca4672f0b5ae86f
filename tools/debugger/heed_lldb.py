"""heed_lldb.py: LLDB commands (heed graph, heed step, heed show) and summaries of heed's arrays.

In LLDB: command script import tools/debugger/heed_lldb.py"""

import os
import sys

import lldb

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

from heed_debug import graph, memory, numbers  # noqa: E402
from heed_debug.memory import DebuggerError  # noqa: E402

WITHOUT_G = ("heed: this is not a heed program, or it was built without -g; build it with "
             "`cmake --preset debug && cmake --build --preset debug`")
NOT_RUNNING = "heed: the program is not running; type `run`, or `breakpoint set -n main` first"
NO_PASS = ("heed: no backward pass is running; `heed step` runs to the next one, "
           "`heed graph T` shows the graph that computed a tensor T")


def member(type_, name):
    """Returns (offset in bytes, type) of a member of a type or of its base classes, or None."""
    for i in range(type_.GetNumberOfFields()):
        field = type_.GetFieldAtIndex(i)
        if field.GetName() == name:
            return field.GetOffsetInBytes(), bare(field.GetType())
    for i in range(type_.GetNumberOfDirectBaseClasses()):
        base = type_.GetDirectBaseClassAtIndex(i)
        found = member(bare(base.GetType()), name)
        if found:
            return base.GetOffsetInBytes() + found[0], found[1]
    return None


def bare(type_):
    """Removes const, references and typedefs from a type."""
    return type_.GetDereferencedType().GetCanonicalType().GetUnqualifiedType() if type_.IsReferenceType() \
        else type_.GetCanonicalType().GetUnqualifiedType()


class LldbTarget:
    """Reads the program's memory through LLDB. memory.py describes the methods."""

    def __init__(self, process):
        self.process, self.program = process, process.GetTarget()
        self.node_classes, self.layouts = {}, {}
        triple = self.program.GetTriple()
        self.arm_strings = "apple" in triple and triple.startswith(("arm64", "aarch64"))

    def read(self, address, size):
        error = lldb.SBError()
        result = self.process.ReadMemory(address, size, error)
        if error.Fail() or result is None or len(result) != size:
            raise DebuggerError("heed: cannot read memory at 0x%x" % address)
        return bytes(result)

    def type(self, type_):
        if isinstance(type_, lldb.SBType):
            return bare(type_)
        found = self.program.FindFirstType(type_)
        if not found.IsValid():
            raise DebuggerError(WITHOUT_G)
        return bare(found)

    def offset(self, type_, path):
        result, type_ = 0, self.type(type_)
        for name in path.split("."):
            found = member(type_, name)
            if not found:
                raise DebuggerError("heed: %s has no member %s" % (type_.GetName(), name))
            result, type_ = result + found[0], found[1]
        return result, type_

    def has(self, type_, path):
        try:
            return self.offset(type_, path) is not None
        except DebuggerError:
            return False

    def sizeof(self, type_):
        return self.type(type_).GetByteSize()

    def element_code(self, pointer_type):
        element = bare(pointer_type.GetPointeeType())
        codes = {lldb.eBasicTypeFloat: "f", lldb.eBasicTypeDouble: "d", lldb.eBasicTypeBool: "B",
                 lldb.eBasicTypeLong: "q", lldb.eBasicTypeLongLong: "q", lldb.eBasicTypeInt: "i",
                 lldb.eBasicTypeUnsignedLong: "Q"}
        code = codes.get(element.GetBasicType())
        if code is None:
            raise DebuggerError("heed: arrays of type %s are not supported" % element.GetName())
        return code

    def symbol(self, address):
        name = self.program.ResolveLoadAddress(address).GetSymbol().GetName()
        if name:
            return name
        # LLDB 14 finds no symbol for a vtable's address, but the module's symbol list contains it.
        module = self.program.GetModuleAtIndex(0)
        code = module.FindSection(".text")
        slide = code.GetLoadAddress(self.program) - code.GetFileAddress() if code.IsValid() else 0
        for symbol in self.vtables(module):
            start = symbol.GetStartAddress().GetFileAddress() + slide
            if start <= address < start + 48:  # the vtable of a Node has six entries of 8 bytes
                return symbol.GetName()
        return ""

    def vtables(self, module):
        if "vtables" not in self.layouts:
            self.layouts["vtables"] = [symbol for symbol in module.symbols if (
                symbol.GetName() or "").startswith("vtable for heed::")]
        return self.layouts["vtables"]

    def node_layout(self):
        if "node" not in self.layouts:
            self.layouts["node"] = memory.NodeLayout(self)
        return self.layouts["node"]

    def array_layout(self, type_):
        key = type_.GetName()
        if key not in self.layouts:
            self.layouts[key] = memory.array_layout(self, type_)
        return self.layouts[key]


_targets = {}


def target_of(process):
    key = process.GetUniqueID()
    if key not in _targets:
        _targets.clear()
        _targets[key] = LldbTarget(process)
    return _targets[key]


# ---- values


def address_of(value):
    value = value.GetNonSyntheticValue()
    if value.GetType().IsReferenceType():
        value = value.Dereference()
    address = value.GetLoadAddress()
    if address == lldb.LLDB_INVALID_ADDRESS:
        raise DebuggerError("heed: the compiler optimised this value away")
    return address


def is_array(type_):
    return bare(type_).GetName().startswith("xt::xarray_container<xt::uvector<")


def array_of(value):
    target = target_of(value.GetProcess())
    return memory.read_array(target, address_of(value), target.array_layout(bare(value.GetType())))


def link_of(value):
    """The Link to a value's node (Tensor, shared_ptr<Node> or Node*); None for other types."""
    target, type_ = target_of(value.GetProcess()), value.GetType()
    if bare(type_).IsPointerType() and bare(type_).GetPointeeType().GetName().endswith("heed::Node"):
        return memory.Link(value.GetNonSyntheticValue().GetValueAsUnsigned(), 0)
    if bare(type_).GetName() == "heed::Tensor" or bare(type_).GetName().endswith("shared_ptr<heed::Node>"):
        address = address_of(value)
        return memory.Link(memory.pointer(target, address), memory.pointer(target, address + 8))
    return None


def node_of(value):
    link = link_of(value)
    if link is None:
        return None
    target = target_of(value.GetProcess())
    if not memory.is_node(target, link.address):
        raise DebuggerError("heed: this tensor is undefined or not initialised yet")
    return memory.Node(target, link)


def array_summary(value, _):
    try:
        return numbers.array_text(array_of(value))
    except Exception as error:  # LLDB would print a traceback
        return "<%s>" % str(error).replace("heed: ", "", 1)


def tensor_summary(value, _):
    try:
        node = node_of(value)
        grad = numbers.array_text(node.grad, "    ") if node.has_grad else "no gradient yet"
        return "%s%s %s = {value = %s, grad = %s}" % (
            "'%s' = " % node.name if node.name else "", node.op, numbers.shape_text(node.shape),
            numbers.array_text(node.value, "    "), grad)
    except Exception as error:
        return "<%s>" % str(error).replace("heed: ", "", 1)


# ---- the backward pass


def selected_frame(debugger):
    """Returns (process, frame). Raises DebuggerError when no heed program is running."""
    process = debugger.GetSelectedTarget().GetProcess()
    if not process.IsValid() or process.GetState() != lldb.eStateStopped:
        raise DebuggerError(NOT_RUNNING)
    target_of(process).type("heed::Node")
    return process, process.GetSelectedThread().GetSelectedFrame()


def running_pass(process):
    """Returns (graph, pending nodes) of the running backward pass, or None."""
    target = target_of(process)
    for frame in process.GetSelectedThread():
        name = frame.GetFunctionName() or ""
        if not name.startswith("heed::backward(") or not frame.FindVariable("upstream").IsValid():
            continue
        running = None
        for variable in ("running", "node"):
            value = frame.FindVariable(variable)
            link = link_of(value) if value.IsValid() else None
            if link and memory.is_node(target, link.address):
                running = link
                break
        if running is None:
            nodes = graph.walk(target, [link_of(frame.FindVariable("output"))])
            return graph.Graph(nodes), nodes
        nodes = address_of(frame.FindVariable("nodes"))
        links = memory.read_links(target, memory.pointer(target, nodes), memory.pointer(target, nodes + 8))
        pending = [memory.Node(target, link) for link in links]
        return graph.Graph(pending + [memory.Node(target, running)], len(pending)), pending
    return None


def find_variable(frame, text):
    """The value of a variable or member. An LLDB variable path cannot call a function."""
    value = frame.GetValueForVariablePath(text)
    if not value.IsValid() or value.GetError().Fail():
        raise DebuggerError("heed: this frame has no variable '%s'; `up` goes to the caller" % text)
    return value


def show_graph(debugger, text):
    process, frame = selected_frame(debugger)
    if text:
        node = node_of(find_variable(frame, text))
        if node is None:
            raise DebuggerError("heed: '%s' is not a Tensor" % text)
        current = graph.Graph(graph.walk(target_of(process), [node.link]))
    else:
        found = running_pass(process)
        if found is None:
            raise DebuggerError(NO_PASS)
        current = found[0]
    return "\n".join(graph.graph_lines(current))


def show(debugger, text):
    process, frame = selected_frame(debugger)
    if not text:
        raise DebuggerError("heed: give a variable of this frame, or a tensor's name")
    found = running_pass(process)
    named = [node for node in (found[0].nodes if found else []) if node.name == text]
    value = None if named else find_variable(frame, text)
    if value is not None and is_array(value.GetType()):
        array = array_of(value)
    else:
        node = named[-1] if named else node_of(value)
        if node is None:
            raise DebuggerError("heed: '%s' is neither an Array nor a Tensor" % text)
        array = node.value
    return text + " = " + numbers.array_text(array) + "\n" + numbers.summary(array)


def run_to(process, breakpoint):
    """Continues until the program stops at `breakpoint`, and deletes the breakpoint."""
    debugger = process.GetTarget().GetDebugger()
    was_async = debugger.GetAsync()
    debugger.SetAsync(False)
    breakpoint_id = breakpoint.GetID()
    try:
        process.Continue()
        stopped = [thread for thread in process if thread.GetStopReason() == lldb.eStopReasonBreakpoint
                   and breakpoint_id in [thread.GetStopReasonDataAtIndex(i)
                                         for i in range(0, thread.GetStopReasonDataCount(), 2)]]
    finally:
        debugger.SetAsync(was_async)
        process.GetTarget().BreakpointDelete(breakpoint_id)
    if process.GetState() != lldb.eStateStopped:
        raise DebuggerError("heed: the program ended; `run` starts it again")
    if stopped:
        process.SetSelectedThread(stopped[0])
        return
    raise DebuggerError("heed: the program stopped before the breakpoint; `thread list` shows why")


def step(debugger, wanted):
    """Continues to the backward of the next node (with operation or name `wanted`, if given)."""
    process, _ = selected_frame(debugger)
    found = running_pass(process)
    for _ in range(10000):
        matches = [node for node in (found[1] if found else []) if node.depth > 0
                and wanted in ("", node.op, node.name)]
        if matches:
            break
        start = process.GetTarget().BreakpointCreateByName("heed::backward")
        run_to(process, start)
        found = running_pass(process)
    node = matches[-1]
    class_name = memory.node_class(target_of(process), node.address)
    operation = class_name[class_name.index("<") + 1:].split(",")[0].rstrip(">")
    while True:
        run_to(process, process.GetTarget().BreakpointCreateByName(operation + "::backward"))
        current = running_pass(process)[0]
        if current.running is None or current.nodes[current.running].address == node.address:
            break
    node = current.nodes[current.running]
    line = process.GetSelectedThread().GetFrameAtIndex(0).GetLineEntry()
    return "%s, made at %s\nupstream gradient (dy) = %s\n%s::backward, %s:%d" % (
        current.title(node), node.location, numbers.array_text(node.grad), operation,
        line.GetFileSpec().GetFilename(), line.GetLine())


COMMANDS = {"graph": show_graph, "step": step, "show": show}
HELP = """heed graph [T]              the graph of the running backward pass, or the graph that computed T
heed step [OPERATION|NAME]  run to the backward of the next node, operation or named tensor
heed show X                 an array or a tensor's value: matrix, min, max, mean, norm"""


def heed(debugger, command, result, _):
    """Show arrays, graphs and gradients: heed graph [T], heed step [OPERATION|NAME], heed show X."""
    words = command.split(None, 1)
    if not words:
        result.AppendMessage(HELP)
        return
    try:
        if words[0] not in COMMANDS:
            raise DebuggerError("heed: there is no command `heed %s`; `heed` lists the commands"
                                % words[0])
        result.AppendMessage(COMMANDS[words[0]](debugger, words[1].strip() if len(words) > 1 else ""))
    except DebuggerError as error:
        text = str(error)
        result.SetError(text if text.startswith("heed: ") else "heed: " + text)
    except Exception as error:  # LLDB would print a traceback
        result.SetError("heed: `heed %s` failed: %s: %s"
                        % (words[0], type(error).__name__, error))


def __lldb_init_module(debugger, _):
    name = __name__
    debugger.HandleCommand("command script add -o -f %s.heed heed" % name if lldb_has_overwrite()
                           else "command script add -f %s.heed heed" % name)
    for pattern, function in (("^xt::xarray_container<xt::uvector<", "array_summary"),
                              ("^heed::(Array|Indices|Mask)$", "array_summary"),
                              ("^heed::Tensor$", "tensor_summary")):
        debugger.HandleCommand('type summary add -w heed -x "%s" -F %s.%s' % (pattern, name, function))
    debugger.HandleCommand("type category enable heed")


def lldb_has_overwrite():
    version = lldb.SBDebugger.GetVersionString()
    digits = "".join(c if c.isdigit() else " " for c in version).split()
    return bool(digits) and int(digits[0]) >= 15
