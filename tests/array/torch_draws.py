"""torch_draws.py: calls PyTorch's random functions and prints the numbers that they return.

Standard input is a list of sequences as JSON; tests/golden/draws.hpp lists the calls:

    [{"seed": 7, "calls": [["rand", [2, 3]], ["linear", 3, 4, true]]}]

Standard output has, for each call, the numbers of each resulting tensor in row-major order, or null
if the numbers of the installed PyTorch depend on the processor. (JSON keeps every bit: Python writes
a float as the shortest decimal that reads back as the same number.)

    {"version": "1.13.1", "sequences": [[[[0.5349, ...]], [[0.0983, ...], [0.1832, ...]]]]}
"""

import json
import os
import sys

os.environ.pop("ATEN_CPU_CAPABILITY", None)  # it could select other kernels

try:
    import torch
except (ImportError, OSError) as problem:  # it may be installed without a library that it needs
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
    "multinomial": lambda weights, *rest: torch.multinomial(torch.tensor(weights), *rest),
    "linear": linear,
    "embedding": lambda tokens, size: torch.nn.Embedding(tokens, size).weight,
}

# On Intel processors, PyTorch wheels with MKL draw these from MKL's own generator.
SKIPPED = {"bernoulli", "dropout"} if torch.backends.mkl.is_available() else set()


def run_call(kind, *arguments):
    if kind in SKIPPED:
        return None
    result = CALLS[kind](*arguments)
    tensors = result if isinstance(result, list) else [result]
    return [tensor.flatten().tolist() for tensor in tensors]


def run_sequence(sequence):
    torch.manual_seed(sequence["seed"])
    return [run_call(*call) for call in sequence["calls"]]


sequences = [run_sequence(sequence) for sequence in json.load(sys.stdin)]
json.dump({"version": torch.__version__, "sequences": sequences}, sys.stdout)
