# bahdanau_attention.py: the PyTorch twin of bahdanau_attention.cpp.
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.W = nn.Linear(width, width)
        self.U = nn.Linear(width, width)
        self.v = nn.Linear(width, 1, bias=False)

    def forward(self, query, keys, values):
        weights = torch.softmax(self.v(torch.tanh(self.W(query) + self.U(keys))).squeeze(-1), -1)
        return (weights.unsqueeze(-1) * values).sum(1), weights


B, S, C, V = 64, 6, 32, 10
torch.manual_seed(0)
key, value = nn.Embedding(S, C), nn.Embedding(V, C)
attention = AdditiveAttention(C)
output = nn.Linear(C, V)
modules = nn.ModuleList([key, value, attention, output])
optimizer = torch.optim.AdamW(modules.parameters(), lr=0.01)
for step in range(1, 501):
    values, query = torch.randint(0, V, (B, S)), torch.randint(0, S, (B,))
    keys = torch.stack([torch.randperm(S) for _ in range(B)])
    target = values[keys == query[:, None]]
    found, weights = attention(key(query).unsqueeze(1), key(keys), value(values))
    loss = nn.functional.cross_entropy(output(found), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}  loss {loss.item():.6g}")
