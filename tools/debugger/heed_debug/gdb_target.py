"""gdb_target.py: reads the program's memory, types, frames and variables through gdb."""

import contextlib
import re

import gdb

from heed_debug import graph, memory
from heed_debug.memory import DebuggerError

WITHOUT_G = ("heed: this program was built without -g, so gdb finds no variables; build it with "
             "`cmake --preset debug && cmake --build --preset debug`")
LIBRARY_WITHOUT_G = ("heed: this program has -g, but its library heed was built without, so gdb finds no tensors; "
                     "`./heed debug N` builds lesson N and the library with -g; link a program of your own "
                     "with the library that `cmake --preset debug && cmake --build --preset debug` builds")
NOT_HEED = "heed: this is not a heed program; start gdb with one, such as build/debug/lessons/09_..."
NOT_RUNNING = "heed: the program is not running; type `run`, or `start` to stop at main"


def bare(type_):
    """Removes const, references and typedefs from a type."""
    type_ = type_.strip_typedefs()
    while type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        type_ = type_.target().strip_typedefs()
    return type_.unqualified()


def member(type_, name):
    """Returns (offset in bytes, type) of a member of a type or of its base classes, or None."""
    for field in type_.fields():
        if not hasattr(field, "bitpos"):
            continue  # a static member
        if field.name == name:
            return field.bitpos // 8, bare(field.type)
        if field.is_base_class:
            found = member(bare(field.type), name)
            if found:
                return field.bitpos // 8 + found[0], found[1]
    return None


class GdbTarget(memory.Target):
    """Reads the program's memory through gdb. memory.py describes the methods."""

    script, name_of, member = "heed_gdb.py", staticmethod(str), staticmethod(member)

    def clear(self, _=None):
        super().clear()
        self.types = {}

    def read(self, address, size):
        try:
            return gdb.selected_inferior().read_memory(address, size).tobytes()
        except gdb.MemoryError:
            raise DebuggerError("heed: cannot read memory at 0x%x" % address)
        except gdb.error as error:
            raise DebuggerError("heed: " + str(error))

    def type(self, type_):
        if isinstance(type_, gdb.Type):
            return type_
        if type_ not in self.types:
            self.types[type_] = lookup_type(type_)
        return self.types[type_]

    def sizeof(self, type_):
        return self.type(type_).sizeof

    def element_code(self, pointer_type):
        element = bare(pointer_type.target())
        if element.code == gdb.TYPE_CODE_FLT and element.sizeof in (4, 8):
            return {4: "f", 8: "d"}[element.sizeof]
        if element.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR):
            code = {1: "b", 2: "h", 4: "i", 8: "q"}[element.sizeof]
            return code if element.is_signed else code.upper()
        raise DebuggerError("heed: arrays of type %s are not supported" % element)

    def symbol(self, address):
        output = gdb.execute("info symbol 0x%x" % address, to_string=True)
        return re.split(r" \+ \d+ in section | in section ", output)[0].strip()


def lookup_type(name):
    for full_name in memory.full_names(name):
        try:
            return bare(gdb.lookup_type(full_name))
        except gdb.error:
            continue
    raise DebuggerError(missing_symbols())


def find_function(name):
    """The full name of a function such as heed::backward in the program, or None."""
    for full_name in memory.full_names(name):
        try:
            if gdb.decode_line(full_name)[1]:
                return full_name
        except gdb.error:
            continue
    return None


def missing_symbols():
    """The error message for a program in which gdb finds no heed types."""
    if not gdb.current_progspace().filename:
        return "heed: no program is loaded; start gdb with one, such as build/debug/lessons/09_..."
    return without_g() if find_function("heed::topological_order") else NOT_HEED


def without_g():
    """The error message for a program in which heed's functions have no debug information."""
    return WITHOUT_G if gdb.lookup_global_symbol("main") is None else LIBRARY_WITHOUT_G


