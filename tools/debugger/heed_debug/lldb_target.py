"""lldb_target.py: reads the program's memory, types, frames and variables through LLDB."""

import lldb

from heed_debug import memory
from heed_debug.memory import DebuggerError

WITHOUT_G = ("heed: this is not a heed program, or it or its library heed was built without -g; build "
             "both with `cmake --preset debug && cmake --build --preset debug`")
NOT_RUNNING = "heed: the program is not running; type `run`, or `breakpoint set -n main` first"


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


class LldbTarget(memory.Target):
    """Reads the program's memory through LLDB. memory.py describes the methods."""

    script, member = "heed_lldb.py", staticmethod(member)

    def __init__(self, process_):
        super().__init__()
        self.process, self.program = process_, process_.GetTarget()
        triple = self.program.GetTriple()
        self.arm_strings = "apple" in triple and triple.startswith(("arm64", "aarch64"))

    def read(self, address, size):
        error = lldb.SBError()
        result = self.process.ReadMemory(address, size, error)
        if error.Fail():  # a core file leaves out the constants, which the program's file has
            place = self.program.ResolveLoadAddress(address)
            known = place.GetSection().IsValid()
            result = self.program.ReadMemory(place, size, lldb.SBError()) if known else None
        if result is None or len(result) != size:
            raise DebuggerError("heed: cannot read memory at 0x%x" % address)
        return bytes(result)

    def type(self, type_):
        if isinstance(type_, lldb.SBType):
            return bare(type_)
        found = next((found for found in map(self.program.FindFirstType, memory.full_names(type_))
                      if found.IsValid()), None)
        if found is None:
            raise DebuggerError(WITHOUT_G)
        return bare(found)

    def name_of(self, type_):
        return type_.GetName()

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
            self.layouts["vtables"] = [symbol for symbol in module.symbols if (symbol.GetName() or "").startswith(
                ("vtable for heed::", "vtable for std::_Sp_counted_ptr_inplace<heed::"))]
        return self.layouts["vtables"]


# The process of the running command, and its target.
process = target = None
_targets = {}


def target_of(process_):
    key = process_.GetUniqueID()
    if key not in _targets:
        _targets.clear()
        _targets[key] = LldbTarget(process_)
    return _targets[key]


def select(debugger):
    """Makes the debugger's stopped process that of the following calls."""
    global process, target
    process = debugger.GetSelectedTarget().GetProcess()
    check_running()
    target = target_of(process)


def is_stopped():
    return process.GetState() == lldb.eStateStopped


def check_running():
    """Raises DebuggerError when no heed program is stopped."""
    if not process.IsValid() or not is_stopped():
        raise DebuggerError(NOT_RUNNING)
    target_of(process).type("heed::Node")


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
    return (bare(type_).GetName() or "").startswith("xt::xarray_container<xt::uvector<")


def is_tensor(type_):
    return memory.plain(bare(type_).GetName()) == "heed::Tensor"


def array_of(value):
    target = target_of(value.GetProcess())
    return memory.read_array(target, address_of(value), target.array_layout(bare(value.GetType())))


def link_of(value):
    """The Link to a value's node (Tensor, shared_ptr<Node> or Node*); None for other types."""
    target, type_ = target_of(value.GetProcess()), value.GetType()
    if bare(type_).IsPointerType() and memory.plain(bare(type_).GetPointeeType().GetName()).endswith("heed::Node"):
        return memory.Link(value.GetNonSyntheticValue().GetValueAsUnsigned(), 0)
    if memory.plain(bare(type_).GetName()) == "heed::Tensor" or memory.plain(bare(type_).GetName()).endswith("shared_ptr<heed::Node>"):
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


# ---- frames


def selected_frame():
    return process.GetSelectedThread().GetSelectedFrame()


def newest_frame():
    return process.GetSelectedThread().GetFrameAtIndex(0)


def newer(frame):
    i = frame.GetFrameID()
    return frame.GetThread().GetFrameAtIndex(i - 1) if i > 0 else None


def older(frame):
    return frame.GetThread().GetFrameAtIndex(frame.GetFrameID() + 1)


def function_name(frame):
    return memory.without_arguments(memory.plain(frame.GetFunctionName()))


def backward_frame():
    """The innermost frame of the overload of heed::backward that loops over the nodes, or None."""
    for frame in process.GetSelectedThread():
        if function_name(frame) == "heed::backward" and variable(frame, "upstream") is not None:
            return frame
    return None


def find_function(name):
    """The full name of a function such as heed::backward in the program, or None."""
    return next((full_name for full_name in memory.full_names(name)
                 if process.GetTarget().FindFunctions(full_name).GetSize()), None)


def frames():
    return list(process.GetSelectedThread())


def source_location(frame):
    return file_of(frame), frame.GetLineEntry().GetLine()


def file_of(frame):
    spec = frame.GetLineEntry().GetFileSpec()
    return spec.fullpath if spec.IsValid() and spec.fullpath else ""


# ---- tensors in variables

MAX_DEPTH, MAX_ELEMENTS = 6, 1000


def links_in(value, depth=0):
    """Yields the Links to the nodes of the tensors in a value: a Tensor, a vector or a struct."""
    type_ = bare(value.GetType())
    name = type_.GetName() or ""
    if is_tensor(type_):
        try:
            link = link_of(value)
        except DebuggerError:
            return
        if memory.is_node(target_of(value.GetProcess()), link.address):
            yield link
    elif depth < MAX_DEPTH and name.startswith("std::vector<") and "heed::" in name:
        for i in range(min(value.GetNumChildren(), MAX_ELEMENTS)):
            yield from links_in(value.GetChildAtIndex(i), depth + 1)
    elif depth < MAX_DEPTH and type_.GetTypeClass() in (lldb.eTypeClassClass, lldb.eTypeClassStruct) \
            and not name.startswith(("std::", "xt::", "__gnu_cxx::")):
        value = value.GetNonSyntheticValue()
        for i in range(value.GetNumChildren()):
            yield from links_in(value.GetChildAtIndex(i), depth + 1)


def links_in_scope():
    """The Links to the nodes of all tensors in each frame's variables, innermost frame first."""
    result = []
    for frame in list(process.GetSelectedThread())[:100]:
        if not function_name(frame).startswith(("std::", "__libc", "_start")):
            for value in frame.GetVariables(True, True, False, True):
                if value.GetName() == "this" and value.GetType().IsPointerType():
                    value = value.Dereference()
                result.extend(links_in(value))
    return result


# ---- variables. An LLDB variable path cannot call a function.


def variable(frame, name):
    """A variable of a frame, or None when it does not exist."""
    value = frame.FindVariable(name)
    return value if value.IsValid() else None


def at_path(frame, text):
    value = frame.GetValueForVariablePath(text)
    return value if value.IsValid() and value.GetError().Success() else None


def local_value(text):
    """The value of a variable or member of the selected frame, or None."""
    return at_path(selected_frame(), text)


def value_in_stack(text):
    """The value of a variable or member of the selected frame or of a caller, or None."""
    thread = process.GetSelectedThread()
    found = (at_path(thread.GetFrameAtIndex(i), text)
             for i in range(thread.GetSelectedFrame().GetFrameID(), thread.GetNumFrames()))
    return next((value for value in found if value is not None), None)


def is_declared_later(_):
    return False  # LLDB does not find a variable before its declaration


def value_type(value):
    return value.GetType()


def type_name(type_):
    return bare(type_).GetName() or "?"


def note(_):
    pass


def when_exited(_):
    pass
