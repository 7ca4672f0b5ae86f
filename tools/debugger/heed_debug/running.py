"""running.py: runs the program on to a node's turn, or to the first number that is not finite."""

import math
import platform
import re

import gdb

from heed_debug import graph, memory, numbers, passes
from heed_debug import gdb_target as here
from heed_debug.memory import Trouble

SEND_GRADIENT = 2  # its place in a node's virtual table, after the two destructors


class Ours(gdb.Breakpoint):
    """A breakpoint that nobody sees; `wanted` decides, and no trouble in it reaches the user."""

    def __init__(self, place, wanted=lambda: True, function=False):
        if function:
            super().__init__(function=place, internal=True, qualified=True)
        else:
            super().__init__(place, internal=True)
        self.silent = True
        self.wanted, self.hit, self.trouble = wanted, False, None

    def stop(self):
        try:
            self.hit = self.wanted()
        except Exception as trouble:  # told when the program stops
            self.hit, self.trouble = False, trouble
        return self.hit


def run_to(*stops):
    """Continues until one of our breakpoints stops. False when something else did, which is told."""
    try:
        said = gdb.execute("continue", to_string=True)
    except gdb.error as error:
        text = str(error)
        if "not being run" in text or "target does not support" in text.lower():
            raise Trouble("heed: this program cannot run on (a core file?); graph, grad, show, why, "
                          "back and save work here")
        raise Trouble("heed: " + text)
    finally:
        hit = any(stop.hit for stop in stops)
        troubles = [stop.trouble for stop in stops if stop.trouble]
        for stop in stops:
            stop.delete()
    if hit:
        return True
    if troubles:
        raise Trouble("heed: what went by could not be read: %s" % troubles[0])
    if gdb.selected_thread() is None:
        return False
    print(said.strip())
    return False


def first_argument():
    """What `this` is at the first instruction of a method."""
    frame = gdb.newest_frame()
    register = "x0" if frame.architecture().name().startswith("aarch64") else "rdi"
    return int(frame.read_register(register)) & (2 ** 64 - 1)


def operation_of(node):
    """heed::Softmax, of a node of type heed::OpNode<heed::Softmax, 1ul>"""
    kind = memory.kind_of(here.target, node.address)
    found = re.match(r"heed::(?:List)?OpNode<(.*?)(?:, \d+ul)?>$", kind)
    return found.group(1) if found else None


def backward_started():
    """Whether this is the loop's own heed::backward, not the one that fills in ones."""
    return here.variable(gdb.newest_frame(), "upstream") is not None


def run_to_pass():
    """Runs to the beginning of the next backward pass."""
    if not knows("heed::backward"):
        raise Trouble(here.WITHOUT_G)
    if not run_to(Ours("heed::backward", backward_started, function=True)):
        return None
    return passes.running_pass()


def knows(function):
    try:
        return bool(gdb.decode_line(function)[1])
    except gdb.error:
        return False


def chooser(wanted):
    """Which nodes `heed step WANTED` runs to: a predicate, and how many of them to pass by."""
    if re.fullmatch(r"\d+", wanted) and int(wanted) > 0:
        return (lambda graph_, node: True), int(wanted)
    if re.fullmatch(r"#\d+", wanted):
        return (lambda graph_, node: graph_.numbers.get(node.address) == int(wanted[1:])), 1
    return (lambda graph_, node: wanted in (node.op, node.name)), 1


def check_known(wanted, current):
    """A word that no node has is refused before the program runs away."""
    nodes = current.nodes if current else []
    if any(wanted in (node.op, node.name) for node in nodes):
        leaf = [n for n in nodes if n.name == wanted and n.depth == 0]
        if leaf:
            raise Trouble("heed: '%s' is a leaf, which only receives; `heed why %s` says from where"
                          % (wanted, wanted))
        return
    if re.fullmatch(r"\w+", wanted) and knows("heed::%s::backward" % wanted):
        return
    if current:
        raise Trouble("heed: no operation and no tensor of this pass is called '%s'; `heed graph` "
                      "lists them" % wanted)


def next_turn(wanted, after_start=False):
    """(graph, node) to run to: in the pass that is running, or in a later one, to which it runs."""
    fits, count = chooser(wanted)
    found = passes.running_pass()
    if re.fullmatch(r"[^#\d].*", wanted):
        check_known(wanted, found[0] if found else None)
    while True:
        if found is not None:
            current, to_come = found
            for node in reversed(to_come):
                if node.depth > 0 and fits(current, node):
                    count -= 1
                    if count == 0:
                        return current, node
            if wanted.startswith("#"):
                raise Trouble("heed: %s is not still to come in this pass; `heed graph` shows "
                              "what is" % wanted)
        found = run_to_pass()
        if found is None:
            return None


def ended(wanted):
    if gdb.selected_thread() is not None:
        return  # stopped for another reason, which was told
    raise Trouble("heed: the program ended first%s; `run` starts it again" % (
        "" if re.fullmatch(r"\d*", wanted) else ", and no '%s' came" % wanted))


