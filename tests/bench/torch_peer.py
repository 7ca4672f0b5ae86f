#!/usr/bin/env python3
"""torch_peer.py: trains the model of `heed train` in PyTorch, for `heed bench --compare`.

    python3 torch_peer.py TEXT --steps 40 --threads 1

The model and the hyperparameters are heed's: GPT-2 blocks without biases, output weights tied to the
token embedding, AdamW, gradient clipping. The same --seed gives the same first weights and batches. A
step is batch, loss, backward, clip and update. The script prints one line of JSON:

    ms_per_step, p10, p90      over --steps steps, after steps / 5 + 2 warm-up steps
    peak_mb                    peak memory of the process so far (1 MB = 2^20 bytes)
    generate_tokens_per_s      only with --generate N; generates without a KV cache
    first_loss, last_loss      losses of the first batch (about ln V) and of the last batch
    peer, threads, blas        PyTorch's version, its number of threads, the BLAS files it loaded

Needs PyTorch 1.13 or later. heed sets environment variables that make PyTorch fast: OMP_NUM_THREADS; with
two or more threads an OpenBLAS built for OpenMP, which uses PyTorch's threads; for long contexts a
malloc that keeps freed memory.
"""

import json
import math
import os
import sys
import time

sys.dont_write_bytecode = True  # no files beside the sources

from peer_tools import options, percentile, vocabulary_and_ids  # noqa: E402

OPTIONS = options("Time PyTorch on heed's model.")
# The libraries read these variables when they are loaded, so set them before importing PyTorch.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, str(OPTIONS.threads))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402


class LayerNorm(nn.Module):
    """Layer norm without a bias, which nn.LayerNorm in PyTorch 1.13 does not offer."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.weight)


class Attention(nn.Module):
    def __init__(self, width, heads, block_size):
        super().__init__()
        self.heads = heads
        self.packed = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        mask = torch.full((block_size, block_size), -math.inf).triu(diagonal=1) < 0
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        queries, keys, values = (part.view(B, T, self.heads, C // self.heads).transpose(1, 2)
                                 for part in self.packed(x).split(C, dim=2))
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2
            context = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        else:
            scores = (queries @ keys.transpose(2, 3)) * (C // self.heads) ** -0.5
            weights = F.softmax(scores.masked_fill(self.mask[:T, :T], -math.inf), dim=3)
            context = weights @ values
        return self.out(context.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, width, heads, block_size):
        super().__init__()
        self.attention_norm, self.mlp_norm = LayerNorm(width), LayerNorm(width)
        self.attention = Attention(width, heads, block_size)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Gpt(nn.Module):
    def __init__(self, vocab_size, o):
        super().__init__()
        self.block_size = o.block_size
        self.token = nn.Embedding(vocab_size, o.embed_dim)
        self.position = nn.Embedding(o.block_size, o.embed_dim)
        self.blocks = nn.Sequential(
            *[Block(o.embed_dim, o.heads, o.block_size) for _ in range(o.layers)])
        self.norm = LayerNorm(o.embed_dim)
        for name, weight in self.named_parameters():  # in heed's order, so a seed gives heed's weights
            if weight.dim() == 2:
                ends_residual = name.endswith((".out.weight", ".down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * o.layers if ends_residual else 1))

    def features(self, tokens):
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        return self.norm(self.blocks(x))

    def loss(self, tokens, targets):
        logits = F.linear(self.features(tokens), self.token.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(self, count):
        tokens = torch.zeros(1, 1, dtype=torch.long)
        for _ in range(count):
            last = self.features(tokens[:, -self.block_size:])[:, -1]
            probabilities = F.softmax(F.linear(last, self.token.weight), dim=1)
            tokens = torch.cat((tokens, torch.multinomial(probabilities, 1)), dim=1)


class Training:
    """A training run with nanoGPT's hyperparameters for characters on a CPU."""

    def __init__(self, model, tokens, o):
        self.model, self.tokens, self.o, self.steps_done = model, tokens, o, 0
        matrices = [p for p in model.parameters() if p.dim() == 2]
        vectors = [p for p in model.parameters() if p.dim() != 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
            lr=1e-3, betas=(0.9, 0.99))
        self.positions = torch.arange(o.block_size)

    def batch(self):
        starts = torch.randint(len(self.tokens) - self.o.block_size, (self.o.batch_size, 1))
        return self.tokens[starts + self.positions], self.tokens[starts + self.positions + 1]

    def learning_rate(self):
        if self.steps_done < 100:
            return 1e-3 * (self.steps_done + 1) / 101
        progress = min(1.0, (self.steps_done - 100) / 1900)
        return 1e-4 + 0.5 * (1 + math.cos(math.pi * progress)) * 9e-4

    def step(self):
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        loss = self.model.loss(*self.batch())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.steps_done += 1
        return loss.item()


def training_tokens(path):
    vocab_size, ids = vocabulary_and_ids(path)
    return vocab_size, torch.tensor(ids)


def seconds(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def peak_mb():
    """The peak memory of this process. ru_maxrss would count the parent's memory before exec."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def blas_files():
    with open("/proc/self/maps") as file:
        paths = {line.split()[-1] for line in file if "/" in line}
    return sorted(p for p in paths if "blas" in os.path.basename(p) or "mkl" in os.path.basename(p))


def main(o, make_model=Gpt, name=""):
    """Trains make_model(vocab_size, o), which has the methods loss and generate of Gpt."""
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    vocab_size, tokens = training_tokens(o.text)
    if len(tokens) <= o.block_size:
        sys.exit(f"{o.text}: {len(tokens)} training tokens are too few for --block-size {o.block_size}")
    model = make_model(vocab_size, o)
    torch.manual_seed(o.seed)  # heed draws the batches with a generator of their own
    training = Training(model, tokens, o)
    losses = [training.step() for _ in range(o.steps // 5 + 2)]
    ms = []
    for _ in range(o.steps):
        time_taken, loss = seconds(training.step)
        ms.append(1e3 * time_taken)
        losses.append(loss)
    result = {"ms_per_step": percentile(ms, 0.5), "p10": percentile(ms, 0.1),
              "p90": percentile(ms, 0.9), "peak_mb": peak_mb(), "first_loss": losses[0],
              "last_loss": losses[-1], "peer": f"{name}PyTorch {torch.__version__}",
              "threads": torch.get_num_threads(), "blas": blas_files()}
    if o.generate > 0:
        model.generate(20)
        result["generate_tokens_per_s"] = o.generate / seconds(lambda: model.generate(o.generate))[0]
    print(json.dumps(result))


if __name__ == "__main__":
    main(OPTIONS)
