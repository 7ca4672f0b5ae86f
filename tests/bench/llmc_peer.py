#!/usr/bin/env python3
"""llmc_peer.py: trains a model of heed's size with llm.c on the CPU, for `heed bench --compare`.

    git clone https://github.com/karpathy/llm.c && make -C llm.c train_gpt2
    LLM_C=llm.c/train_gpt2 heed bench --compare tests/bench/llmc_peer.py --only step --batch-size 4

llm.c's train_gpt2 reads the model and the tokens from files with fixed names, which this script writes
to a temporary folder. It always makes 41 steps with batches of 4 x 64 tokens. Its model has biases, and
it does not clip gradients; the matrix products are those of heed's model. The script prints one line
of JSON: ms_per_step, p10 and p90 of the steps after the first ten, peak_mb (at least this script's own,
about 20), and peer.
"""

import array
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no files beside the sources

from peer_tools import options, percentile, vocabulary_and_ids  # noqa: E402


def ints(values):
    return array.array("i", list(values) + [0] * (256 - len(values))).tobytes()


def write(folder, name, *parts):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for part in parts:
            file.write(part)


def weights(vocab, o):
    """All parameters in llm.c's order: normal numbers for matrices, 1 for scales, 0 for biases."""
    C, L = o.embed_dim, o.layers
    draw = random.Random(o.seed).gauss
    matrix, ones, zeros = (lambda n: (draw(0, 0.02) for _ in range(n)), lambda n: [1.0] * n,
                           lambda n: [0.0] * n)
    parts = [(matrix, vocab * C), (matrix, o.block_size * C), (ones, L * C), (zeros, L * C),
             (matrix, L * 3 * C * C), (zeros, L * 3 * C), (matrix, L * C * C), (zeros, L * C),
             (ones, L * C), (zeros, L * C), (matrix, L * 4 * C * C), (zeros, L * 4 * C),
             (matrix, L * 4 * C * C), (zeros, L * C), (ones, C), (zeros, C)]
    return b"".join(array.array("f", make(n)).tobytes() for make, n in parts)


def write_files(folder, o):
    vocab, ids = vocabulary_and_ids(o.text)
    write(folder, "gpt2_124M.bin",
          ints([20240326, 3, o.block_size, vocab, o.layers, o.heads, o.embed_dim, vocab]),
          weights(vocab, o))
    tokens = array.array("H", ids)
    for part in ("train", "val"):
        write(folder, f"dev/data/tinyshakespeare/tiny_shakespeare_{part}.bin",
              ints([20240520, 1, len(tokens)]), tokens.tobytes())
    write(folder, "gpt2_tokenizer.bin", ints([20240328, 2, vocab, 0]), b"\1x" * vocab)


def main(o):
    program = os.environ.get("LLM_C", "llm.c/train_gpt2")
    if not os.access(program, os.X_OK):
        sys.exit(f"LLM_C={program}: is no program; build llm.c with `make train_gpt2`")
    if (o.batch_size, o.block_size) != (4, 64):
        sys.exit("llm.c's batches are 4 x 64: give --only step --batch-size 4 --block-size 64")
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, o)
        done = subprocess.run([os.path.abspath(program)], cwd=folder, capture_output=True, text=True,
                              errors="replace")
    ms = [float(each) for each in re.findall(r"\(took ([0-9.]+) ms\)", done.stdout)][10:]
    if done.returncode != 0 or not ms:
        sys.exit(f"{program} ended with code {done.returncode}: {(done.stderr or done.stdout)[-200:]!r}")
    print(json.dumps({"ms_per_step": percentile(ms, 0.5), "p10": percentile(ms, 0.1),
                      "p90": percentile(ms, 0.9), "peer": "llm.c",
                      "peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}))


main(options("Time llm.c on a model of heed's size."))
