"""gdb_target.py: what memory.py asks of a debugger, answered by gdb."""

import contextlib
import re

import gdb

from heed_debug import memory
from heed_debug.memory import Trouble

WITHOUT_G = ("heed: this program was built without -g, so its values have no names; build it with "
             "`cmake --preset debug && cmake --build --preset debug`")
NOT_HEED = "heed: this is not a heed program; start gdb with one, such as build/debug/lessons/09_..."
NOT_RUNNING = "heed: the program is not running; type `run`, or `start` to stop at main"


def bare(kind):
    """A type without const, reference and typedef."""
    kind = kind.strip_typedefs()
    while kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        kind = kind.target().strip_typedefs()
    return kind.unqualified()


def member(kind, name):
    """The offset and the type of a member, also of a base class."""
    for field in kind.fields():
        if not hasattr(field, "bitpos"):
            continue  # static
        if field.name == name:
            return field.bitpos // 8, bare(field.type)
        if field.is_base_class:
            found = member(bare(field.type), name)
            if found:
                return field.bitpos // 8 + found[0], found[1]
    return None


class GdbTarget:
    def __init__(self):
        self.forget()

    def forget(self, _=None):
        self.kinds, self.layouts, self.types = {}, {}, {}

    def read(self, address, size):
        try:
            return gdb.selected_inferior().read_memory(address, size).tobytes()
        except gdb.MemoryError:
            raise Trouble("heed: there is no memory at 0x%x" % address)
        except gdb.error as error:
            raise Trouble("heed: " + str(error))

    def type(self, kind):
        if isinstance(kind, gdb.Type):
            return kind
        if kind not in self.types:
            try:
                self.types[kind] = bare(gdb.lookup_type(kind))
            except gdb.error:
                raise Trouble(missing_symbols())
        return self.types[kind]

    def offset(self, kind, path):
        at, kind = 0, self.type(kind)
        for name in path.split("."):
            found = member(kind, name)
            if not found:
                raise Trouble("heed: %s has no member %s; this heed_gdb.py is of another version"
                              % (kind, name))
            at, kind = at + found[0], found[1]
        return at, kind

    def has(self, kind, path):
        try:
            return self.offset(kind, path) is not None
        except Trouble:
            return False

    def sizeof(self, kind):
        return self.type(kind).sizeof

    def element_code(self, pointer_type):
        element = bare(pointer_type.target())
        if element.code == gdb.TYPE_CODE_FLT and element.sizeof in (4, 8):
            return {4: "f", 8: "d"}[element.sizeof]
        if element.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR):
            code = {1: "b", 2: "h", 4: "i", 8: "q"}[element.sizeof]
            return code if element.is_signed else code.upper()
        raise Trouble("heed: numbers of type %s are not known" % element)

    def symbol(self, address):
        said = gdb.execute("info symbol 0x%x" % address, to_string=True)
        return re.split(r" \+ \d+ in section | in section ", said)[0].strip()

    def node_layout(self):
        if "node" not in self.layouts:
            self.layouts["node"] = memory.NodeLayout(self)
        return self.layouts["node"]

    def array_layout(self, kind):
        key = str(kind)
        if key not in self.layouts:
            self.layouts[key] = memory.array_layout(self, kind)
        return self.layouts[key]


def missing_symbols():
    """Which of the two reasons holds for not finding heed's types."""
    if not gdb.current_progspace().filename:
        return "heed: no program is loaded; start gdb with one, such as build/debug/lessons/09_..."
    try:
        return WITHOUT_G if gdb.decode_line("heed::absent")[1] else NOT_HEED
    except gdb.error:
        return NOT_HEED


target = GdbTarget()
for event in (gdb.events.new_objfile, gdb.events.clear_objfiles):
    event.connect(target.forget)


# ---- values


def evaluated(expression):
    """What an expression stands for; one that would call into the program is refused."""
    before = gdb.parameter("may-call-functions")
    gdb.execute("set may-call-functions off", to_string=True)
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as error:
        text = str(error)
        if re.search("may-call-functions|Cannot evaluate function|cannot resolve|Cannot perform",
                     text):
            text = "'%s' would call into the program, which heed's commands never do" % expression
        raise Trouble("heed: " + text)
    finally:
        gdb.execute("set may-call-functions " + ("on" if before else "off"), to_string=True)


def address_of(value):
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    if not value.is_optimized_out and value.address is None:
        raise Trouble("heed: gdb holds a copy of this value; `next`, and print the variable it is in")
    if value.is_optimized_out:
        raise Trouble("heed: the optimiser has taken this value away; go `up`, or build with -Og")
    return int(value.address)


