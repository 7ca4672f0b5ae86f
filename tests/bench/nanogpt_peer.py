#!/usr/bin/env python3
"""nanogpt_peer.py: trains nanoGPT's own model in PyTorch, without torch.compile, for `heed bench --compare`.

    git clone https://github.com/karpathy/nanoGPT
    NANOGPT=nanoGPT heed bench --compare tests/bench/nanogpt_peer.py

The batches, the optimizer and the output are those of torch_peer.py; model.py is nanoGPT's.
"""

import os
import sys

sys.dont_write_bytecode = True  # no files beside the sources

from torch_peer import OPTIONS, main, torch  # noqa: E402

sys.path.insert(0, os.environ.get("NANOGPT", "nanoGPT"))
try:
    from model import GPT, GPTConfig  # noqa: E402
except ImportError as error:
    sys.exit(f"NANOGPT={sys.path[0]}: give the folder of a clone of nanoGPT ({error})")


class NanoGpt(torch.nn.Module):
    def __init__(self, vocab_size, o):
        super().__init__()
        self.gpt = GPT(GPTConfig(block_size=o.block_size, vocab_size=vocab_size, n_layer=o.layers,
                                 n_head=o.heads, n_embd=o.embed_dim, dropout=0.0, bias=False))

    def loss(self, tokens, targets):
        return self.gpt(tokens, targets)[1]

    def generate(self, count):
        self.gpt.generate(torch.zeros(1, 1, dtype=torch.long), count)


main(OPTIONS, NanoGpt, "nanoGPT, ")