def step(wanted):
    """Runs to a node's turn and stops on the first line of its backward."""
    here.check_running()
    if re.fullmatch(r"0+|-\d+", wanted):
        raise Trouble("heed: step takes a number from 1 on, an operation, a name, or #3")
    found = next_turn(wanted or "1")
    if found is None:
        return ended(wanted)
    _, node = found
    method = memory.pointer(here.target, node.vtable + 8 * SEND_GRADIENT)
    if not run_to(Ours("*0x%x" % method, lambda: first_argument() == node.address)):
        return ended(wanted)
    operation = operation_of(node)
    if operation and knows(operation + "::backward"):
        mine = gdb.selected_thread().num
        place = Ours(operation + "::backward", function=True)
        place.thread = mine
        if not run_to(place):
            return ended(wanted)
        enter_inlined(operation + "::backward")
    show_turn(node)


def enter_inlined(function):
    """Where the call was inlined, gdb shows the caller first; a step that runs nothing goes in."""
    frame = gdb.newest_frame()
    block = gdb.block_for_pc(frame.pc())
    while block is not None and not block.is_global:
        if block.function is not None and block.function.name.split("(")[0] == function:
            if here.name_of(frame) != function:
                gdb.execute("step", to_string=True)
            return
        block = block.superblock


def show_turn(node):
    current, _ = passes.need_pass()
    node = node.fresh() or node
    print("%s, made at %s" % (current.title(node), node.where))
    print("the gradient that arrives = " + numbers.array_text(node.grad))
    place = gdb.newest_frame()
    place.select()
    line = gdb.execute("frame", to_string=True).strip().split("\n")
    sal = place.find_sal()
    source = line[-1].strip() if len(line) > 1 else ""
    if sal.symtab:
        print("%s, %s:%d" % (here.name_of(place), short_path(sal.symtab.filename), sal.line))
    if source:
        print(source)


def short_path(path):
    """From the project's folder on, as the program itself names its files."""
    found = re.search(r"(?:^|/)((?:src|include/heed|lessons|tests)/.*)$", path)
    return found.group(1) if found else path


# ---- heed nan


def not_finite(array):
    values = array.numbers()
    return numbers.count_not_finite(values) if numbers.is_real(array) else (0, 0, 0)


def made_badly(op, value, inputs):
    """What a forward made that was not there before. Minus infinity is what a mask is made of: it
    counts only where no input had it."""
    nan, above, below = not_finite(value)
    if nan or above:
        return nan, above, below
    if not below or op == "MaskedFill":
        return None
    return None if any(not_finite(node.value)[2] for node in inputs) else (nan, above, below)


def view_text(view):
    """A std::string_view, which may lie in registers."""
    parts = {part.type.strip_typedefs().code: view[part.name] for part in view.type.strip_typedefs().fields()
             if hasattr(part, "bitpos")}
    return memory.text(here.target, int(parts[gdb.TYPE_CODE_PTR]), int(parts[gdb.TYPE_CODE_INT]))


class FirstBad:
    """Watches every value that is linked and every part of a gradient that is sent."""

    def __init__(self):
        self.report = None

    def value_made(self):
        frame = gdb.newest_frame()
        value = here.array_of(frame.read_var("value"))
        op = view_text(frame.read_var("op"))
        links_at = here.address_of(frame.read_var("inputs"))
        links = memory.read_links(here.target, memory.pointer(here.target, links_at),
                                  memory.pointer(here.target, links_at + 8))
        inputs = [memory.Node(here.target, link) for link in links if link.address]
        for node in inputs:
            if node.depth == 0 and not_finite(node.value)[0]:
                self.report = ["heed: NaN came in with %s, made at %s: %s" % (
                    graph.title(node), node.where, numbers.not_finite_text(not_finite(node.value)))]
                return True
        bad = made_badly(op, value, inputs)
        if bad is None:
            return False
        where = frame.read_var("where")
        self.report = ["forward: %s %s, made at %s:%d, has %s" % (
            op, numbers.shape_text(value.shape), memory.c_text(here.target, int(where["file"])),
            int(where["line"]), numbers.not_finite_text(bad))]
        self.report += self.inputs_told(inputs)
        return True

    def inputs_told(self, inputs, role="  from "):
        lines = []
        for node in inputs:
            lines.append("%s%s, made at %s: %s" % (role, graph.title(node), node.where,
                                                   numbers.summary(node.value)))
        return lines

    def part_sent(self):
        frame = gdb.newest_frame()
        sender = memory.Node(here.target, memory.Link(int(frame.read_var("from").address or
                             frame.read_var("from").referenced_value().address), 0))
        i = int(frame.read_var("i"))
        if i >= len(sender.inputs) or not sender.inputs[i].address:
            return False
        receiver = memory.Node(here.target, sender.inputs[i])
        bad = not_finite(here.array_of(frame.read_var("part"))) if receiver.requires_grad else (0, 0, 0)
        if not any(bad):
            return False
        self.report = ["backward: %s, made at %s, sends its input %d a gradient with %s" % (
            graph.title(sender), sender.where, i, numbers.not_finite_text(bad)),
            "  arrived: " + numbers.summary(sender.grad)]
        self.report += self.inputs_told([memory.Node(here.target, link) for link in sender.inputs
                                         if link.address])
        return True


def run_to_nan():
    here.check_running()
    if not knows("heed::finish") or not knows("heed::accumulate"):
        raise Trouble(here.WITHOUT_G)
    watch = FirstBad()
    if not run_to(Ours("heed::finish", watch.value_made, function=True),
                  Ours("heed::accumulate", watch.part_sent, function=True)):
        if gdb.selected_thread() is None:
            print("the program ended; every value and every gradient was finite from here on "
                  "(masks may be minus infinity)")
        return
    print("\n".join(watch.report))
