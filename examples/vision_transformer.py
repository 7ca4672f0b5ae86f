# vision_transformer.py: the PyTorch twin of vision_transformer.cpp.
import torch
from torch import nn


class VisionTransformer(nn.Module):
    def __init__(self, size, patch, C):
        super().__init__()
        self.patches = nn.Conv2d(1, C, patch, stride=patch)
        self.class_token = nn.Parameter(torch.randn(1, 1, C))
        self.positions = nn.Parameter(torch.randn((size // patch) ** 2 + 1, C))
        layer = nn.TransformerEncoderLayer(C, 4, 4 * C, dropout=0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2)
        self.norm = nn.LayerNorm(C)
        self.head = nn.Linear(C, 2)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.blocks(x)[:, 0]))


B, size = 32, 16
torch.manual_seed(0)
model = VisionTransformer(size, 4, 32)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.002)
for step in range(1, 201):
    label, place = torch.randint(0, 2, (B,)), torch.randint(0, size, (B,))
    images = torch.randn(B, 1, size, size)
    for b in range(B):
        if label[b] == 0:
            images[b, 0, place[b]] += 2
        else:
            images[b, 0, :, place[b]] += 2
    logits = model(images)
    loss = nn.functional.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        right = (logits.argmax(1) == label).sum().item()
        print(f"step {step}  loss {loss.item():.6g}  right {right} of {B}")
