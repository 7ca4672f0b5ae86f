"""torch_draws.py: makes random calls in PyTorch and says what numbers came out.

Standard input holds a list of sequences as JSON; tests/golden/draws.hpp says what calls there are:

    [{"seed": 7, "calls": [["rand", [2, 3]], ["linear", 3, 4, true]]}]

Standard output gets, for each call, the numbers of each tensor it made in row-major order, or null
where this PyTorch's numbers depend on the processor. (JSON keeps every bit: Python writes a float
as the shortest decimal that reads back as the same number.)

    {"version": "1.13.1", "sequences": [[[[0.5349, ...]], [[0.0983, ...], [0.1832, ...]]]]}
"""

import json
import os
import sys

os.environ.pop("ATEN_CPU_CAPABILITY", None)  # which could ask for other kernels

try:
    import torch
except (ImportError, OSError) as problem:  # installed, but some library it needs is not
    json.dump({"missing": str(problem)}, sys.stdout)
    sys.exit()


def linear(inputs, outputs, bias):
    return list(torch.nn.Linear(inputs, outputs, bias).parameters())  # weight, bias


CALLS = {
    "rand": torch.rand,
    "randn": torch.randn,
    "uniform": lambda low, high, shape: torch.empty(shape).uniform_(low, high),
    "normal": lambda mean, std, shape: torch.empty(shape).normal_(mean, std),
    "randint": torch.randint,
    "randperm": torch.randperm,
    "bernoulli": lambda p, shape: torch.empty(shape).bernoulli_(p),
    "dropout": lambda p, shape: torch.nn.functional.dropout(torch.ones(shape), p),
    "multinomial": lambda weights, *how: torch.multinomial(torch.tensor(weights), *how),
    "linear": linear,
    "embedding": lambda symbols, size: torch.nn.Embedding(symbols, size).weight,
}

# Wheels with MKL draw these from a stream of MKL's own when the processor is Intel's.
OTHERWISE = {"bernoulli", "dropout"} if torch.backends.mkl.is_available() else set()


def answer(kind, *arguments):
    if kind in OTHERWISE:
        return None
    made = CALLS[kind](*arguments)
    tensors = made if isinstance(made, list) else [made]
    return [tensor.flatten().tolist() for tensor in tensors]


def answers(sequence):
    torch.manual_seed(sequence["seed"])
    return [answer(*call) for call in sequence["calls"]]


sequences = [answers(sequence) for sequence in json.load(sys.stdin)]
json.dump({"version": torch.__version__, "sequences": sequences}, sys.stdout)
