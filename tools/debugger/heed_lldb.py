"""heed_lldb.py: LLDB prints heed's arrays and steps through its gradients.

In LLDB: command script import tools/debugger/heed_lldb.py, then heed graph, heed step, heed show."""

import os
import sys

import lldb

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)

sys.dont_write_bytecode = True  # the source tree stays as it is

from heed_debug import graph, memory, numbers  # noqa: E402
from heed_debug.memory import Trouble  # noqa: E402

WITHOUT_G = ("heed: this is not a heed program, or it was built without -g; build it with "
             "`cmake --preset debug && cmake --build --preset debug`")
NOT_RUNNING = "heed: the program is not running; type `run`, or `breakpoint set -n main` first"
NO_PASS = ("heed: no backward pass is running here; `heed step` runs to the next one, "
           "`heed graph T` shows the graph behind a tensor T")


def member(kind, name):
    """The offset and the type of a member, also of a base class."""
    for i in range(kind.GetNumberOfFields()):
        field = kind.GetFieldAtIndex(i)
        if field.GetName() == name:
            return field.GetOffsetInBytes(), bare(field.GetType())
    for i in range(kind.GetNumberOfDirectBaseClasses()):
        base = kind.GetDirectBaseClassAtIndex(i)
        found = member(bare(base.GetType()), name)
        if found:
            return base.GetOffsetInBytes() + found[0], found[1]
    return None


def bare(kind):
    return kind.GetDereferencedType().GetCanonicalType().GetUnqualifiedType() if kind.IsReferenceType() \
        else kind.GetCanonicalType().GetUnqualifiedType()


class LldbTarget:
    """What memory.py asks of a debugger, answered by LLDB."""

    def __init__(self, process):
        self.process, self.program = process, process.GetTarget()
        self.kinds, self.layouts = {}, {}
        triple = self.program.GetTriple()
        self.arm_strings = "apple" in triple and triple.startswith(("arm64", "aarch64"))

    def read(self, address, size):
        error = lldb.SBError()
        result = self.process.ReadMemory(address, size, error)
        if error.Fail() or result is None or len(result) != size:
            raise Trouble("heed: there is no memory at 0x%x" % address)
        return bytes(result)

    def type(self, kind):
        if isinstance(kind, lldb.SBType):
            return bare(kind)
        found = self.program.FindFirstType(kind)
        if not found.IsValid():
            raise Trouble(WITHOUT_G)
        return bare(found)

    def offset(self, kind, path):
        at, kind = 0, self.type(kind)
        for name in path.split("."):
            found = member(kind, name)
            if not found:
                raise Trouble("heed: %s has no member %s" % (kind.GetName(), name))
            at, kind = at + found[0], found[1]
        return at, kind

    def has(self, kind, path):
        try:
            return self.offset(kind, path) is not None
        except Trouble:
            return False

    def sizeof(self, kind):
        return self.type(kind).GetByteSize()

    def element_code(self, pointer_type):
        element = bare(pointer_type.GetPointeeType())
        codes = {lldb.eBasicTypeFloat: "f", lldb.eBasicTypeDouble: "d", lldb.eBasicTypeBool: "B",
                 lldb.eBasicTypeLong: "q", lldb.eBasicTypeLongLong: "q", lldb.eBasicTypeInt: "i",
                 lldb.eBasicTypeUnsignedLong: "Q"}
        code = codes.get(element.GetBasicType())
        if code is None:
            raise Trouble("heed: numbers of type %s are not known" % element.GetName())
        return code

    def symbol(self, address):
        name = self.program.ResolveLoadAddress(address).GetSymbol().GetName()
        if name:
            return name
        # LLDB 14 does not know which section holds tables of virtual functions; its file does.
        module = self.program.GetModuleAtIndex(0)
        code = module.FindSection(".text")
        slide = code.GetLoadAddress(self.program) - code.GetFileAddress() if code.IsValid() else 0
        for symbol in self.tables(module):
            at = symbol.GetStartAddress().GetFileAddress() + slide
            if at <= address < at + 48:  # the table of a node has six words
                return symbol.GetName()
        return ""

    def tables(self, module):
        if "tables" not in self.layouts:
            self.layouts["tables"] = [symbol for symbol in module.symbols if (
                symbol.GetName() or "").startswith("vtable for heed::")]
        return self.layouts["tables"]

    def node_layout(self):
        if "node" not in self.layouts:
            self.layouts["node"] = memory.NodeLayout(self)
        return self.layouts["node"]

    def array_layout(self, kind):
        key = kind.GetName()
        if key not in self.layouts:
            self.layouts[key] = memory.array_layout(self, kind)
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
        raise Trouble("heed: the optimiser has taken this value away")
    return address


