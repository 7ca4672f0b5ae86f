# train_mlp.py: the PyTorch twin of train_mlp.cpp.
import math
import torch
from torch import nn


def draw_points(N):
    x = torch.randn(N, 2) * 0.05
    label = torch.randint(0, 2, (N,))
    turn = torch.rand(N)
    angle = 7 * turn + math.pi * label
    x[:, 0] += turn * torch.cos(angle)
    x[:, 1] += turn * torch.sin(angle)
    return x, label


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 32)
        self.second = nn.Linear(32, 32)
        self.last = nn.Linear(32, 2)

    def forward(self, x):
        return self.last(torch.relu(self.second(torch.relu(self.first(x)))))


torch.manual_seed(0)
x, label = draw_points(400)
test_x, test_label = draw_points(400)
model = Mlp()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(1, 501):
    loss = nn.functional.cross_entropy(model(x), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}  loss {loss.item():.6g}")
guess = model(test_x).argmax(1)
right = (guess == test_label).float().mean().item()
print(f"right on new points: {right:g}")
