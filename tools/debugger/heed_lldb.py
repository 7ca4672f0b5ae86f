"""heed_lldb.py: LLDB commands of heed, and one-line summaries of its arrays and tensors.

In LLDB: command script import tools/debugger/heed_lldb.py (`./heed debug --lldb 9` does so)."""

import os
import sys

import lldb

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

from heed_debug import (checking, graph, lldb_breakpoints, lldb_target, memory, nonfinite,  # noqa: E402
                        numbers, outputs, reports, running)
from heed_debug.memory import DebuggerError  # noqa: E402

# ---- summaries and children

MAX_SUMMARIZED = 100000  # LLDB prints the arguments of every frame, so larger arrays have only a shape


def brief(array):
    return numbers.brief_text(array) if array.size <= MAX_SUMMARIZED else numbers.size_text(array)


def error_text(error):
    return "<%s>" % str(error).replace("heed: ", "", 1)


def array_summary(value, _):
    try:
        return brief(lldb_target.array_of(value))
    except Exception as error:  # LLDB would print a traceback
        return error_text(error)


def tensor_summary(value, _):
    try:
        link = lldb_target.link_of(value)
        return "undefined tensor" if link.address == 0 else graph.brief_text(lldb_target.node_of(value))
    except Exception as error:
        return error_text(error)


def expression_summary(value, _):
    try:
        return numbers.expression_text(memory.expression_shape(
            lldb_target.target_of(value.GetProcess()), lldb_target.bare(value.GetType()), lldb_target.address_of, value))
    except Exception as error:
        return error_text(error)


class NoChildren:
    """Hides the members of an array or an expression, which are xtensor's own; `heed show` prints an
    array's numbers."""

    def __init__(self, value, _):
        pass

    def num_children(self):
        return 0

    def has_children(self):
        return False

    def get_child_at_index(self, _):
        return None

    def update(self):
        return False


class TensorChildren:
    """Shows the members value and grad of a tensor's node."""

    def __init__(self, value, _):
        self.value, self.children = value, []

    def update(self):
        self.children = []
        try:
            link, target = lldb_target.link_of(self.value), lldb_target.target_of(self.value.GetProcess())
            if memory.is_node(target, link.address):
                names = ["value", "grad"] if memory.Node(target, link).has_grad else ["value"]
                self.children = [self.member(target, link.address, name) for name in names]
        except Exception:  # the summary says why the tensor cannot be read
            pass
        return False

    def member(self, target, address, name):
        offset, type_ = target.offset("heed::Node", name)
        return self.value.CreateValueFromAddress(name, address + offset, type_)

    def num_children(self):
        return len(self.children)

    def has_children(self):
        return True

    def get_child_at_index(self, i):
        return self.children[i] if 0 <= i < len(self.children) else None

    def get_child_index(self, name):
        return {"value": 0, "grad": 1}.get(name, -1)


# ---- commands


def run_to_nan(_):
    lines = nonfinite.run_to_nonfinite()
    for number, _ in reports.user_frames()[:1] if lldb_target.is_stopped() else []:
        lldb_target.process.GetSelectedThread().SetSelectedFrame(number)
    return "\n".join(lines)


def watch(text):
    """The table, and below it what ended it early."""
    lines = []
    try:
        lines.extend(running.watch(text))
    except DebuggerError as error:
        if not lines:
            raise
        lines.append(str(error))
    return "\n".join(lines)


def only_in_gdb(_):
    raise DebuggerError("heed: gdb has this command, LLDB does not: `heed debug` without --lldb starts gdb")


COMMANDS = {"graph": reports.show_graph, "step": lambda text: "\n".join(running.step(text)),
            "check": checking.check, "grad": reports.show_grad, "show": reports.show,
            "why": lambda text: reports.why(text, "`settings set target.env-vars HEED_TRACE=provenance`"),
            "save": reports.save, "watch": watch, "mark": only_in_gdb, "again": only_in_gdb,
            "weights": only_in_gdb, "out": lambda _: "\n".join(outputs.out()), "nan": run_to_nan,
            "back": lambda _: reports.back(), "in": lambda _: lldb_breakpoints.step_in()}


def run_command(debugger, words):
    name, text = words[0], words[1].strip() if len(words) > 1 else ""
    if name not in COMMANDS:
        raise DebuggerError("heed: there is no command `heed %s`; `heed` lists the commands" % name)
    if text and name in reports.WITHOUT_ARGUMENT and COMMANDS[name] is not only_in_gdb:
        raise DebuggerError("heed: `heed %s` takes no argument" % name)
    lldb_target.select(debugger)
    return COMMANDS[name](text)


def heed(debugger, command, result, _):
    """Show arrays, computation graphs and gradients of a heed program. `heed` lists the commands."""
    words = command.split(None, 1)
    if not words:
        result.AppendMessage(reports.HELP)
        return
    try:
        result.AppendMessage(run_command(debugger, words))
    except DebuggerError as error:
        text = str(error)
        result.SetError(text if text.startswith("heed: ") else "heed: " + text)
    except Exception as error:  # LLDB would print a traceback
        result.SetError("heed: `heed %s` failed: %s: %s" % (
            words[0], type(error).__name__, str(error).split("\n")[0]))


ARRAYS = ("^xt::xarray_container<xt::uvector<", "^heed::(float64::)?(Array|Indices|Mask)$")


def __lldb_init_module(debugger, _):
    overwrite = "-o " if lldb_has_overwrite() else ""
    commands = ["command script add %s-f %s.heed heed" % (overwrite, __name__)]
    for pattern, kind in [(pattern, "array") for pattern in ARRAYS] + [
            ("^" + memory.EXPRESSION, "expression"), ("^heed::(float64::)?Tensor$", "tensor")]:
        children = "TensorChildren" if kind == "tensor" else "NoChildren"
        commands += ['type summary add -v -w heed -x "%s" -F %s.%s_summary' % (pattern, __name__, kind),
                     'type synthetic add -w heed -x "%s" -l %s.%s' % (pattern, __name__, children)]
    avoid = "settings set target.process.thread.step-avoid-regexp '%s'" % lldb_breakpoints.LIBRARIES
    for line in commands + [avoid, "type category enable heed"]:
        debugger.HandleCommand(line)


def lldb_has_overwrite():
    version = lldb.SBDebugger.GetVersionString()
    digits = "".join(c if c.isdigit() else " " for c in version).split()
    return bool(digits) and int(digits[0]) >= 15
