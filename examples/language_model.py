# language_model.py: the PyTorch twin of language_model.cpp, without a KV cache.
import torch
from torch import nn

text = "the cat sat on the mat and the dog ran to the red door . "
letters = " .acdeghmnorst"


def window(first, length):
    return torch.tensor([[letters.index(text[(first + t) % len(text)]) for t in range(length)]])


class GPT(nn.Module):
    def __init__(self, V=len(letters), T=32, layers=2, heads=4, C=32):
        super().__init__()
        self.token, self.position = nn.Embedding(V, C), nn.Embedding(T, C)
        layer = nn.TransformerEncoderLayer(C, heads, 4 * C, dropout=0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers)
        self.norm = nn.LayerNorm(C)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0, 0.02)

    def forward(self, tokens):
        T = tokens.shape[1]
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        x = self.token(tokens) + self.position.weight[:T]
        return self.norm(self.blocks(x, future)) @ self.token.weight.T


torch.manual_seed(0)
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
for step in range(1, 1201):
    first = torch.randint(0, len(text), ()).item()
    logits = model(window(first, 32))
    loss = nn.functional.cross_entropy(logits[0], window(first + 1, 32)[0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 400 == 0:
        print(f"step {step}  loss {loss.item():.6g}")
torch.save(model.state_dict(), "language_model.pt")
copy = GPT()
copy.load_state_dict(torch.load("language_model.pt"))
copy.eval()
with torch.no_grad():
    tokens = window(0, 8)
    for _ in range(24):
        tokens = torch.cat([tokens, copy(tokens)[:, -1:].argmax(-1)], 1)
print("".join(letters[i] for i in tokens[0]))