target = GdbTarget()
for event in (gdb.events.new_objfile, gdb.events.clear_objfiles):
    event.connect(target.clear)


# ---- values


def reason(error):
    """The first line of an error of gdb that could not call a function of the program."""
    if "extended state" in str(error):
        return "gdb %s cannot call functions on this processor (AMX); gdb 14 can" % gdb.VERSION
    return str(error).split("\n")[0]


def evaluate(expression):
    """The value of an expression. Raises DebuggerError if it would call a function of the program."""
    before = gdb.parameter("may-call-functions")
    gdb.execute("set may-call-functions off", to_string=True)
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as error:
        text = str(error)
        if re.search("may-call-functions|Cannot evaluate function|cannot resolve|Cannot perform",
                     text):
            text = "'%s' would call a function; heed's commands only read memory" % expression
        raise DebuggerError("heed: " + text)
    finally:
        gdb.execute("set may-call-functions " + ("on" if before else "off"), to_string=True)


def address_of(value):
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    if not value.is_optimized_out and value.address is None:
        raise DebuggerError("heed: this value has no address: it is a copy, or the compiler optimised its variable "
                            "away; print the variable itself, or build with -Og")
    if value.is_optimized_out:
        raise DebuggerError("heed: the compiler optimised this value away; go `up`, or build with -Og")
    return int(value.address)


def is_array(type_):
    return type_.code == gdb.TYPE_CODE_STRUCT and re.match(
        r"xt::xarray_container<xt::uvector<.*, \(xt::layout_type\)1, xt::svector<", str(type_)) is not None


def is_tensor(type_):
    return type_.code == gdb.TYPE_CODE_STRUCT and memory.plain(type_.name) == "heed::Tensor"


def is_node_type(type_):
    return type_.code == gdb.TYPE_CODE_STRUCT and re.match(
        r"heed::(OpNode<.*>|Node)$", memory.plain(type_.name)) is not None


def is_node_pointer(type_):
    """Whether the type is shared_ptr<Node>, or a shared_ptr to the node of an operation."""
    return type_.code == gdb.TYPE_CODE_STRUCT and re.match(
        r"std::shared_ptr<heed::(Node|OpNode<.*>) ?>$", memory.plain(type_.name)) is not None


def link_type(type_):
    """Whether a value of this type is or refers to a node."""
    return is_tensor(type_) or is_node_type(type_) or is_node_pointer(type_)


def is_copy(value):
    """Whether a value has no address: a function returned it, or the compiler made it a constant."""
    is_reference = value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
    return not is_reference and value.address is None and not value.is_optimized_out


def array_of(value):
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    if is_copy(value):
        return array_of_copy(value)
    return memory.read_array(target, address_of(value), target.array_layout(bare(value.type)))


def array_of_copy(value):
    """The array of a value without an address, such as the one that a function returned. gdb holds a
    copy of the array object, whose pointers are valid: they refer to the elements in memory."""
    begin, end = int(value["m_storage"]["p_begin"]), int(value["m_storage"]["p_end"])
    shape = memory.read_shape(target, int(value["m_shape"]["m_begin"]), int(value["m_shape"]["m_end"]))
    code = target.array_layout(bare(value.type)).code
    return memory.checked_array(memory.Array(target, shape, code, begin), end)


def link_at(address):
    return memory.Link(memory.pointer(target, address), memory.pointer(target, address + 8))


def link_of_copy(value):
    """The Link of a tensor, or a shared_ptr, without an address. Its pointers are valid."""
    pointer = value["node_"] if is_tensor(bare(value.type)) else value
    try:
        return memory.Link(int(pointer["_M_ptr"]), int(pointer["_M_refcount"]["_M_pi"]))
    except gdb.error:
        return link_at(address_of(value))  # raises DebuggerError


