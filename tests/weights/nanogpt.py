#!/usr/bin/python3
"""Loads the ckpt.pt that an export's load.py made into nanoGPT's modules, and continues a text.

    python3 nanogpt.py FOLDER PROMPT COUNT     prints the prompt and COUNT most probable characters
"""
import math
import pickle
import sys

import torch
from torch import nn
from torch.nn import functional as F


class LayerNorm(nn.Module):
    def __init__(self, C, bias):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(C)), nn.Parameter(torch.zeros(C)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, C, H, T, bias):
        super().__init__()
        self.H, self.c_attn, self.c_proj = H, nn.Linear(C, 3 * C, bias=bias), nn.Linear(C, C, bias=bias)
        self.mask = torch.ones(T, T).tril().bool()
        if not hasattr(F, "scaled_dot_product_attention"):
            self.register_buffer("bias", torch.ones(T, T).tril()[None, None])

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (y.view(B, T, self.H, -1).transpose(1, 2) for y in self.c_attn(x).split(C, 2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // self.H)
        y = scores.masked_fill(~self.mask[:T, :T], -math.inf).softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Mlp(nn.Module):
    def __init__(self, C, bias):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(C, 4 * C, bias=bias), nn.Linear(4 * C, C, bias=bias)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, C, H, T, bias):
        super().__init__()
        self.ln_1, self.attn = LayerNorm(C, bias), Attention(C, H, T, bias)
        self.ln_2, self.mlp = LayerNorm(C, bias), Mlp(C, bias)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, n_layer, n_head, n_embd, block_size, bias, vocab_size, dropout):
        super().__init__()
        blocks = [Block(n_embd, n_head, block_size, bias) for _ in range(n_layer)]
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocab_size, n_embd), "wpe": nn.Embedding(block_size, n_embd),
            "h": nn.ModuleList(blocks), "ln_f": LayerNorm(n_embd, bias)})
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens):
        t = self.transformer
        x = t["wte"](tokens) + t["wpe"](torch.arange(tokens.shape[1]))
        for block in t["h"]:
            x = block(x)
        return self.lm_head(t["ln_f"](x))


folder, text, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
checkpoint = torch.load(folder + "/ckpt.pt")
model = GPT(**checkpoint["model_args"])
model.load_state_dict(checkpoint["model"])  # strict
decay = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() <= 1]
torch.optim.AdamW([{"params": decay}, {"params": others}]).load_state_dict(checkpoint["optimizer"])
meta = pickle.load(open(folder + "/meta.pkl", "rb"))
for _ in range(count):
    tokens = torch.tensor([[meta["stoi"][c] for c in text]])
    with torch.no_grad():
        text += meta["itos"][int(model(tokens)[0, -1].argmax())]
print(text)