def is_array(kind):
    return bare(kind).GetName().startswith("xt::xarray_container<xt::uvector<")


def array_of(value):
    target = target_of(value.GetProcess())
    return memory.read_array(target, address_of(value), target.array_layout(bare(value.GetType())))


def link_of(value):
    """The node that a Tensor, a shared_ptr or a pointer to a Node stands for; None for other types."""
    target, kind = target_of(value.GetProcess()), value.GetType()
    if bare(kind).IsPointerType() and bare(kind).GetPointeeType().GetName().endswith("heed::Node"):
        return memory.Link(value.GetNonSyntheticValue().GetValueAsUnsigned(), 0)
    if bare(kind).GetName() == "heed::Tensor" or bare(kind).GetName().endswith("shared_ptr<heed::Node>"):
        at = address_of(value)
        return memory.Link(memory.pointer(target, at), memory.pointer(target, at + 8))
    return None


def node_of(value):
    link = link_of(value)
    if link is None:
        return None
    target = target_of(value.GetProcess())
    if not memory.is_node(target, link.address):
        raise Trouble("heed: this tensor is not initialised yet, or nothing")
    return memory.Node(target, link)


def array_summary(value, _):
    try:
        return numbers.array_text(array_of(value))
    except Exception as error:  # a summary never fails
        return "<%s>" % str(error).replace("heed: ", "", 1)


def tensor_summary(value, _):
    try:
        node = node_of(value)
        grad = numbers.array_text(node.grad, "    ") if node.has_grad else "no grad yet"
        return "%s%s %s = {value = %s, grad = %s}" % (
            "'%s' = " % node.name if node.name else "", node.op, numbers.shape_text(node.shape),
            numbers.array_text(node.value, "    "), grad)
    except Exception as error:
        return "<%s>" % str(error).replace("heed: ", "", 1)


# ---- the backward pass


def selected(debugger):
    process = debugger.GetSelectedTarget().GetProcess()
    if not process.IsValid() or process.GetState() != lldb.eStateStopped:
        raise Trouble(NOT_RUNNING)
    target_of(process).type("heed::Node")
    return process, process.GetSelectedThread().GetSelectedFrame()


def running_pass(process):
    """(graph, nodes to come), or None."""
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
        at = address_of(frame.FindVariable("nodes"))
        links = memory.read_links(target, memory.pointer(target, at), memory.pointer(target, at + 8))
        to_come = [memory.Node(target, link) for link in links]
        return graph.Graph(to_come + [memory.Node(target, running)], len(to_come)), to_come
    return None


def value_called(frame, text):
    """A variable and its members, never a call: LLDB's paths read memory alone."""
    value = frame.GetValueForVariablePath(text)
    if not value.IsValid() or value.GetError().Fail():
        raise Trouble("heed: nothing here is called '%s'; give a variable of this frame" % text)
    return value


def show_graph(debugger, text):
    process, frame = selected(debugger)
    if text:
        node = node_of(value_called(frame, text))
        if node is None:
            raise Trouble("heed: '%s' is not a Tensor" % text)
        current = graph.Graph(graph.walk(target_of(process), [node.link]))
    else:
        found = running_pass(process)
        if found is None:
            raise Trouble(NO_PASS)
        current = found[0]
    return "\n".join(graph.graph_lines(current))


