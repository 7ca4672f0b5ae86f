# encoder_decoder.py: the PyTorch twin of encoder_decoder.cpp.
import torch
from torch import nn

B, longest, C, V = 32, 8, 64, 13
padding, start, stop = 10, 11, 12


def draw_batch():
    source = torch.full((B, longest), padding)
    input = torch.full((B, longest + 1), padding)
    target = torch.full((B, longest + 1), padding)
    for b in range(B):
        n = torch.randint(1, longest + 1, ()).item()
        word = torch.randint(0, 10, (n,))
        source[b, :n] = word
        input[b, 0] = start
        input[b, 1:n + 1] = target[b, :n] = word.flip(0)
        target[b, n] = stop
    return source, input, target


class EncoderDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        options = dict(dropout=0, activation="gelu", batch_first=True, norm_first=True)
        self.token = nn.Embedding(V, C)
        self.position = nn.Embedding(longest + 1, C)
        self.encoder = nn.TransformerEncoderLayer(C, 4, 4 * C, **options)
        self.decoder = nn.TransformerDecoderLayer(C, 4, 4 * C, **options)
        self.norm = nn.LayerNorm(C)
        self.head = nn.Linear(C, V)

    def embed(self, tokens):
        return self.token(tokens) + self.position.weight[:tokens.shape[1]]

    def forward(self, source, input):
        T = input.shape[1]
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        words = source == padding
        memory = self.encoder(self.embed(source), src_key_padding_mask=words)
        decoded = self.decoder(self.embed(input), memory, tgt_mask=future,
                               memory_key_padding_mask=words)
        return self.head(self.norm(decoded))


torch.manual_seed(0)
model = EncoderDecoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.002)
for step in range(1, 1001):
    source, input, target = draw_batch()
    logits = model(source, input)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=padding)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1)
    optimizer.step()
    if step % 200 == 0:
        print(f"step {step}  loss {loss.item():.6g}")
