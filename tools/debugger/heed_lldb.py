"""heed_lldb.py: LLDB commands of heed, and one-line summaries of its arrays and tensors.

In LLDB: command script import tools/debugger/heed_lldb.py (`./heed debug --lldb 9` does so)."""

import os
import sys

import lldb

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

from heed_debug import (checking, commands, entering, graph, lldb_target, nonfinite, numbers, outputs,  # noqa: E402
                        reports, rerunning, running, values, watching)
from heed_debug.target import DebuggerError  # noqa: E402

# ---- summaries and children

MAX_SUMMARIZED = 100000  # LLDB prints the arguments of every frame, so larger arrays have only a shape


def summary_of(text):
    """A function for `type summary add` that returns a value's text, or the error message."""
    def summary(value, _):
        lldb_target.select_process(value.GetProcess())
        try:
            return text(value)
        except Exception as error:  # LLDB would print a traceback
            return "<%s>" % str(error).replace("heed: ", "", 1)
    return summary


@summary_of
def array_summary(value):
    array = values.array_of(value)
    return numbers.brief_text(array) if array.size <= MAX_SUMMARIZED else numbers.size_text(array)


@summary_of
def tensor_summary(value):
    node = values.node_of(value)
    return "undefined tensor" if node is None else graph.brief_text(node)


expression_summary = summary_of(values.expression_text)


class NoChildren:
    """Hides the members of an array or an expression, which are xtensor's own; `heed show` prints an
    array's numbers."""

    def __init__(self, value, _):
        self.value, self.children = value, []

    def num_children(self):
        return len(self.children)

    def has_children(self):
        return False

    def get_child_at_index(self, i):
        return self.children[i] if 0 <= i < len(self.children) else None

    def update(self):
        return False


class TensorChildren(NoChildren):
    """Shows the members value and grad of a tensor's node."""

    def update(self):
        lldb_target.select_process(self.value.GetProcess())
        self.children = []
        try:
            node = values.node_of(self.value)
            names = ["value"] + ["grad"] * node.has_grad if node else []
            self.children = [self.member(node.address, name) for name in names]
        except Exception:  # the summary says why the tensor cannot be read
            pass
        return False

    def member(self, address, name):
        offset, type_ = lldb_target.target.offset("heed::Node", name)
        return self.value.CreateValueFromAddress(name, address + offset, type_)

    def has_children(self):
        return True

    def get_child_index(self, name):
        return {"value": 0, "grad": 1}.get(name, -1)


# ---- commands


def only_in_gdb(_):
    raise DebuggerError("heed: gdb has this command, LLDB does not: `heed debug` without --lldb starts gdb")


for name_ in ("mark", "again", "weights"):
    commands.command(name_)(only_in_gdb)


def run_command(debugger, name, argument):
    """The lines that a command prints, and below them what ended it early."""
    if name not in commands.COMMANDS:
        raise DebuggerError(commands.no_command(name))
    function, lines = commands.find(name, argument), []
    lldb_target.select_process(debugger.GetSelectedTarget().GetProcess())
    if commands.COMMANDS[name].kind != "starting" or not lldb_target.process.IsValid():
        lldb_target.check_running()
    try:
        for line in function(argument):
            lines.append(line)
    except DebuggerError as error:
        if not lines:
            raise
        lines.append(str(error))
    return lines


def heed(debugger, command, result, _):
    """Show arrays, computation graphs and gradients of a heed program. `heed` lists the commands."""
    name, argument = (command.split(None, 1) + ["", ""])[:2]
    try:
        lines = run_command(debugger, name, argument.strip()) if name else commands.help_lines()
        result.AppendMessage("\n".join(lines))
    except Exception as error:  # LLDB would print a traceback
        result.SetError(commands.error_text(name, error))


ARRAYS = ("^xt::xarray_container<xt::uvector<", "^heed::(float64::)?(Array|Indices|Mask)$")


def __lldb_init_module(debugger, _):
    overwrite = "-o " if lldb_has_overwrite() else ""
    lines = ["command script add %s-f %s.heed heed" % (overwrite, __name__)]
    for pattern, kind in [(pattern, "array") for pattern in ARRAYS] + [
            ("^" + values.EXPRESSION, "expression"), ("^heed::(float64::)?(Tensor|In|nn::Weight)$", "tensor")]:
        children = "TensorChildren" if kind == "tensor" else "NoChildren"
        lines += ['type summary add -v -w heed -x "%s" -F %s.%s_summary' % (pattern, __name__, kind),
                  'type synthetic add -w heed -x "%s" -l %s.%s' % (pattern, __name__, children)]
    avoid = "settings set target.process.thread.step-avoid-regexp '%s'" % entering.LIBRARIES
    for line in lines + [avoid, "type category enable heed"]:
        debugger.HandleCommand(line)


def lldb_has_overwrite():
    version = lldb.SBDebugger.GetVersionString()
    digits = "".join(c if c.isdigit() else " " for c in version).split()
    return bool(digits) and int(digits[0]) >= 15
