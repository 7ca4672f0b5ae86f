"""lldb_target.py: reads the program's memory, types, values, frames and variables through LLDB. target.py
and debugger.py describe the functions."""

import lldb

from heed_debug.target import DebuggerError, Target, full_names, plain, without_arguments

ERRORS = (DebuggerError,)
PROVENANCE = "`settings set target.env-vars HEED_TRACE=provenance`"
WITHOUT_G = ("heed: this is not a heed program, or it or its library heed was built without -g; build "
             "both with `cmake --preset debug && cmake --build --preset debug`")
NOT_RUNNING = "heed: the program is not running; type `run`, or `breakpoint set -n main` first"
CODES = {lldb.eBasicTypeFloat: "f", lldb.eBasicTypeDouble: "d", lldb.eBasicTypeBool: "B",
         lldb.eBasicTypeLong: "q", lldb.eBasicTypeLongLong: "q", lldb.eBasicTypeInt: "i",
         lldb.eBasicTypeUnsignedLong: "Q"}


class LldbTarget(Target):
    """Reads the memory and the types of a process through LLDB."""

    script = "heed_lldb.py"

    def __init__(self, process_):
        super().__init__()
        self.process, self.program, self.vtables = process_, process_.GetTarget(), None
        triple = self.program.GetTriple() or ""
        self.arm_strings = "apple" in triple and triple.startswith(("arm64", "aarch64"))

    def read_memory(self, address, size):
        error = lldb.SBError()
        result = self.process.ReadMemory(address, size, error)
        if error.Fail():  # a core file leaves out the constants, which the program's file has
            place = self.program.ResolveLoadAddress(address)
            known = place.GetSection().IsValid()
            result = self.program.ReadMemory(place, size, lldb.SBError()) if known else None
        return None if result is None else bytes(result)

    def find_type(self, name):
        found = self.program.FindFirstType(name)
        return found if found.IsValid() else None

    def has_function(self, name):
        return self.program.FindFunctions(name).GetSize() > 0

    def without_types(self):
        return WITHOUT_G

    def bare(self, type_):
        type_ = type_.GetDereferencedType() if type_.IsReferenceType() else type_
        return type_.GetCanonicalType().GetUnqualifiedType()

    def is_reference(self, type_):
        return type_.IsReferenceType()

    def pointee(self, type_):
        return self.bare(type_.GetPointeeType()) if type_.IsPointerType() else None

    def fields(self, type_):
        members = [type_.GetFieldAtIndex(i) for i in range(type_.GetNumberOfFields())]
        bases = [type_.GetDirectBaseClassAtIndex(i) for i in range(type_.GetNumberOfDirectBaseClasses())]
        return [(field.GetName(), field.GetOffsetInBytes(), field.GetType(), is_base)
                for is_base, list_ in ((False, members), (True, bases)) for field in list_]

    def template_argument(self, type_):
        return type_.GetTemplateArgumentType(0)

    def name_of(self, type_):
        return type_.GetName() or ""

    def sizeof(self, type_):
        return type_.GetByteSize()

    def element_code(self, type_):
        return CODES.get(type_.GetBasicType())

    def symbol(self, address):
        name = self.program.ResolveLoadAddress(address).GetSymbol().GetName()
        if name:
            return name
        # LLDB 14 finds no symbol for a vtable's address, but the module's symbol list contains it.
        module = self.program.GetModuleAtIndex(0)
        code = module.FindSection(".text")
        slide = code.GetLoadAddress(self.program) - code.GetFileAddress() if code.IsValid() else 0
        if self.vtables is None:
            starts = "vtable for heed::", "vtable for std::_Sp_counted_ptr_inplace<heed::"
            self.vtables = [symbol for symbol in module.symbols if (symbol.GetName() or "").startswith(starts)]
        for symbol in self.vtables:
            start = symbol.GetStartAddress().GetFileAddress() + slide
            if start <= address < start + 48:  # the vtable of a Node has six entries of 8 bytes
                return symbol.GetName()
        return ""


# The process of the running command, and its target.
process = target = None


def select_process(process_):
    """Makes a process that of the following calls."""
    global process, target
    if target is None or process.GetUniqueID() != process_.GetUniqueID():
        target = LldbTarget(process_)
    process = process_


def is_stopped():
    return process.GetState() == lldb.eStateStopped


def check_running():
    if not process.IsValid() or not is_stopped():
        raise DebuggerError(NOT_RUNNING)
    target.type("heed::Node")


def program_path():
    return target.program.GetExecutable().fullpath


def global_address(name):
    for full_name in full_names(name):
        found = target.program.FindFirstGlobalVariable(full_name)
        if found.IsValid():
            return found.GetNonSyntheticValue().GetLoadAddress()
    raise DebuggerError("heed: this program has no " + name)


# ---- values


def type_of(value):
    return target.bare(value.GetType())


def address_of(value):
    value = value.GetNonSyntheticValue()
    if value.GetType().IsReferenceType():
        value = value.Dereference()
    address = value.GetLoadAddress()
    if address == lldb.LLDB_INVALID_ADDRESS:
        raise DebuggerError("heed: the compiler optimised this value away")
    return address


def copied_words(*_):
    return None


def integer(value):
    return value.GetNonSyntheticValue().GetValueAsUnsigned()


def type_name(type_):
    return target.bare(type_).GetName() or "?"


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


def frames():
    return list(process.GetSelectedThread())


def place(frame):
    return frame.GetPC(), frame.GetSP()


def function_name(frame):
    return without_arguments(plain(frame.GetFunctionName()))


def backward_frame():
    return next((frame for frame in frames() if function_name(frame) == "heed::backward"
                 and variable(frame, "upstream") is not None), None)


def source_location(frame):
    entry = frame.GetLineEntry()
    spec = entry.GetFileSpec()
    return spec.fullpath if spec.IsValid() and spec.fullpath else "", entry.GetLine()


source_line = source_location


def select(number, _):
    process.GetSelectedThread().SetSelectedFrame(number)
    return []


# ---- variables. An LLDB variable path cannot call a function.


def variables(frame):
    if function_name(frame).startswith(("std::", "__libc", "_start")):
        return
    for value in frame.GetVariables(True, True, False, True):
        if value.GetName() == "this" and value.GetType().IsPointerType():
            value = value.Dereference()
        yield value.GetType(), lambda: address_of(value)


def variable(frame, name):
    value = frame.FindVariable(name)
    return value if value.IsValid() else None


def at_path(frame, text):
    value = frame.GetValueForVariablePath(text)
    return value if value.IsValid() and value.GetError().Success() else None


def local_value(text):
    return at_path(selected_frame(), text)


def value_in_stack(text):
    callers = frames()[selected_frame().GetFrameID():]
    return next((value for value in (at_path(frame, text) for frame in callers) if value is not None), None)


def is_declared_later(_):
    return False  # LLDB does not find a variable before its declaration


def note(_):
    pass


def when_exited(_):
    pass
