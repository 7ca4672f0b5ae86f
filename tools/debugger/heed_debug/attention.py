"""attention.py: the attention weights at a node of the fused operation Attention: `heed weights`."""

import array as typed
import math
import re

import gdb

from heed_debug import graph, numbers, passes, values
from heed_debug.commands import command
from heed_debug.gdb_target import target
from heed_debug.node import Node, node_class
from heed_debug.target import DebuggerError


class NumbersArray:
    """Numbers that the debugger computed, with the interface of memory.Array."""

    def __init__(self, shape, values):
        self.shape, self.code, self.values = shape, "d", typed.array("d", values)
        self.size = len(values)

    def numbers(self, start=0, count=None):
        return self.values[start: self.size if count is None else start + count]


def operation_at(node):
    """The struct Attention of a node, as a gdb value."""
    name = node_class(target, node.address)
    try:
        type_ = gdb.lookup_type(name)
    except gdb.error:
        type_ = gdb.lookup_type(re.sub(r"(\d)ul\b", r"\1", name))  # as some compilers write it
    offset, optional = target.offset(type_, "operation")  # of the node as a whole, gdb would look up the RTTI
    value = gdb.Value(node.address + offset).cast(optional.pointer()).dereference()["_M_payload"]
    if not value["_M_engaged"]:
        raise DebuggerError("heed: the inputs of %s were freed after its backward" % graph.title(node))
    return value["_M_payload"]["_M_value"]


def may_attend(operation, lengths, gaps, b, t, s, keys):
    past, window = int(operation["past"]), int(operation["window"])
    if operation["causal"] and s > past + t:
        return False
    if window and past + t - s >= window:
        return False
    if lengths and s >= lengths[b]:
        return False
    return not gaps or gaps[b * keys + s] == 0


def lengths_of(operation):
    start, finish = (operation["lengths"]["_M_impl"][name] for name in ("_M_start", "_M_finish"))
    return [int(start[i]) for i in range((int(finish) - int(start)) // 8)]


def gaps_of(operation):
    gaps = operation["gaps"]["_M_payload"]
    return values.array_of(gaps["_M_payload"]["_M_value"]).numbers() if gaps["_M_engaged"] else None


def weights(node, head, sentence):
    """The attention weights of one head in one sentence: (T, S), rows query, columns key position."""
    if node.op != "Attention":
        raise DebuggerError("heed: %s is not an Attention node; `heed show` prints its value"
                            % graph.title(node))
    operation = operation_at(node)
    heads, kv_heads, scale = int(operation["heads"]), int(operation["kv_heads"]), float(operation["scale"])
    q, k = [Node(target, link).value for link in node.inputs[:2]]
    batch, T, S = (q.shape[0] if len(q.shape) > 2 else 1), q.shape[-2], k.shape[-2]
    if not 0 <= head < heads or not 0 <= sentence < batch:
        raise DebuggerError("heed: heads are 0 to %d, sentences 0 to %d" % (heads - 1, batch - 1))
    D, kv = q.shape[-1] // heads, head // (heads // kv_heads)
    lengths, gaps = lengths_of(operation), gaps_of(operation)

    def row(array, position, h, length):
        return array.numbers((sentence * length + position) * array.shape[-1] + h * D, D)

    keys = [row(k, s, kv, S) for s in range(S)]
    result = []
    for t in range(T):
        query = row(q, t, head, T)
        scores = [scale * sum(map(float.__mul__, query, key))
                  if may_attend(operation, lengths, gaps, sentence, t, s, S) else -math.inf
                  for s, key in enumerate(keys)]
        largest = max(scores)
        powers = [math.exp(x - largest) if largest > -math.inf else 0.0 for x in scores]
        result += [p / (sum(powers) or 1) for p in powers]
    return NumbersArray((T, S), result)


@command("weights T H", "the attention weights of head H at a fused Attention node")
def show_weights(argument):
    """Print the attention weights of one head at a node of the fused operation Attention.
Usage: heed weights T HEAD [SENTENCE]
The operation does not store them: the command computes them from the queries and keys in memory. T is a
tensor's name, number or variable; heads and sentences are counted from 0."""
    words = argument.split()
    digits = [int(word) for word in words[1:] if word.isdecimal()]
    if not 1 <= len(digits) == len(words) - 1 <= 2:
        raise DebuggerError("heed: weights takes an Attention node and a head, such as: heed weights #26 0")
    current, node = passes.find_tensor(words[0])
    head, sentence = digits[0], digits[1] if len(digits) > 1 else 0
    array = weights(node, head, sentence)
    return ["attention weights of %s, head %d, sentence %d, rows query, columns key position = %s" % (
        current.label(node), head, sentence, numbers.array_text(array))]
