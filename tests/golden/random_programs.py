#!/usr/bin/python3
"""random_programs.py: draws random programs of operations and compares heed with PyTorch.

    /usr/bin/python3 tests/golden/random_programs.py --count 1000 --seed 7 \\
        --tests build/release/tests/heed_double_tests     # compare; shrink and print each difference
    /usr/bin/python3 tests/golden/random_programs.py --write   # write random_programs.txt again

A program has 1 to 4 inputs of rank 0 to 5 with sizes 0 to 7, and 3 to 40 steps, each of which applies
an operation to inputs or earlier results: they are broadcast, used several times and detached. About
one program in twelve ends with a step that PyTorch refuses; heed must refuse it too. heed runs the same
programs, in double: all outputs and gradients must agree to 1e-10, relative to the largest number.
Random numbers stay away from places where an operation has no derivative, such as ties of max.
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


def attended(a, q, k, v):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if a["causal"]:
        T, S = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(1), -math.inf)
    return scores.softmax(-1) @ v


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
    "linear": lambda a, x, weight: F.linear(x, weight),
    "dropout": dropped,
    "sdpa": lambda a, q, k, v: attended(a, q, k, v),
    "mse_loss": lambda a, x, y: F.mse_loss(x, y, reduction=a["reduction"]),
}
UNARY = ["neg", "exp", "log", "sqrt", "abs", "tanh", "relu", "sigmoid", "silu", "gelu_erf",
         "gelu_tanh", "detach"]


def smooth(op, attrs, tensors):
    """Whether the operation has a derivative at these values, and one that is not too large."""
    x = tensors[0].detach()
    if x.numel() == 0:
        return op not in ("amax", "logsumexp", "mean", "softmax", "log_softmax")
    if op in ("relu", "abs"):
        return bool((x.abs() > 1e-3).all())
    if op in ("log", "sqrt") or (op == "pow_scalar" and attrs["p"] not in (2, 3)):
        return bool((x > 0.05).all())
    if op == "div":
        return bool((tensors[1].detach().abs() > 0.05).all())
    if op == "clamp":
        return bool(((x - attrs["low"]).abs() > 1e-3).all() and ((x - attrs["high"]).abs() > 1e-3).all())
    if op == "amax":
        values = x.flatten().sort().values
        return bool((values.diff() > 1e-6).all())
    return True


class Program:
    def __init__(self, number):
        self.number = number
        self.inputs, self.steps, self.out = {}, [], []
        self.values, self.error = {}, None

    def copy(self):
        other = Program(self.number)
        other.inputs, other.steps, other.out = dict(self.inputs), list(self.steps), list(self.out)
        return other

    def apply(self, op, names, attrs):
        return OPERATIONS[op](attrs, *(self.values[name] for name in names))

    def run(self):
        """Computes all values, or sets `error` to PyTorch's message at the last step."""
        self.values = {n: x.clone().requires_grad_() for n, x in self.inputs.items()}
        self.error = None
        for name, op, names, attrs in self.steps:
            try:
                self.values[name] = self.apply(op, names, attrs)
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
            upstream[k] = torch.randint(-9, 10, y.shape, generator=generator).double() / 10
            part = (y * upstream[k]).sum()
            total = part if total is None else total + part
        if total is None:
            return {}, dict.fromkeys(self.inputs)
        inputs = [self.values[name] for name in self.inputs]
        found = torch.autograd.grad(total, inputs, allow_unused=True)
        return upstream, dict(zip(self.inputs, found))

    def lines(self):
        self.run()
        attrs = {"inputs": list(self.inputs), "steps": self.steps, "out": self.out}
        text = [f"CASE random/{self.number} program {json.dumps(attrs, separators=(',', ':'))}"]
        inputs = [line("IN", n, x, True) for n, x in self.inputs.items()]
        if self.error is not None:
            return text + [f"ERROR {self.error}"] + inputs + ["END"]
        upstream, gradients = self.gradients()
        outputs = [self.values[name] for name in self.out]
        text.append(f"TOL 1e-10 {tolerance(outputs)} 1e-10 {tolerance(gradients.values())}")
        text += inputs
        text += [line("OUT", f"y{k}", y) for k, y in enumerate(outputs)]
        text += [line("UP", f"y{k}", u) for k, u in upstream.items()]
        return text + [line("GRAD", n, g) for n, g in gradients.items()] + ["END"]


def tolerance(tensors):
    largest = [float(x.detach().abs().max()) for x in tensors if x is not None and x.numel() > 0]
    return f"{1e-10 * max([1.0] + largest):.2g}"


def line(kind, name, x, grad=False):
    if x is None:
        return f"{kind} {name} none"
    numbers = " ".join(f"{v:.13g}" for v in x.detach().flatten().tolist())
    sizes = " ".join(map(str, [x.dim(), *x.shape]))
    return f"{kind} {name} f64 {'grad ' if grad else ''}{sizes} : {numbers}"


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


