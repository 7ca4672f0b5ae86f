#!/usr/bin/python3
"""random_programs.py: draws random programs of operations and compares heed with PyTorch.

    /usr/bin/python3 tests/golden/random_programs.py --count 1000 --seed 7 \\
        --tests build/release/tests/heed_double_tests     # compare; shrink and print each difference
    /usr/bin/python3 tests/golden/random_programs.py --write   # write random_programs.txt again

A program has 1 to 4 inputs of rank 0 to 5 with sizes 0 to 7, and 3 to 40 steps, each of which applies
an operation to inputs or earlier results: they are broadcast, used several times and detached; weights,
masks and indices are further inputs. One step may be a layer with parameters of its own. Some steps
record no graph. The backward pass runs once, twice with keep_graph, or once for each output. About one program in twelve ends with a step that PyTorch
rejects; heed must reject it too. heed runs the same programs: all outputs and gradients must agree to
1e-10 in double (heed_double_tests) and to 1e-4 in float (heed_tests), relative to the largest number.
Programs whose float results PyTorch itself does not compute to 2e-5 are compared in double only. Random
numbers stay away from values where an operation has no derivative, such as ties of max.
"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import tempfile

import torch
import torch.nn.functional as F

import library

HERE = pathlib.Path(__file__).resolve().parent
MOST_ELEMENTS, LARGEST = 32, 50.0


class Unfit(Exception):
    """The drawn step does not fit: draw another one."""


def need(condition):
    if not condition:
        raise Unfit


def slices_of(x, attrs):
    for axis, (begin, end, step) in enumerate(attrs["slices"]):
        x = x[(slice(None),) * axis + (slice(begin, end, step),)]
    return x


def max_of(x, attrs):
    return torch.amax(x, attrs.get("dim", []), attrs.get("keepdim", False))


def reduction(name):
    return lambda a, x: getattr(torch, name)(
        x, a.get("dim", list(range(x.dim()))), keepdim=a.get("keepdim", False))


def dropped(a, x):
    torch.manual_seed(a["seed"])
    return F.dropout(x, a["p"], training=True)


def attended(a, q, k, v, *more):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    for name, tensor in zip(a["inputs"][3:], more):
        scores = scores + tensor if name == "bias" else scores.masked_fill(~tensor, -math.inf)
    if a["causal"]:
        T, S = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(1), -math.inf)
    return scores.softmax(-1) @ v


def variance_of(a, x):
    axes = a.get("dim", list(range(x.dim())))
    return torch.var(x, axes, unbiased=a["unbiased"], keepdim=a["keepdim"])


def layer_norm(a, x, weight=None, bias=None):
    return F.layer_norm(x, a["normalized_shape"], weight, bias, a["eps"])


def rms_norm(a, x, weight=None):
    if list(x.shape[x.dim() - len(a["normalized_shape"]):]) != a["normalized_shape"]:
        raise RuntimeError("normalized_shape is not the last sizes")
    axes = list(range(-len(a["normalized_shape"]), 0))
    y = x / (x.square().mean(axes, keepdim=True) + a["eps"]).sqrt()
    return y if weight is None else y * weight


def rotated(a, x):
    """Rotates the pairs (2i, 2i + 1) of x (B, T, D)."""
    T, D = x.shape[1:]
    frequencies = a["base"] ** (-torch.arange(0, D, 2, dtype=x.dtype) / D)
    angles = (a["first"] + torch.arange(T, dtype=x.dtype))[:, None] * frequencies  # (T, D / 2)
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.stack(pairs, -1).reshape(x.shape)


def layer(name):
    """An operation of library.py, whose tensors have the names in the attribute "inputs"."""
    def apply(a, *tensors):
        results = library.OPERATIONS[name](dict(zip(a["inputs"], tensors)), a)
        if name == "grouped_attention" and a["heads"] == 1:
            results[1] = results[1][:, 0]  # heed's weights of one head are (B, T, S)
        return results[0] if len(results) == 1 else tuple(results)
    return apply


# name: function(attributes, tensors...)
OPERATIONS = {
    "add": lambda a, x, y: x + y,
    "sub": lambda a, x, y: x - y,
    "mul": lambda a, x, y: x * y,
    "div": lambda a, x, y: x / y,
    "add_scalar": lambda a, x: x + a["c"],
    "mul_scalar": lambda a, x: x * a["c"],
    "rsub_scalar": lambda a, x: a["c"] - x,
    "div_scalar": lambda a, x: x / a["c"],
    "pow_scalar": lambda a, x: x ** a["p"],
    "neg": lambda a, x: -x,
    "exp": lambda a, x: x.exp(),
    "log": lambda a, x: x.log(),
    "sqrt": lambda a, x: x.sqrt(),
    "abs": lambda a, x: x.abs(),
    "tanh": lambda a, x: x.tanh(),
    "relu": lambda a, x: x.relu(),
    "sigmoid": lambda a, x: x.sigmoid(),
    "silu": lambda a, x: F.silu(x),
    "gelu_erf": lambda a, x: F.gelu(x),
    "gelu_tanh": lambda a, x: F.gelu(x, approximate="tanh"),
    "clamp": lambda a, x: x.clamp(a["low"], a["high"]),
    "transpose": lambda a, x: x.transpose(a["d0"], a["d1"]),
    "permute": lambda a, x: x.permute(a["dims"]),
    "reshape": lambda a, x: x.reshape(a["shape"]),
    "expand": lambda a, x: x.expand(a["shape"]),
    "unsqueeze": lambda a, x: x.unsqueeze(a["dim"]),
    "slice": lambda a, x: slices_of(x, a),
    "select": lambda a, x: x.select(a["dim"], a["index"]),
    "cat": lambda a, *xs: torch.cat(xs, a["dim"]),
    "stack": lambda a, *xs: torch.stack(xs, a["dim"]),
    "detach": lambda a, x: x.detach(),
    "sum": reduction("sum"),
    "mean": reduction("mean"),
    "amax": lambda a, x: max_of(x, a),
    "softmax": lambda a, x: x.softmax(a["dim"]),
    "log_softmax": lambda a, x: x.log_softmax(a["dim"]),
    "logsumexp": lambda a, x: x.logsumexp(a["dim"], a["keepdim"]),
    "matmul": lambda a, x, y: x @ y,
    "linear": lambda a, x, weight, bias=None: F.linear(x, weight, bias),
    "dropout": dropped,
    "sdpa": attended,
    "mse_loss": lambda a, x, y: F.mse_loss(x, y, reduction=a["reduction"]),
    "huber_loss": lambda a, x, y: F.huber_loss(x, y, reduction=a["reduction"], delta=a["delta"]),
    "binary_cross_entropy_with_logits": lambda a, x, y: F.binary_cross_entropy_with_logits(
        x, y, reduction=a["reduction"]),
    "cross_entropy": lambda a, x, targets: F.cross_entropy(
        x, targets, reduction=a["reduction"], label_smoothing=a["label_smoothing"]),
    "embedding": lambda a, weight, indices: F.embedding(indices, weight),
    "gather": lambda a, x, indices: torch.gather(x, a["dim"], indices),
    "masked_fill": lambda a, x, mask: x.masked_fill(mask, a["value"]),
    "masked_softmax": lambda a, x, mask: x.masked_fill(mask, -math.inf).softmax(a["dim"]),
    "where": lambda a, mask, x, y: torch.where(mask, x, y),
    "squeeze": lambda a, x: x.squeeze(a["dim"]),
    "split": lambda a, x: torch.split(x, a["sizes"], a["dim"]),
    "topk": lambda a, x: tuple(torch.topk(x, a["k"], a["dim"])),
    "max_dim": lambda a, x: tuple(torch.max(x, a["dim"], a["keepdim"])),
    "var": variance_of,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "cosine_similarity": lambda a, x, y: F.cosine_similarity(x, y, a["dim"]),
    "einsum": lambda a, *xs: torch.einsum(a["eq"], *xs),
    "rotary_embedding": rotated,
    "rdiv_scalar": lambda a, x: a["c"] / x,
    "swiglu": layer("swiglu"),
    "llama_block": layer("llama_block"),
    "decoder_block": layer("decoder_block"),
    "padded_attention": layer("padded_attention"),
    "grouped_attention": layer("grouped_attention"),
}
# The equations of einsum, by the ranks of their operands.
EQUATIONS = {
    (1,): ["i->", "i->i"],
    (2,): ["ij->ji", "ij->", "ij->j", "ii->i", "ii"],
    (3,): ["ijk->kji", "ijk->ik", "...k->...", "bii->b"],
    (1, 1): ["i,j->ij", "i,i->"],
    (2, 1): ["ij,j->i", "ij,i->ij"],
    (2, 2): ["ij,jk->ik", "ij,kj->ik", "ij,ij->i", "ij,jk->"],
    (3, 3): ["bij,bjk->bik", "bqd,bkd->bqk", "...ij,...jk->...ik"],
    (3, 2): ["bij,jk->bik", "bij,bj->bi"],
}
UNARY = ["neg", "exp", "log", "sqrt", "abs", "tanh", "relu", "sigmoid", "silu", "gelu_erf",
         "gelu_tanh", "detach"]


def smooth(op, attrs, tensors):
    """Whether the operation has a derivative at these values, and one that is not too large."""
    x = tensors[1 if op == "where" else 0].detach()
    if x.numel() == 0:
        return op not in ("amax", "logsumexp", "mean", "softmax", "log_softmax", "max_dim", "topk",
                          "var", "layer_norm", "rms_norm", "cosine_similarity", "cross_entropy",
                          "masked_softmax", "sdpa", "grouped_attention", *LAYERS)
    if op in ("llama_block", "decoder_block"):
        return bool((x.std(-1, unbiased=False) > 0.05).all())
    if op in ("layer_norm", "rms_norm"):  # rows of almost equal numbers have large derivatives
        rows = x.reshape(-1, math.prod(attrs["normalized_shape"]))
        spread = rows.std(1, unbiased=False) if op == "layer_norm" else rows.abs().amax(1)
        return bool((spread > 0.05).all())
    if op == "cosine_similarity":
        return all(bool((t.detach().norm(dim=attrs["dim"]) > 0.1).all()) for t in tensors)
    if op == "huber_loss":
        distance = (x - tensors[1].detach()).abs()
        return bool(((distance - attrs["delta"]).abs() > 1e-3).all())
    if op == "rdiv_scalar":
        return bool((x.abs() > 0.05).all())
    if op in ("relu", "abs"):
        return bool((x.abs() > 1e-3).all())
    if op in ("log", "sqrt") or (op == "pow_scalar" and attrs["p"] not in (2, 3)):
        return bool((x > 0.05).all())
    if op == "div":
        return bool((tensors[1].detach().abs() > 0.05).all())
    if op == "clamp":
        return all(bool(((x - attrs[limit]).abs() > 1e-3).all()) for limit in ("low", "high"))
    if op in ("amax", "max_dim", "topk"):
        values = x.flatten().sort().values
        return bool((values.diff() > 1e-6).all())
    return True


class Program:
    def __init__(self, number):
        self.number = number
        self.inputs, self.steps, self.out = {}, [], []
        self.values, self.error = {}, None
        self.passes = "one"

    def copy(self):
        other = Program(self.number)
        other.passes = self.passes
        other.inputs, other.steps, other.out = dict(self.inputs), list(self.steps), list(self.out)
        return other

    def apply(self, op, names, attrs):
        tensors = [self.values[name] for name in names]
        if not attrs.get("no_grad", False):
            return OPERATIONS[op](attrs, *tensors)
        with torch.no_grad():  # in PyTorch 1.13, a view says that it requires a gradient even here
            value = OPERATIONS[op](attrs, *tensors)
        return tuple(x.detach() for x in value) if isinstance(value, tuple) else value.detach()

    def add_input(self, x, letter="i"):
        """Another input, for a weight, a mask or indices; returns its name."""
        name = f"{letter}{len(self.inputs)}"
        self.inputs[name] = x
        self.values[name] = started(x, torch.float64)
        return name

    def remove_input(self, name):
        del self.inputs[name], self.values[name]

    def tensors(self):
        """The names of the floating point values, except the parameters of layers."""
        return [name for name, x in self.values.items() if x.is_floating_point() and name[0] != "w"]

    def store(self, name, value):
        """Stores the result, or the results, of a step."""
        for each, part in zip(*((name, value) if isinstance(name, list) else ([name], [value]))):
            self.values[each] = part

    def run(self, dtype=torch.float64):
        """Computes all values, or sets `error` to PyTorch's message at the last step."""
        self.values = {n: started(x, dtype) for n, x in self.inputs.items()}
        self.error = None
        for name, op, names, attrs in self.steps:
            try:
                self.store(name, self.apply(op, names, attrs))
            except (RuntimeError, IndexError, ValueError) as error:
                self.error = str(error).splitlines()[0]
                return

    def gradients(self):
        upstream = {}
        total = None
        for k, name in enumerate(self.out):
            y = self.values[name]
            if not y.requires_grad:
                continue
            generator = torch.Generator().manual_seed(self.number * 8 + k)
            upstream[k] = torch.randint(-9, 10, y.shape, generator=generator).to(y.dtype) / 10
            part = (y * upstream[k]).sum()
            total = part if total is None else total + part
        names = [name for name, x in self.inputs.items() if x.is_floating_point()]
        if total is None:
            return {}, dict.fromkeys(names)
        inputs = [self.values[name] for name in names]
        found = torch.autograd.grad(total, inputs, allow_unused=True)
        factor = 2 if self.passes == "twice" else 1
        return upstream, {n: None if g is None else factor * g for n, g in zip(names, found)}

    def results(self, dtype):
        """All outputs and gradients."""
        self.run(dtype)
        return [self.values[name] for name in self.out], list(self.gradients()[1].values())

    def is_stable(self):
        """Whether the results in float are near those in double."""
        for exact, rounded in zip(self.results(torch.float64), self.results(torch.float32)):
            scale = largest(exact)
            for x, y in zip(exact, rounded):
                if x is not None and x.numel() > 0:
                    if not bool(((x.double() - y.double()).abs() < 2e-5 * scale).all()):
                        return False
        return True

    def lines(self):
        self.run()
        attrs = {"inputs": list(self.inputs), "steps": self.steps, "out": self.out}
        if self.passes != "one":
            attrs["passes"] = self.passes
        if self.error is None and not self.is_stable():
            attrs["double_only"] = True
        self.run()
        text = [f"CASE random/{self.number} program {json.dumps(attrs, separators=(',', ':'))}"]
        inputs = [line("IN", n, x, x.is_floating_point()) for n, x in self.inputs.items()]
        if self.error is not None:
            return text + [f"ERROR {self.error}"] + inputs + ["END"]
        upstream, gradients = self.gradients()
        outputs = [self.values[name] for name in self.out]
        text.append(f"TOL 1e-10 {tolerance(outputs)} 1e-10 {tolerance(gradients.values())}")
        text += inputs
        text += [line("OUT", f"y{k}", y) for k, y in enumerate(outputs)]
        text += [line("UP", f"y{k}", u) for k, u in upstream.items()]
        return text + [line("GRAD", n, g) for n, g in gradients.items()] + ["END"]


