#!/usr/bin/env python3
"""PyTorch trains the model that `heed train` trains, for `heed bench --compare` to take turns with.

    python3 torch_peer.py TEXT --steps 40 --threads 1

The same model and recipe: GPT-2's blocks without biases, the head tied to the token embedding,
AdamW, gradients clipped. A step is batch, loss, backward, clip and update. Prints one line of JSON:

    ms_per_step, p10, p90      over --steps steps, after a fifth as many and two to warm up
    peak_mb                    the most memory the process held by then (1 MB = 2^20 bytes)
    generate_tokens_per_s      with --generate N; the whole window is computed for each symbol
    first_loss, last_loss      of the first batch (about ln V) and of the last
    torch, threads, blas       PyTorch's version, its threads, and the BLAS files it has loaded

Needs PyTorch 1.13 or later. What makes it fast is in its environment, which heed sets: as many
OMP_NUM_THREADS as threads; for two and more the OpenMP flavour of OpenBLAS, whose threads are
PyTorch's own; for long windows a malloc that keeps freed memory.
"""

import argparse
import json
import math
import os
import sys
import time


def options():
    parser = argparse.ArgumentParser(description="Time PyTorch on heed's model.")
    parser.add_argument("text")
    sizes = {"steps": 40, "threads": 1, "block-size": 64, "batch-size": 12, "layers": 4,
             "heads": 4, "embed-dim": 128, "generate": 0, "seed": 1337}
    for name, standard in sizes.items():
        parser.add_argument("--" + name, type=int, default=standard, metavar="N")
    return parser.parse_args()


OPTIONS = options()
# Read when the libraries are loaded, so before PyTorch is.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, str(OPTIONS.threads))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402


class Norm(nn.Module):
    """Layer norm with a gain only; in PyTorch 1.13 the module's own has a bias as well."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.weight)


class Attention(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.heads = heads
        self.packed = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        hidden = torch.full((window, window), -math.inf).triu(diagonal=1) < 0
        self.register_buffer("hidden", hidden, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        queries, keys, values = (part.view(B, T, self.heads, C // self.heads).transpose(1, 2)
                                 for part in self.packed(x).split(C, dim=2))
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2
            mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        else:
            scores = (queries @ keys.transpose(2, 3)) * (C // self.heads) ** -0.5
            mixed = F.softmax(scores.masked_fill(self.hidden[:T, :T], -math.inf), dim=3) @ values
        return self.out(mixed.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.before_attention, self.before_mlp = Norm(width), Norm(width)
        self.attention = Attention(width, heads, window)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.down(F.gelu(self.up(self.before_mlp(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary, o):
        super().__init__()
        self.window = o.block_size
        self.token = nn.Embedding(vocabulary, o.embed_dim)
        self.position = nn.Embedding(o.block_size, o.embed_dim)
        self.blocks = nn.Sequential(
            *[Block(o.embed_dim, o.heads, o.block_size) for _ in range(o.layers)])
        self.norm = Norm(o.embed_dim)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)
        for block in self.blocks:
            for layer in (block.attention.out, block.down):
                nn.init.normal_(layer.weight, std=0.02 / math.sqrt(2 * o.layers))

    def features(self, tokens):
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        return self.norm(self.blocks(x))

    def loss(self, tokens, targets):
        scores = F.linear(self.features(tokens), self.token.weight)
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def write(self, count):
        text = torch.zeros(1, 1, dtype=torch.long)
        for _ in range(count):
            last = self.features(text[:, -self.window:])[:, -1]
            shares = F.softmax(F.linear(last, self.token.weight), dim=1)
            text = torch.cat((text, torch.multinomial(shares, 1)), dim=1)


class Recipe:
    """nanoGPT's for characters on a CPU, as heed's."""

    def __init__(self, model, text, o):
        self.model, self.text, self.o, self.done = model, text, o, 0
        matrices = [p for p in model.parameters() if p.dim() == 2]
        vectors = [p for p in model.parameters() if p.dim() != 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
            lr=1e-3, betas=(0.9, 0.99))
        self.places = torch.arange(o.block_size)

    def batch(self):
        starts = torch.randint(len(self.text) - self.o.block_size, (self.o.batch_size, 1))
        return self.text[starts + self.places], self.text[starts + self.places + 1]

    def rate(self):
        if self.done < 100:
            return 1e-3 * (self.done + 1) / 101
        share = min(1.0, (self.done - 100) / 1900)
        return 1e-4 + 0.5 * (1 + math.cos(math.pi * share)) * 9e-4

    def step(self):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        loss = self.model.loss(*self.batch())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.done += 1
        return loss.item()


def training_part(path):
    """The symbols' number, and the first nine tenths of the text as ids."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read()
    ids = {symbol: i for i, symbol in enumerate(sorted(set(text)))}
    return len(ids), torch.tensor([ids[symbol] for symbol in text[: len(text) * 9 // 10]])


def seconds(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def percentile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def peak_mb():
    """Not ru_maxrss, which begins with what the program that started this one held."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def blas_files():
    with open("/proc/self/maps") as file:
        paths = {line.split()[-1] for line in file if "/" in line}
    return sorted(p for p in paths if "blas" in os.path.basename(p) or "mkl" in os.path.basename(p))


def main(o):
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    vocabulary, text = training_part(o.text)
    if len(text) <= o.block_size:
        sys.exit(f"{o.text}: {len(text)} symbols to train on are too few for --block-size {o.block_size}")
    model = Gpt(vocabulary, o)
    recipe = Recipe(model, text, o)
    losses = [recipe.step() for _ in range(o.steps // 5 + 2)]
    ms = []
    for _ in range(o.steps):
        time_taken, loss = seconds(recipe.step)
        ms.append(1e3 * time_taken)
        losses.append(loss)
    result = {"ms_per_step": percentile(ms, 0.5), "p10": percentile(ms, 0.1),
              "p90": percentile(ms, 0.9), "peak_mb": peak_mb(), "first_loss": losses[0],
              "last_loss": losses[-1], "torch": torch.__version__,
              "threads": torch.get_num_threads(), "blas": blas_files()}
    if o.generate > 0:
        model.write(20)
        result["generate_tokens_per_s"] = o.generate / seconds(lambda: model.write(o.generate))[0]
    print(json.dumps(result))


if __name__ == "__main__":
    main(OPTIONS)