def draw_step(draw, values):
    """An operation, the names of its arguments and its attributes."""
    name = draw.choice(list(values)[-6:] if draw.random() < 0.7 else list(values))
    x = values[name]
    rank = x.dim()
    axis = draw.randint(-rank, rank - 1) if rank > 0 else None
    op = draw.choice(sorted(OPERATIONS) + UNARY)
    others = list(values)
    if op in UNARY:
        return op, [name], {}
    if op in ("add", "sub", "mul", "div", "matmul"):
        return op, [name, draw.choice(others)], {}
    if op in ("add_scalar", "mul_scalar", "rsub_scalar", "div_scalar"):
        return op, [name], {"c": draw.choice([-1.5, 0.25, 2, 3.5])}
    if op == "pow_scalar":
        return op, [name], {"p": draw.choice([2, 3, 0.5, -1])}
    if op == "clamp":
        return op, [name], {"low": draw.choice([-1, -0.3]), "high": draw.choice([0.4, 1])}
    if op == "reshape":
        sizes = [n for n in x.shape]
        draw.shuffle(sizes)
        if len(sizes) > 1 and draw.random() < 0.5:
            sizes = [sizes[0] * sizes[1]] + sizes[2:]
        if sizes and 0 not in sizes and draw.random() < 0.5:
            sizes[draw.randrange(len(sizes))] = -1
        return op, [name], {"shape": sizes}
    if op == "expand":
        sizes = [draw.randint(1, 4) if n == 1 else n for n in x.shape]
        return op, [name], {"shape": ([draw.randint(1, 3)] if draw.random() < 0.3 else []) + sizes}
    if op == "unsqueeze":
        need(rank < 5)
        return op, [name], {"dim": draw.randint(-rank - 1, rank)}
    if op == "slice":
        need(rank > 0)
        slices = []
        for size in x.shape:
            begin = draw.randint(0, size)
            slices.append([begin, draw.randint(begin, size), draw.randint(1, 3)])
        return op, [name], {"slices": slices}
    if op in ("sum", "mean", "amax"):
        attrs = {"keepdim": draw.random() < 0.5}
        if rank > 0:
            axes = draw.sample(range(rank), draw.randint(1, rank))
            attrs["dim"] = [a - draw.choice([0, rank]) for a in axes]
        need(rank > 0 or op == "sum")
        return op, [name], attrs
    if op == "dropout":
        return op, [name], {"p": draw.choice([0.1, 0.5]), "seed": draw.randint(0, 99), "training": True}
    if op == "mse_loss":
        same = [n for n in others if values[n].shape == x.shape]
        return op, [name, draw.choice(same)], {"reduction": draw.choice(["mean", "sum", "none"])}
    if op == "linear":
        matrices = [n for n in others if values[n].dim() == 2]
        need(matrices)  # PyTorch accepts a vector as the weight; heed refuses it
        return op, [name, draw.choice(matrices)], {}
    if op == "sdpa":
        need(rank >= 2)
        same = [n for n in others if values[n].shape == x.shape]
        return op, [name, draw.choice(same), draw.choice(same)], {
            "causal": draw.random() < 0.5, "inputs": ["q", "k", "v"]}
    need(rank > 0)
    if op == "transpose":
        return op, [name], {"d0": axis, "d1": draw.randint(-rank, rank - 1)}
    if op == "permute":
        return op, [name], {"dims": draw.sample(range(rank), rank)}
    if op == "select":
        need(x.shape[axis] > 0)
        return op, [name], {"dim": axis, "index": draw.randint(-x.shape[axis], x.shape[axis] - 1)}
    if op in ("cat", "stack"):
        same = [n for n in others if values[n].shape == x.shape]
        return op, [draw.choice(same) for _ in range(draw.randint(1, 3))], {"dim": axis}
    if op == "logsumexp":
        return op, [name], {"dim": axis, "keepdim": draw.random() < 0.5}
    return op, [name], {"dim": axis}  # softmax, log_softmax


def try_step(draw, program, refused):
    """Adds a step; one that PyTorch refuses only if `refused`."""
    op, names, attrs = draw_step(draw, program.values)
    if refused and "dim" in attrs and isinstance(attrs["dim"], int) and draw.random() < 0.5:
        attrs["dim"] += draw.choice([-9, 9])
    tensors = [program.values[n] for n in names]
    try:
        value = program.apply(op, names, attrs)
    except (RuntimeError, IndexError, ValueError):
        # The maximum over an axis of size 0 is refused by PyTorch, but by heed and NumPy only if
        # the result has elements.
        need(refused and (op != "amax" or tensors[0].numel() > 0))
        value = None
    if value is not None:
        need(not refused and value.dim() <= 5 and value.numel() <= MOST_ELEMENTS)
        need(smooth(op, attrs, tensors))
        need(bool(torch.isfinite(value).all()))
        need(value.numel() == 0 or float(value.detach().abs().max()) < LARGEST)
    name = f"t{len(program.steps)}"
    program.steps.append([name, op, names, attrs])
    if value is not None:
        program.values[name] = value


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
            try_step(draw, program, refused=False)
        except Unfit:
            pass
    used = {name for _, _, names, _ in program.steps for name in names}
    results = [name for name, *_ in program.steps]
    program.out = ([name for name in results if name not in used][-3:] or results[-1:])
    for _ in range(100 if number % 12 == 0 else 0):
        try:
            try_step(draw, program, refused=True)
            break
        except Unfit:
            pass
    if program.steps[-1][0] not in program.values:
        program.out = [program.steps[-1][0]]
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
        name, _, names, _ = other.steps.pop(i)
        for replacement in names[:1]:
            other.steps = [[n, op, [replacement if a == name else a for a in args], attrs]
                           for n, op, args, attrs in other.steps]
            other.out = [replacement if n == name else n for n in other.out]
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
            other.run()
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
        lines.append(f"Tensor {name}(array_of({{{', '.join(map(str, x.shape))}}}, {{{numbers}}}), true);")
    for name, op, names, attrs in program.steps:
        words = names + [f"/*{key}*/ {json.dumps(value)}" for key, value in attrs.items()]
        lines.append(f"Tensor {name} = {op}({', '.join(words)});")
    return "\n".join(lines + [f"// differs: {', '.join(program.out)}, or a gradient"])


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