def started(x, dtype):
    return x.to(dtype).clone().requires_grad_() if x.is_floating_point() else x


def largest(tensors):
    """The largest absolute value, but at least 1."""
    return max([1.0] + [float(x.detach().abs().max()) for x in tensors
                        if x is not None and x.numel() > 0])


def tolerance(tensors):
    return f"{1e-10 * largest(tensors):.2g}"


def line(kind, name, x, grad=False):
    if x is None:
        return f"{kind} {name} none"
    numbers = " ".join(f"{v:.13g}" for v in x.detach().flatten().tolist())
    dtype = {torch.bool: "bool", torch.int64: "i64"}.get(x.dtype, "f64")
    sizes = " ".join(map(str, [x.dim(), *x.shape]))
    return f"{kind} {name} {dtype} {'grad ' if grad else ''}{sizes} : {numbers}"


# ---- drawing programs


def draw_shape(draw):
    while True:
        shape = [draw.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7]) for _ in range(draw.randint(0, 5))]
        if 0 in shape and draw.random() < 0.8:
            continue
        if math.prod(shape) <= MOST_ELEMENTS:
            return shape


def draw_tensor(draw, shape):
    values = [draw.randint(-2000, 2000) / 1000 for _ in range(math.prod(shape))]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def draw_mask(draw, shape, broadcast=True):
    """A mask of the shape, or one that broadcasts to it."""
    if broadcast:
        shape = [n if draw.random() < 0.8 else 1 for n in shape]
        shape = shape[draw.choice([0, 0, 0, len(shape) // 2]):]
    values = [draw.random() < 0.4 for _ in range(math.prod(shape))]
    return torch.tensor(values, dtype=torch.bool).reshape(shape)


def draw_indices(draw, shape, size, rejected):
    high = size + 2 if rejected else size - 1
    need(high >= 0 and math.prod(shape) <= MOST_ELEMENTS)
    values = [draw.randint(0, high) for _ in range(math.prod(shape))]
    return torch.tensor(values, dtype=torch.int64).reshape(shape)


def draw_norm(draw, program, op, name):
    """layer_norm or rms_norm over the last axes of a value, with new weights."""
    x = program.values[name]
    need(x.dim() > 0)
    last = list(x.shape[draw.randrange(x.dim()):])
    names, words = [name], ["x"]
    for word in (["weight", "bias"] if op == "layer_norm" else ["weight"])[:draw.randint(0, 2)]:
        names.append(program.add_input(draw_tensor(draw, last)))
        words.append(word)
    return names, {"normalized_shape": last, "inputs": words, "eps": draw.choice([1e-5, 0.1])}


def draw_attention(draw, program, name):
    """Attention of a value (..., T, D) to new keys and values (..., S, D), with a mask, a bias or none."""
    q = program.values[name]
    need(q.dim() >= 2)
    T, D, batch = q.shape[-2], q.shape[-1], list(q.shape[:-2])
    S = draw.randint(1, 4)
    names, words = [name], ["q", "k", "v"]
    for size in (D, draw.randint(1, 4)):
        need(math.prod(batch) * S * size <= 2 * MOST_ELEMENTS)
        names.append(program.add_input(draw_tensor(draw, batch + [S, size])))
    kind = draw.choice(["none", "mask", "bias"])
    if kind == "mask":
        names.append(program.add_input(~draw_mask(draw, [T, S])))
        words.append("mask")
    if kind == "bias":
        names.append(program.add_input(draw_tensor(draw, [T, S])))
        words.append("bias")
    return names, {"causal": S == T and draw.random() < 0.3, "inputs": words}


def layer_weights(op, C, heads, kv_heads):
    """The shapes of a layer's parameters, by the names in models.hpp."""
    hidden = 8 * ((C + 2) // 3)  # the width of SwiGLU
    mlp = {"gate": [hidden, C], "up": [hidden, C], "down": [C, hidden]}
    attention = {"in_proj_weight": [3 * C, C], "in_proj_bias": [3 * C], "out_proj.weight": [C, C],
                 "out_proj.bias": [C]}
    if op == "swiglu":
        return mlp
    if op == "padded_attention":
        return {name.replace(".", "_"): shape for name, shape in attention.items()}
    if op == "llama_block":
        narrow = C // heads * kv_heads
        return {"norm1": [C], "norm2": [C], "query": [C, C], "key": [narrow, C], "value": [narrow, C],
                "out": [C, C], **mlp}
    shapes = {f"{part}.{name}": shape for part in ("self_attn", "multihead_attn")
              for name, shape in attention.items()}
    for norm in ("norm1", "norm2", "norm3"):
        shapes.update({norm + ".weight": [C], norm + ".bias": [C]})
    return {**shapes, "linear1.weight": [4 * C, C], "linear1.bias": [4 * C],
            "linear2.weight": [C, 4 * C], "linear2.bias": [C]}


def draw_layer(draw, program, op, name):
    """A layer with new parameters, which no other step uses."""
    x = program.values[name]
    need(x.dim() >= 1 and x.numel() > 0 and draw.random() < 0.5)
    C = x.shape[-1]
    heads = draw.choice([n for n in (1, 2) if C % n == 0])
    kv_heads = draw.choice([1, heads])
    names, words, attrs = [name], ["x"], {}
    if op != "swiglu":
        need(x.dim() == 3 and C <= 4)
        attrs = {"heads": heads}
    if op in ("decoder_block", "padded_attention"):
        names.append(program.add_input(draw_tensor(draw, [x.shape[0], draw.randint(1, 3), C])))
        words = ["x", "memory"] if op == "decoder_block" else ["query", "memory"]
    if op == "padded_attention":
        attrs["causal"] = x.shape[1] == program.values[names[1]].shape[1] and draw.random() < 0.5
        padding = draw_mask(draw, program.values[names[1]].shape[:2], broadcast=False)
        padding[:, 0] = False  # the first key is never padding
        names.append(program.add_input(padding))
        words.append("key_padding")
    if op == "llama_block":
        need(C // heads % 2 == 0)
        attrs["kv_heads"] = kv_heads
    need(op != "swiglu" or C <= 6)
    for word, shape in layer_weights(op, C, heads, kv_heads).items():
        values = draw_tensor(draw, shape) / 2
        offset = 1 if "norm" in word and "bias" not in word else 0
        names.append(program.add_input(values + offset, "w"))
        words.append(word)
    return names, {**attrs, "inputs": words}


def draw_grouped_attention(draw, program, name):
    """Attention with heads in the last axis, which may share keys and values."""
    q = program.values[name]
    need(q.dim() == 3 and q.numel() > 0)
    B, T, C = q.shape
    heads = draw.choice([n for n in (1, 2, 4) if C % n == 0])
    kv_heads = draw.choice([n for n in (1, 2, 4) if heads % n == 0])
    causal = draw.random() < 0.5
    S = T if causal else draw.randint(1, 4)
    names = [name] + [program.add_input(draw_tensor(draw, [B, S, C // heads * kv_heads])) for _ in "kv"]
    return names, {
        "heads": heads, "kv_heads": kv_heads, "causal": causal,
        "window": draw.randint(0, 3) if causal else 0, "inputs": ["q", "k", "v"]}


BLOCKS = ["llama_block", "decoder_block", "padded_attention"]
LAYERS = {"swiglu", *BLOCKS}


class Step:
    """A value, the operation to apply to it, and an axis of the value (None if it has no axis)."""

    def __init__(self, draw, program, rejected):
        names = program.tensors()
        self.draw, self.program, self.rejected = draw, program, rejected
        self.name = draw.choice(names[-6:] if draw.random() < 0.7 else names)
        self.x = program.values[self.name]
        self.axis = self.draw_axis()
        self.op = draw.choice(sorted(OPERATIONS) + UNARY + 4 * BLOCKS)
        if self.op in SELECTING:
            self.axis = self.draw_axis()

    def draw_axis(self):
        rank = self.x.dim()
        return self.draw.randint(-rank, rank - 1) if rank > 0 else None

    def other(self):
        return self.draw.choice(self.program.tensors())

    def same(self):
        """A value of the same shape."""
        return self.draw.choice([n for n in self.program.tensors()
                                 if self.program.values[n].shape == self.x.shape])

    def mask(self):
        return self.program.add_input(draw_mask(self.draw, self.x.shape))

    def indices(self, shape, size):
        return self.program.add_input(draw_indices(self.draw, shape, size, self.rejected))

    def reduction(self):
        return self.draw.choice(["mean", "sum", "none"])


# The functions below draw the names of a step's arguments and its attributes.


def draw_reshape(step):
    draw, sizes = step.draw, list(step.x.shape)
    draw.shuffle(sizes)
    if len(sizes) > 1 and draw.random() < 0.5:
        sizes = [sizes[0] * sizes[1]] + sizes[2:]
    if sizes and 0 not in sizes and draw.random() < 0.5:
        sizes[draw.randrange(len(sizes))] = -1
    return [step.name], {"shape": sizes}


def draw_expand(step):
    draw = step.draw
    sizes = [draw.randint(1, 4) if n == 1 else n for n in step.x.shape]
    return [step.name], {"shape": ([draw.randint(1, 3)] if draw.random() < 0.3 else []) + sizes}


def draw_unsqueeze(step):
    rank = step.x.dim()
    need(rank < 5)
    return [step.name], {"dim": step.draw.randint(-rank - 1, rank)}


def draw_slice(step):
    draw, slices = step.draw, []
    for size in step.x.shape:
        begin = draw.randint(0, size)
        slices.append([begin, draw.randint(begin, size), draw.randint(1, 3)])
    return [step.name], {"slices": slices}


def draw_reduction(step):
    draw, rank = step.draw, step.x.dim()
    attrs = {"keepdim": draw.random() < 0.5}
    if rank > 0:
        axes = draw.sample(range(rank), draw.randint(1, rank))
        attrs["dim"] = [a - draw.choice([0, rank]) for a in axes]
    need(rank > 0 or step.op == "sum")
    return [step.name], attrs


def draw_linear(step):
    draw, program = step.draw, step.program
    matrices = [n for n in program.tensors() if program.values[n].dim() == 2]
    need(matrices)  # PyTorch accepts a vector as the weight; heed rejects it
    weight = draw.choice(matrices)
    if draw.random() < 0.5:
        return [step.name, weight], {}
    bias = program.add_input(draw_tensor(draw, [program.values[weight].shape[0]]))
    return [step.name, weight, bias], {}


def draw_sdpa(step):
    if step.draw.random() < 0.6:
        return draw_attention(step.draw, step.program, step.name)
    need(step.x.dim() >= 2)
    return [step.name, step.same(), step.same()], {
        "causal": step.draw.random() < 0.5, "inputs": ["q", "k", "v"]}


def draw_select(step):
    size = step.x.shape[step.axis]
    need(size > 0)
    return [step.name], {"dim": step.axis, "index": step.draw.randint(-size, size - 1)}


def draw_joined(step):
    return [step.same() for _ in range(step.draw.randint(1, 3))], {"dim": step.axis}


def draw_masked_fill(step):
    mask = step.mask()
    return [step.name, mask], {"value": step.draw.choice([0, -2.5])}


def draw_where(step):
    other = step.other()
    return [step.mask(), step.name, other], {}


def draw_loss(step):
    target = draw_tensor(step.draw, list(step.x.shape))
    target = target.abs() / 2 if step.op != "huber_loss" else target
    return [step.name, step.program.add_input(target)], {
        "reduction": step.reduction(), "delta": step.draw.choice([0.5, 1])}


def draw_einsum(step):
    names = [step.name] + ([step.other()] if step.draw.random() < 0.7 else [])
    ranks = tuple(step.program.values[n].dim() for n in names)
    need(ranks in EQUATIONS)
    return names, {"eq": step.draw.choice(EQUATIONS[ranks])}


def draw_cross_entropy(step):
    need(step.x.dim() == 2)
    targets = step.indices([step.x.shape[0]], step.x.shape[1])
    return [step.name, targets], {
        "reduction": step.reduction(), "label_smoothing": step.draw.choice([0.0, 0.1])}


def draw_embedding(step):
    need(step.x.dim() == 2)
    shape = [step.draw.randint(1, 3) for _ in range(step.draw.randint(1, 2))]
    return [step.name, step.indices(shape, step.x.shape[0])], {}


def draw_gather(step):
    shape = list(step.x.shape)
    shape[step.axis] = step.draw.randint(1, 4)
    return [step.name, step.indices(shape, step.x.shape[step.axis])], {"dim": step.axis}


def draw_squeeze(step):
    need(step.x.shape[step.axis] == 1)  # PyTorch ignores another size; heed rejects it
    return [step.name], {"dim": step.axis}


def draw_split(step):
    size = step.x.shape[step.axis]
    first = step.draw.randint(0, size)
    return [step.name], {"sizes": [first, size - first + (1 if step.rejected else 0)], "dim": step.axis}


def draw_topk(step):
    size = step.x.shape[step.axis]
    need(size > 0)
    return [step.name], {"k": step.draw.randint(1, size + (2 if step.rejected else 0)), "dim": step.axis}


def draw_var(step):
    draw, shape = step.draw, step.x.shape
    axes = draw.sample(range(len(shape)), draw.randint(1, len(shape)))
    unbiased = draw.random() < 0.5
    need(math.prod(shape[a] for a in axes) > 1)
    return [step.name], {"dim": axes, "unbiased": unbiased, "keepdim": draw.random() < 0.5}


def draw_rotary(step):
    shape = step.x.shape
    need(len(shape) == 3 and shape[2] % 2 == 0 and shape[2] > 0)
    return [step.name], {"first": step.draw.randint(0, 3), "base": 100.0, "heads": 1, "inputs": ["x"]}


def chosen(**choices):
    """Attributes that are each one of several values."""
    return lambda step: ([step.name], {key: step.draw.choice(list_) for key, list_ in choices.items()})


def along_axis(step):
    return [step.name], {"dim": step.axis}


def along_axis_keepdim(step):
    return [step.name], {"dim": step.axis, "keepdim": step.draw.random() < 0.5}


ARGUMENTS = {
    **dict.fromkeys(UNARY, lambda step: ([step.name], {})),
    **dict.fromkeys(["add", "sub", "mul", "div", "matmul"], lambda step: ([step.name, step.other()], {})),
    **dict.fromkeys(["add_scalar", "mul_scalar", "rsub_scalar", "div_scalar"],
                    chosen(c=[-1.5, 0.25, 2, 3.5])),
    "rdiv_scalar": chosen(c=[-1.5, 2]),
    "pow_scalar": chosen(p=[2, 3, 0.5, -1]),
    "clamp": chosen(low=[-1, -0.3], high=[0.4, 1]),
    "reshape": draw_reshape, "expand": draw_expand, "unsqueeze": draw_unsqueeze,
    **dict.fromkeys(["sum", "mean", "amax"], draw_reduction),
    "dropout": lambda step: ([step.name], {"p": step.draw.choice([0.1, 0.5]),
                                           "seed": step.draw.randint(0, 99), "training": True}),
    "mse_loss": lambda step: ([step.name, step.same()], {"reduction": step.reduction()}),
    "linear": draw_linear, "sdpa": draw_sdpa, "masked_fill": draw_masked_fill, "where": draw_where,
    **dict.fromkeys(["huber_loss", "binary_cross_entropy_with_logits"], draw_loss),
    "einsum": draw_einsum,
    **dict.fromkeys(["layer_norm", "rms_norm"],
                    lambda step: draw_norm(step.draw, step.program, step.op, step.name)),
    **dict.fromkeys(LAYERS, lambda step: draw_layer(step.draw, step.program, step.op, step.name)),
    "grouped_attention": lambda step: draw_grouped_attention(step.draw, step.program, step.name),
}
ARGUMENTS_WITH_AXIS = {  # for a value with axes only
    "slice": draw_slice, "select": draw_select,
    **dict.fromkeys(["cat", "stack"], draw_joined),
    "transpose": lambda step: ([step.name], {
        "d0": step.axis, "d1": step.draw.randint(-step.x.dim(), step.x.dim() - 1)}),
    "permute": lambda step: ([step.name], {"dims": step.draw.sample(range(step.x.dim()), step.x.dim())}),
    "softmax": along_axis, "log_softmax": along_axis,
    "logsumexp": along_axis_keepdim, "max_dim": along_axis_keepdim,
    "masked_softmax": lambda step: ([step.name, step.mask()], {"dim": step.axis}),
    "cross_entropy": draw_cross_entropy, "embedding": draw_embedding, "gather": draw_gather,
    "squeeze": draw_squeeze, "split": draw_split, "topk": draw_topk, "var": draw_var,
    "cosine_similarity": lambda step: ([step.name, step.same()], {"dim": step.axis}),
    "rotary_embedding": draw_rotary,
}
# The operations with a mask, indices or weights, which become inputs, or with several results.
SELECTING = {"layer_norm", "rms_norm", "masked_fill", "where", "huber_loss", "rdiv_scalar", "einsum",
             "binary_cross_entropy_with_logits", "masked_softmax", "cross_entropy", "embedding",
             "gather", "squeeze", "split", "topk", "max_dim", "var", "cosine_similarity", "rotary_embedding",
             "grouped_attention", *LAYERS}
RESULTS = {"split", "topk", "max_dim", "grouped_attention", "padded_attention"}  # with two results


def draw_step(draw, program, rejected):
    """An operation, the names of its arguments and its attributes."""
    step = Step(draw, program, rejected)
    need(step.axis is not None or step.op in ARGUMENTS)
    names, attrs = {**ARGUMENTS, **ARGUMENTS_WITH_AXIS}[step.op](step)
    return step.op, names, attrs


def check_value(value, op, attrs, tensors):
    """Rejects a result that is large, infinite, or not differentiable."""
    need(value.dim() <= 5 and value.numel() <= MOST_ELEMENTS)
    need(smooth(op, attrs, tensors))
    need(bool(torch.isfinite(value).all()))
    need(value.numel() == 0 or float(value.detach().abs().max()) < LARGEST)


def try_step(draw, program, rejected):
    """Adds a step; one that PyTorch rejects only if `rejected`. Without a step, adds no input either."""
    before = list(program.inputs)
    try:
        add_step(draw, program, rejected)
    except Unfit:
        for name in list(program.inputs)[len(before):]:
            program.remove_input(name)
        raise


def add_step(draw, program, rejected):
    op, names, attrs = draw_step(draw, program, rejected)
    need(len([n for n in program.inputs if n[0] != "w"]) <= 12)
    need(op not in LAYERS or not any(step[1] in LAYERS for step in program.steps))
    if rejected and "dim" in attrs and isinstance(attrs["dim"], int) and draw.random() < 0.5:
        attrs["dim"] += draw.choice([-9, 9])
    if draw.random() < 0.04:
        attrs["no_grad"] = True
    tensors = [program.values[n] for n in names]
    try:
        value = program.apply(op, names, attrs)
    except (RuntimeError, IndexError, ValueError):
        # The maximum over an axis of size 0 is rejected by PyTorch, but by heed and NumPy only if
        # the result has elements.
        need(rejected and (op not in ("amax", "max_dim") or tensors[0].numel() > 0))
        value = None
    name = f"t{len(program.steps)}"
    name = [f"{name}{letter}" for letter in "pq"] if op in RESULTS else name
    if value is not None:
        need(not rejected)
        for part in value if isinstance(value, tuple) else [value]:
            check_value(part, op, attrs, tensors)
    program.steps.append([name, op, names, attrs])
    if value is not None:
        program.store(name, value)


def names_of(step):
    """The names of the results of a step."""
    return step[0] if isinstance(step[0], list) else [step[0]]


def draw_program(number):
    draw = random.Random(number)
    program = Program(number)
    for i in range(draw.randint(1, 4)):
        program.inputs["abcd"[i]] = draw_tensor(draw, draw_shape(draw))
    program.run()
    length, tries = draw.randint(3, 40), 0
    while len(program.steps) < length and tries < 2000:
        tries += 1
        try:
            try_step(draw, program, rejected=False)
        except Unfit:
            pass
    used = {name for _, _, names, _ in program.steps for name in names}
    results = [name for step in program.steps for name in names_of(step)]
    program.passes = draw.choice(["one", "one", "each", "twice"])
    program.out = ([name for name in results if name not in used][-3:] or results[-1:])
    for _ in range(100 if number % 12 == 0 else 0):
        try:
            try_step(draw, program, rejected=True)
            break
        except Unfit:
            pass
    if names_of(program.steps[-1])[0] not in program.values:
        program.out = names_of(program.steps[-1])[:1]
    return program


# ---- comparing with heed, and shrinking


def heed_failures(tests, programs):
    """The programs that heed computes differently, each with heed's words."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "programs.txt"
        file.write_text("\n".join(sum((p.lines() for p in programs), [])) + "\n")
        done = subprocess.run([tests, "[random_programs]"], text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "HEED_RANDOM_PROGRAMS": str(file)})
    found = dict(re.findall(r"random/(\d+): ([^\n]*)", done.stdout))
    if done.returncode != 0 and not found:
        raise SystemExit(done.stdout[-2000:])
    return [(p, found[str(p.number)]) for p in programs if str(p.number) in found]


def smaller(program):
    """Programs with one step less, one output less, or cut off earlier."""
    for i in reversed(range(len(program.steps))):
        other = program.copy()
        step = other.steps.pop(i)
        for replacement in [n for n in step[2] if program.values[n].is_floating_point()][:1]:
            other.steps = [[n, op, [replacement if a in names_of(step) else a for a in args], attrs]
                           for n, op, args, attrs in other.steps]
            other.out = [replacement if n in names_of(step) else n for n in other.out]
        other.out = [n for n in dict.fromkeys(other.out) if n not in other.inputs]
        if other.steps and other.out:
            yield other
    for name in program.out if len(program.out) > 1 else []:
        other = program.copy()
        other.out.remove(name)
        yield other
    used = {name for _, _, names, _ in program.steps for name in names}
    for name in set(program.inputs) - used:
        other = program.copy()
        del other.inputs[name]
        yield other


def shrunk(program, tests):
    while True:
        for other in smaller(program):
            try:
                other.run()
            except KeyError:  # a step needs the one that was left out
                continue
            if other.error is None and all(n in other.values for n in other.out) and heed_failures(
                    tests, [other]):
                program = other
                break
        else:
            return program


def heed_code(program):
    lines = []
    for name, x in program.inputs.items():
        numbers = ", ".join(map(str, x.flatten().tolist()))
        kind = "Tensor" if x.is_floating_point() else "Mask" if x.dtype == torch.bool else "Indices"
        sizes, grad = ", ".join(map(str, x.shape)), ", true" if kind == "Tensor" else ""
        lines.append(f"{kind} {name}(array_of({{{sizes}}}, {{{numbers.lower()}}}){grad});")
    for step in program.steps:
        name, op, names, attrs = step
        words = names + [f"/*{key}*/ {json.dumps(value)}" for key, value in attrs.items()]
        name = f"auto [{', '.join(name)}]" if isinstance(name, list) else f"Tensor {name}"
        lines.append(f"{name} = {op}({', '.join(words)});")
    lines.append(f"// differs: {', '.join(program.out)}, or a gradient; passes: {program.passes}")
    return "\n".join(lines)


def compare(first, count, tests):
    differences = 0
    for begin in range(first, first + count, 500):
        programs = [draw_program(n) for n in range(begin, min(begin + 500, first + count))]
        for program, words in heed_failures(tests, programs):
            differences += 1
            print(f"program {program.number}: {words}")
            print(heed_code(shrunk(program, tests)), flush=True)
    print(f"{count} programs, {differences} differences")
    return 1 if differences else 0


def main():
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="number of programs (2000)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first program (0)")
    parser.add_argument("--tests", help="heed_double_tests, which runs the programs")
    parser.add_argument("--write", action="store_true", help="write random_programs.txt")
    options = parser.parse_args()
    if not options.write:
        raise SystemExit(compare(options.seed, options.count, options.tests))
    lines = ["# written by random_programs.py with PyTorch " + torch.__version__]
    for number in range(options.seed, options.seed + options.count):
        lines += draw_program(number).lines()
    (HERE / "random_programs.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
