"""heed_lldb.py: LLDB commands of heed, and one-line summaries of its arrays and tensors.

In LLDB: command script import tools/debugger/heed_lldb.py (`./heed debug --lldb 9` does so)."""

import os
import sys

import lldb

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

from heed_debug import files, graph, lldb_passes, lldb_running, lldb_target, memory, numbers, svg  # noqa: E402
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


def show_graph(process, text):
    words = text.split()
    draws, file = "--svg" in words, ""
    if draws:
        words, file = words[: words.index("--svg")], " ".join(words[words.index("--svg") + 1:])
    everything = words[-1:] == ["all"]
    text = " ".join(words[:-1] if everything else words)
    if text:
        _, node = lldb_passes.find_tensor(process, text)
        if not node.requires_grad:
            raise DebuggerError("heed: %s does not require a gradient, so it has no graph"
                                % graph.title(node))
        current = lldb_passes.graph_of(process, node.link)
    else:
        current = lldb_passes.require_pass(process)[0]
    return "\n".join(svg.draw(current, file) if draws else graph.graph_lines(current, everything))


def show_grad(process, text):
    return graph.gradient_report(*lldb_passes.find_tensor(process, text))


def show(process, text):
    title, array = lldb_passes.find_array(process, text)
    return title + " = " + numbers.array_text(array) + "\n" + numbers.summary(array)


def why(process, text):
    current, node = lldb_passes.find_tensor(process, text)
    if not node.contributions:
        raise DebuggerError("heed: " + graph.no_contributions(
            current, node, "`settings set target.env-vars HEED_TRACE=provenance`"))
    return "\n".join(graph.contribution_lines(current, node))


def check(process, text):
    current, node = lldb_passes.find_tensor(process, text) if text else running_node(process)
    graph.check_can_check(current, node)
    name = lldb_target.find_function(process, "heed::check_text")
    if name is None:
        raise DebuggerError(lldb_target.WITHOUT_G)
    found = process.GetTarget().FindFunctions(name)
    address = found.GetContextAtIndex(0).GetSymbol().GetStartAddress().GetLoadAddress(process.GetTarget())
    options = lldb.SBExpressionOptions()
    options.SetIgnoreBreakpoints(True)
    result = lldb_target.selected_frame(process).EvaluateExpression(
        "((unsigned long (*)(unsigned long))%d)(%d)" % (address, node.address), options)
    if result.GetError().Fail():
        raise DebuggerError("heed: `heed check` calls the program, so it needs a running program, not a "
                            "core file")
    return graph.check_report(current, node, memory.c_text(
        lldb_target.target_of(process), result.GetValueAsUnsigned()))


def running_node(process):
    current, _ = lldb_passes.require_pass(process)
    if current.running is None:
        raise DebuggerError(lldb_running.NO_BACKWARD)
    return current, current.nodes[current.running]


def user_frames(process):
    return [frame for frame in process.GetSelectedThread()
            if lldb_target.file_of(frame) and not graph.ENGINE.fullmatch(lldb_target.file_of(frame))]


def back(process, text):
    return "\n".join("#%-2d %s at %s:%d" % (
        frame.GetFrameID(), lldb_target.function_name(frame),
        graph.short_path(lldb_target.file_of(frame)), frame.GetLineEntry().GetLine())
        for frame in user_frames(process))


def run_to_nan(process, _):
    report = lldb_running.run_to_nonfinite(process)
    for frame in user_frames(process)[:1] if process.GetState() == lldb.eStateStopped else []:
        process.GetSelectedThread().SetSelectedFrame(frame.GetFrameID())
    return report


def save(process, text):
    words = text.split()
    if len(words) < 2:
        raise DebuggerError("heed: save takes an array and a file, such as: heed save weights w.npy")
    _, array = lldb_passes.find_array(process, " ".join(words[:-1]))
    files.save(array, os.path.expanduser(words[-1]))
    return "wrote %s to %s" % (numbers.shape_text(array.shape), words[-1])


def only_in_gdb(process, _):
    raise DebuggerError("heed: gdb has this command, LLDB does not: `heed debug` without --lldb starts gdb")


COMMANDS = {"graph": show_graph, "step": lldb_running.step, "out": lambda process, _: lldb_running.out(process),
            "check": check, "grad": show_grad, "show": show, "why": why, "nan": run_to_nan, "back": back,
            "save": save, "watch": lldb_running.watch, "in": lldb_running.step_in, "mark": only_in_gdb,
            "again": only_in_gdb, "weights": only_in_gdb}
WITHOUT_ARGUMENT = ("out", "nan", "back", "in")
HELP = """heed graph [T]     the graph of the running backward pass, or the graph that computed T; --svg draws it
heed step [WHAT]   run to the backward of a node: the Nth from here, an operation, a name, #3
heed out           run to the end of the node's backward: the gradients it returned, and to whom
heed in            step to the next line of an operation or the program, past engine and libraries
heed check [T]     compare a node's gradients with central differences (calls its forward and backward)
heed grad T        the gradient of a tensor: by name, number (#3) or variable
heed show X        an array or a tensor's value: matrix, min, max, mean, norm
heed why T         the contributions to a gradient: node, source line, norm
heed nan           run to the first value or gradient that is not finite
heed watch W [N]   N training steps: norms of value, gradient, update, and update/value
heed back          the call stack without the engine's frames
heed save X FILE   write an array as .npy or .csv"""


def run_command(debugger, words):
    name, text = words[0], words[1].strip() if len(words) > 1 else ""
    if name not in COMMANDS:
        raise DebuggerError("heed: there is no command `heed %s`; `heed` lists the commands" % name)
    if text and name in WITHOUT_ARGUMENT:
        raise DebuggerError("heed: `heed %s` takes no argument" % name)
    return COMMANDS[name](lldb_target.selected_process(debugger), text)


def heed(debugger, command, result, _):
    """Show arrays, computation graphs and gradients of a heed program. `heed` lists the commands."""
    words = command.split(None, 1)
    if not words:
        result.AppendMessage(HELP)
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
    avoid = "settings set target.process.thread.step-avoid-regexp '%s'" % lldb_running.LIBRARIES
    for line in commands + [avoid, "type category enable heed"]:
        debugger.HandleCommand(line)


def lldb_has_overwrite():
    version = lldb.SBDebugger.GetVersionString()
    digits = "".join(c if c.isdigit() else " " for c in version).split()
    return bool(digits) and int(digits[0]) >= 15