def link_of(value):
    """The Link to a value's node (Tensor, shared_ptr<Node>, Node or Node*); None for other types."""
    type_ = bare(value.type)
    if is_tensor(type_) or is_node_pointer(type_):
        return link_of_copy(value) if is_copy(value) else link_at(address_of(value))
    if is_node_type(type_):
        return memory.Link(address_of(value), 0)
    if type_.code == gdb.TYPE_CODE_PTR and is_node_type(bare(type_.target())):
        return memory.Link(int(value), 0)
    return None


# ---- frames


@contextlib.contextmanager
def selection_restored():
    """Restores the selected thread and frame at the end of a `with` block."""
    thread = gdb.selected_thread()
    frame = gdb.selected_frame() if thread else None
    try:
        yield
    finally:
        if thread and thread.is_valid():
            thread.switch()
            if frame.is_valid():
                frame.select()


def check_running():
    target.type("heed::Node")  # raises DebuggerError when this is not a heed program
    if gdb.selected_thread() is None:
        raise DebuggerError(NOT_RUNNING)


def frames():
    """The frames of the selected thread, innermost first."""
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame
        frame = frame.older()


def variable(frame, name):
    """A variable of a frame, or None when it does not exist or was optimised away."""
    try:
        value = frame.read_var(name)
    except (ValueError, gdb.error):
        return None
    return None if value.is_optimized_out else value


def function_name(frame):
    return memory.without_arguments(memory.plain(frame.name()))


def newer(frame):
    return frame.newer()


def older(frame):
    return frame.older()


def backward_frame():
    """Returns the innermost frame of heed::backward. Searches the selected thread first."""
    threads = gdb.selected_inferior().threads()
    selected = gdb.selected_thread()
    with selection_restored():
        for thread in [selected] + [t for t in threads if t.num != selected.num]:
            thread.switch()
            for frame in frames():
                if function_name(frame) == "heed::backward":
                    if frame.function() is None or frame.function().symtab is None:
                        raise DebuggerError(without_g())
                    if variable(frame, "upstream") is not None or has_nodes(frame):
                        return frame
    return None


def has_nodes(frame):
    """Whether the frame is the overload of heed::backward that loops over its variable `nodes`."""
    try:
        frame.read_var("nodes")
        return True
    except (ValueError, gdb.error):
        return False


def source_location(frame):
    """The source file and the line of a frame. At -O2 the current instruction may belong to an inlined
    function of a library without a frame of its own: then the file and the first line of the function."""
    sal, function = frame.find_sal(), frame.function()
    path = sal.symtab.fullname() if sal.symtab else ""
    if function is not None and function.symtab and re.fullmatch(graph.LIBRARY, path):
        return function.symtab.fullname(), function.line
    return path, sal.line


# ---- tensors in variables

_holds = {}


def holds(type_, is_wanted):
    """Whether values of type `type_` contain a value of a type for which `is_wanted` is true."""
    type_ = bare(type_)
    if is_wanted(type_):
        return True
    if type_.code != gdb.TYPE_CODE_STRUCT or is_array(type_):
        return False
    key = is_wanted, str(type_)
    if key not in _holds:
        _holds[key] = False  # ends the recursion for a type that refers to itself
        if re.match(r"std::(vector|array|optional)<", key[1]):
            _holds[key] = holds(type_.template_argument(0), is_wanted)
        elif not re.match(r"(std|xt|__gnu_cxx)::", key[1]):
            _holds[key] = any(holds(f.type, is_wanted) for f in type_.fields() if hasattr(f, "bitpos"))
    return _holds[key]


def is_tensor_or_pointer(type_):
    return is_tensor(type_) or is_node_pointer(type_)


def is_tensor_or_array(type_):
    return link_type(type_) or is_array(type_)


def holds_tensors(type_):
    return holds(type_, is_tensor_or_pointer)