def show(debugger, text):
    process, frame = selected(debugger)
    if not text:
        raise Trouble("heed: say what: a variable of this frame, or a tensor's name")
    found = running_pass(process)
    named = [node for node in (found[0].nodes if found else []) if node.name == text]
    value = None if named else value_called(frame, text)
    if value is not None and is_array(value.GetType()):
        array = array_of(value)
    else:
        node = named[-1] if named else node_of(value)
        if node is None:
            raise Trouble("heed: '%s' is neither an Array nor a Tensor" % text)
        array = node.value
    return text + " = " + numbers.array_text(array) + "\n" + numbers.summary(array)


def run_to(process, breakpoint):
    """Continues until this breakpoint; it is deleted then."""
    debugger = process.GetTarget().GetDebugger()
    before = debugger.GetAsync()
    debugger.SetAsync(False)
    number = breakpoint.GetID()
    try:
        process.Continue()
        here = [thread for thread in process if thread.GetStopReason() == lldb.eStopReasonBreakpoint
                and number in [thread.GetStopReasonDataAtIndex(i)
                               for i in range(0, thread.GetStopReasonDataCount(), 2)]]
    finally:
        debugger.SetAsync(before)
        process.GetTarget().BreakpointDelete(number)
    if process.GetState() != lldb.eStateStopped:
        raise Trouble("heed: the program ended first; `run` starts it again")
    if here:
        process.SetSelectedThread(here[0])
        return
    raise Trouble("heed: the program stopped for another reason")


def step(debugger, wanted):
    """Runs to the next node of the backward pass, or the next of that operation or name."""
    process, _ = selected(debugger)
    found = running_pass(process)
    for _ in range(10000):
        fits = [node for node in (found[1] if found else []) if node.depth > 0
                and wanted in ("", node.op, node.name)]
        if fits:
            break
        start = process.GetTarget().BreakpointCreateByName("heed::backward")
        run_to(process, start)
        found = running_pass(process)
    node = fits[-1]
    kind = memory.kind_of(target_of(process), node.address)
    operation = kind[kind.index("<") + 1:].split(",")[0].rstrip(">")
    while True:
        run_to(process, process.GetTarget().BreakpointCreateByName(operation + "::backward"))
        current = running_pass(process)[0]
        if current.running is None or current.nodes[current.running].address == node.address:
            break
    node = current.nodes[current.running]
    line = process.GetSelectedThread().GetFrameAtIndex(0).GetLineEntry()
    return "%s, made at %s\nthe gradient that arrives = %s\n%s::backward, %s:%d" % (
        current.title(node), node.where, numbers.array_text(node.grad), operation,
        line.GetFileSpec().GetFilename(), line.GetLine())


COMMANDS = {"graph": show_graph, "step": step, "show": show}
HELP = """heed graph [T]             the graph that is running backward, or the one behind T
heed step [OPERATION|NAME]  run to the next node of the backward pass
heed show X                an array or a tensor: its matrix, min, max, mean, norm"""


def heed(debugger, command, result, _):
    """Attention's arrays, graphs and gradients: heed graph [T], heed step [OPERATION|NAME], heed show X."""
    words = command.split(None, 1)
    if not words:
        result.AppendMessage(HELP)
        return
    try:
        if words[0] not in COMMANDS:
            raise Trouble("heed: there is no `heed %s`; `heed` lists what there is" % words[0])
        result.AppendMessage(COMMANDS[words[0]](debugger, words[1].strip() if len(words) > 1 else ""))
    except Trouble as trouble:
        text = str(trouble)
        result.SetError(text if text.startswith("heed: ") else "heed: " + text)
    except Exception as error:  # never a traceback
        result.SetError("heed: `heed %s` could not do it: %s: %s"
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
