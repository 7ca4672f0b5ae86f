# xor.py: the PyTorch twin of xor.cpp.
import torch
from torch import nn

torch.manual_seed(0)
hidden, output = nn.Linear(2, 8), nn.Linear(8, 1)
optimizer = torch.optim.AdamW([*hidden.parameters(), *output.parameters()], lr=0.05)
x = torch.tensor([[0., 0], [0, 1], [1, 0], [1, 1]])
y = torch.tensor([[0.], [1], [1], [0]])
for step in range(300):
    loss = nn.functional.binary_cross_entropy_with_logits(output(torch.tanh(hidden(x))), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step + 1}  loss {loss.item():.6g}")
print(torch.sigmoid(output(torch.tanh(hidden(x)))))