def links_at(type_, address):
    """Yields the shared_ptr<Node> (a Link) of each tensor in the value of `type_` at `address`."""
    type_ = bare(type_)
    if not holds_tensors(type_):
        return
    if is_tensor(type_) or is_node_pointer(type_):
        link = link_at(address)
        if memory.is_node(target, link.address):
            yield link
    elif str(type_).startswith("std::vector<"):
        element = bare(type_.template_argument(0))
        begin, end = memory.pointer(target, address), memory.pointer(target, address + 8)
        if 0 < begin <= end and (end - begin) <= 100000 * element.sizeof:
            for element_address in range(begin, end, element.sizeof):
                yield from links_at(element, element_address)
    else:
        for field in type_.fields():
            if not hasattr(field, "bitpos") or not holds_tensors(field.type):
                continue
            field_address = address + field.bitpos // 8
            if field.type.strip_typedefs().code == gdb.TYPE_CODE_REF:
                field_address = memory.pointer(target, field_address)
            yield from links_at(field.type, field_address)


def variables(frame):
    """The arguments and variables visible at the frame's line."""
    try:
        block = frame.block()
    except RuntimeError:
        return
    while block is not None and not (block.is_global or block.is_static):
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                yield symbol
        if block.function is not None:
            return
        block = block.superblock


def is_declared_later(name):
    """Whether the selected frame has not yet run the declaration of the local variable `name`."""
    frame = gdb.selected_frame()
    lines = [symbol.line for symbol in variables(frame)
             if symbol.name == name and not symbol.is_argument]
    return bool(lines) and min(lines) >= frame.find_sal().line


def links_in_frame(frame):
    for symbol in variables(frame):
        type_ = symbol.type.strip_typedefs()
        is_this = symbol.name == "this" and type_.code == gdb.TYPE_CODE_PTR
        if not holds_tensors(type_.target() if is_this else type_):
            continue
        try:
            value = symbol.value(frame)
            address = int(value) if is_this else address_of(value)
            yield from links_at(type_.target() if is_this else type_, address)
        except (DebuggerError, gdb.error):
            continue  # the variable is not initialised yet, or optimised away


def links_in_scope():
    """The Links to the nodes of all tensors in each frame's variables, innermost frame first."""
    result = []
    for depth, frame in enumerate(frames()):
        if depth > 100:
            break
        result.extend(links_in_frame(frame))
    return result


# ---- expressions

# What gdb says of a name that is no variable. A name such as `token` may be a function of libc.
UNKNOWN = r"heed: (No symbol \"%s|Attempt to extract a component|'[^']*' has unknown (return )?type)"


def value_in_stack(text):
    """The value of an expression in the selected frame or in the nearest caller that has it; None if
    it begins with no variable."""
    try:
        return evaluate_in_stack(text)
    except DebuggerError as error:
        if not re.match(UNKNOWN % re.match(r"\w*", text).group(), str(error)):
            raise
        return None


def evaluate_in_stack(text):
    """The value of an expression in the selected frame, else in the nearest caller that has it."""
    try:
        return evaluate(text)
    except DebuggerError as error:
        if "No symbol" not in str(error):
            raise
        first_error = error
    with selection_restored():
        frame = gdb.selected_frame().older()
        while frame is not None:
            frame.select()
            try:
                return evaluate(text)
            except DebuggerError as error:
                # A caller may have the variable, and yet not the value of the expression.
                if re.match(UNKNOWN % ".*", str(first_error)):
                    first_error = error
                frame = frame.older()
    raise first_error


def local_value(text):
    """The value of an expression that begins with a variable of the selected frame, or None."""
    first = re.match(r"\w*", text).group()
    if first not in [symbol.name for symbol in variables(gdb.selected_frame())]:
        return None
    try:
        return evaluate(text)
    except DebuggerError as error:
        if re.match(UNKNOWN % ".*", str(error)):
            return None  # `norm.weight` may be a tensor's name although `norm` is a number here
        raise


def value_type(value):
    return bare(value.type)


def is_stopped():
    return gdb.selected_thread() is not None


newest_frame = gdb.newest_frame
type_name = str
note = print
when_exited = gdb.events.exited.connect