def is_array(kind):
    return kind.code == gdb.TYPE_CODE_STRUCT and re.match(
        r"xt::xarray_container<xt::uvector<.*, \(xt::layout_type\)1, xt::svector<", str(kind)) is not None


def is_tensor(kind):
    return kind.code == gdb.TYPE_CODE_STRUCT and kind.name == "heed::Tensor"


def is_node_type(kind):
    return kind.code == gdb.TYPE_CODE_STRUCT and re.match(
        r"heed::((List)?OpNode<.*>|Node)$", kind.name or "") is not None


def is_handle(kind):
    return kind.code == gdb.TYPE_CODE_STRUCT and re.match(
        r"std::shared_ptr<heed::Node>$", kind.name or "") is not None


def array_of(value):
    kind = bare(value.type)
    return memory.read_array(target, address_of(value), target.array_layout(kind))


def link_at(address):
    return memory.Link(memory.pointer(target, address), memory.pointer(target, address + 8))


def link_of(value):
    """The node that a Tensor, a shared_ptr or a Node stands for; None for other types."""
    kind = bare(value.type)
    if is_tensor(kind) or is_handle(kind):
        return link_at(address_of(value))
    if is_node_type(kind):
        return memory.Link(address_of(value), 0)
    if kind.code == gdb.TYPE_CODE_PTR and is_node_type(bare(kind.target())):
        return memory.Link(int(value), 0)
    return None


# ---- frames


@contextlib.contextmanager
def same_place():
    """Restores the selected thread and frame."""
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
    target.type("heed::Node")  # or says that this is no heed program
    if gdb.selected_thread() is None:
        raise Trouble(NOT_RUNNING)


def frames():
    """Of the selected thread, the innermost first."""
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame
        frame = frame.older()


def variable(frame, name):
    """A variable of a frame, or None where there is none or the optimiser took it."""
    try:
        value = frame.read_var(name)
    except (ValueError, gdb.error):
        return None
    return None if value.is_optimized_out else value


def name_of(frame):
    """The function's name without its arguments."""
    name = frame.name() or ""
    depth = 0
    for i, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0 and not name.startswith("(anonymous namespace)", i):
            return name[:i]
    return name


# ---- tensors in variables

_holds = {}


def holds_tensors(kind):
    """Whether values of this type have tensors inside."""
    kind = bare(kind)
    if is_tensor(kind) or is_handle(kind):
        return True
    if kind.code != gdb.TYPE_CODE_STRUCT or is_array(kind):
        return False
    name = str(kind)
    if name not in _holds:
        _holds[name] = False  # what refers to itself is looked at once
        if name.startswith("std::vector<"):
            _holds[name] = holds_tensors(kind.template_argument(0))
        elif not re.match(r"(std|xt|__gnu_cxx)::", name):
            _holds[name] = any(holds_tensors(f.type) for f in kind.fields() if hasattr(f, "bitpos"))
    return _holds[name]


def links_at(kind, address):
    """The nodes of all tensors inside the value of that type at that address."""
    kind = bare(kind)
    if not holds_tensors(kind):
        return
    if is_tensor(kind) or is_handle(kind):
        link = link_at(address)
        if memory.is_node(target, link.address):
            yield link
    elif str(kind).startswith("std::vector<"):
        element = bare(kind.template_argument(0))
        begin, end = memory.pointer(target, address), memory.pointer(target, address + 8)
        if 0 < begin <= end and (end - begin) <= 100000 * element.sizeof:
            for at in range(begin, end, element.sizeof):
                yield from links_at(element, at)
    else:
        for field in kind.fields():
            if not hasattr(field, "bitpos") or not holds_tensors(field.type):
                continue
            at = address + field.bitpos // 8
            referred = field.type.strip_typedefs().code == gdb.TYPE_CODE_REF
            yield from links_at(field.type, memory.pointer(target, at) if referred else at)


def variables(frame):
    """Arguments and variables of a frame, with those of the blocks around its line."""
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


def links_in_frame(frame):
    for symbol in variables(frame):
        kind = symbol.type.strip_typedefs()
        pointed = symbol.name == "this" and kind.code == gdb.TYPE_CODE_PTR
        if not holds_tensors(kind.target() if pointed else kind):
            continue
        try:
            value = symbol.value(frame)
            address = int(value) if pointed else address_of(value)
            yield from links_at(kind.target() if pointed else kind, address)
        except (Trouble, gdb.error):
            continue  # not initialised yet, or taken by the optimiser


def links_in_scope():
    """The nodes of every tensor in the variables of the program's frames, innermost first."""
    result = []
    for depth, frame in enumerate(frames()):
        if depth > 100:
            break
        result.extend(links_in_frame(frame))
    return result
