#!/usr/bin/python3
"""Makes tiny GPT-2 and BERT models in Hugging Face's layouts, with what PyTorch computes from them.

    python3 tests/weights/make_models.py [FOLDER]     default: the folder of this file

Weights are drawn with a standard deviation of 0.5, so that every part of a model changes its logits.
expected.safetensors (F64) of each model holds the tokens, the hidden states of each layer, the
attention weights of each layer, the logits, the loss and the gradient of each parameter, computed in
double precision from the stored weights.
"""
import json
import math
import os
import struct
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
TYPES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16",
         torch.int64: "I64", torch.bool: "BOOL", torch.uint8: "U8"}


def write(path, tensors):
    header, blobs, end = {"__metadata__": {"format": "pt"}}, [], 0
    for name, t in tensors.items():
        t = t.detach().contiguous()
        raw = t.view(torch.int16).numpy().tobytes() if t.dtype == torch.bfloat16 else t.numpy().tobytes()
        header[name] = {"dtype": TYPES[t.dtype], "shape": list(t.shape), "data_offsets": [end, end + len(raw)]}
        blobs.append(raw)
        end += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def draw(*shape):
    """Numbers that F32 represents exactly."""
    return (0.5 * torch.randn(*shape)).float().double()


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_erf(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def attend(q, k, v, heads, causal):
    B, T, C = q.shape
    q, k, v = (x.view(B, T, heads, C // heads).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(C // heads)
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -math.inf)
    weights = scores.softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(B, T, C), weights


def norm(w, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)


# ---- GPT-2: matrices (in, out)

def gpt2_weights(c):
    C, w = c["n_embd"], {}
    w["wte.weight"], w["wpe.weight"] = draw(c["vocab_size"], C), draw(c["n_positions"], C)
    for i in range(c["n_layer"]):
        h = f"h.{i}."
        for name, shape in {"attn.c_attn": (C, 3 * C), "attn.c_proj": (C, C), "mlp.c_fc": (C, 4 * C),
                            "mlp.c_proj": (4 * C, C)}.items():
            w[h + name + ".weight"], w[h + name + ".bias"] = draw(*shape), draw(shape[1])
        for name in ("ln_1", "ln_2"):
            w[h + name + ".weight"], w[h + name + ".bias"] = 1 + draw(C), draw(C)
    w["ln_f.weight"], w["ln_f.bias"] = 1 + draw(C), draw(C)
    return {name: x.float().double() for name, x in w.items()}


def gpt2_forward(w, c, tokens):
    act = gelu_erf if c["activation_function"] == "gelu" else gelu_tanh
    eps, hidden, maps = c["layer_norm_epsilon"], [], []
    x = w["wte.weight"][tokens] + w["wpe.weight"][:tokens.shape[1]]
    hidden.append(x)
    for i in range(c["n_layer"]):
        h = f"h.{i}."
        q, k, v = (norm(w, h + "ln_1", x, eps) @ w[h + "attn.c_attn.weight"] + w[h + "attn.c_attn.bias"]).chunk(3, -1)
        y, weights = attend(q, k, v, c["n_head"], True)
        maps.append(weights)
        x = x + y @ w[h + "attn.c_proj.weight"] + w[h + "attn.c_proj.bias"]
        y = act(norm(w, h + "ln_2", x, eps) @ w[h + "mlp.c_fc.weight"] + w[h + "mlp.c_fc.bias"])
        x = x + y @ w[h + "mlp.c_proj.weight"] + w[h + "mlp.c_proj.bias"]
        hidden.append(x)
    return hidden, maps, norm(w, "ln_f", x, eps) @ w["wte.weight"].T


def gpt2_vocabulary(size):
    """The 256 bytes in GPT-2's spelling, then merges of letters."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    tokens = [chr(b) for b in plain] + [chr(256 + i) for i in range(len(others))]
    merges = []
    for pair in ["\u0120 t", "h e", "i n", "r e", "o n", "\u0120t he", "\u0120 a", "e r"]:
        merges.append(pair)
        tokens.append(pair.replace(" ", ""))
    tokens.append("<|endoftext|>")
    assert len(tokens) == size, len(tokens)
    return tokens, merges


def save_gpt2(folder, c, weights, dtype=None, prefix="", extra=None):
    os.makedirs(folder, exist_ok=True)
    json.dump(c, open(f"{folder}/config.json", "w", encoding="utf-8"), indent=1)
    tokens, merges = gpt2_vocabulary(c["vocab_size"])
    json.dump({t: i for i, t in enumerate(tokens)}, open(f"{folder}/vocab.json", "w", encoding="utf-8"))
    open(f"{folder}/merges.txt", "w", encoding="utf-8").write("#version: 0.2\n" + "\n".join(merges) + "\n")
    stored = {prefix + name: x.to(dtype or torch.float32) for name, x in weights.items()}
    write(f"{folder}/model.safetensors", {**stored, **(extra or {})})


# ---- BERT: matrices (out, in)

def bert_weights(c):
    C, I, w = c["hidden_size"], c["intermediate_size"], {}

    def linear(name, n_in, n_out):
        w[name + ".weight"], w[name + ".bias"] = draw(n_out, n_in), draw(n_out)

    def layer_norm(name):
        w[name + ".weight"], w[name + ".bias"] = 1 + draw(C), draw(C)

    for name, rows in {"word": c["vocab_size"], "position": c["max_position_embeddings"],
                       "token_type": c["type_vocab_size"]}.items():
        w[f"embeddings.{name}_embeddings.weight"] = draw(rows, C)
    layer_norm("embeddings.LayerNorm")
    for i in range(c["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            linear(layer + "attention.self." + part, C, C)
        linear(layer + "attention.output.dense", C, C)
        layer_norm(layer + "attention.output.LayerNorm")
        linear(layer + "intermediate.dense", C, I)
        linear(layer + "output.dense", I, C)
        layer_norm(layer + "output.LayerNorm")
    linear("cls.predictions.transform.dense", C, C)
    layer_norm("cls.predictions.transform.LayerNorm")
    w["cls.predictions.bias"] = draw(c["vocab_size"])
    return {name: x.float().double() for name, x in w.items()}


def bert_forward(w, c, tokens, types):
    eps, hidden, maps = c["layer_norm_eps"], [], []

    def linear(name, x):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    e = "embeddings."
    x = (w[e + "word_embeddings.weight"][tokens] + w[e + "position_embeddings.weight"][:tokens.shape[1]] +
         w[e + "token_type_embeddings.weight"][types])
    x = norm(w, e + "LayerNorm", x, eps)
    hidden.append(x)
    for i in range(c["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        q, k, v = (linear(layer + "attention.self." + part, x) for part in ("query", "key", "value"))
        y, weights = attend(q, k, v, c["num_attention_heads"], False)
        maps.append(weights)
        x = norm(w, layer + "attention.output.LayerNorm", x + linear(layer + "attention.output.dense", y), eps)
        y = linear(layer + "output.dense", gelu_erf(linear(layer + "intermediate.dense", x)))
        x = norm(w, layer + "output.LayerNorm", x + y, eps)
        hidden.append(x)
    y = norm(w, "cls.predictions.transform.LayerNorm",
             gelu_erf(linear("cls.predictions.transform.dense", x)), eps)
    return hidden, maps, F.linear(y, w[e + "word_embeddings.weight"], w["cls.predictions.bias"])


WORDS = """i was watching the door when it opened a cat sat on mat . , ? ! he she they saw heard closed window
old man sea wind over under slow ##ly ##ing ##ed ##s""".split()


def bert_vocabulary(size):
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS + list("bcdefgjklmnopqrstuvxyz")
    return tokens + [f"[unused{i}]" for i in range(size - len(tokens))]


def save_bert(folder, c, weights, dtype=None, prefix="", old_names=False, extra=None):
    os.makedirs(folder, exist_ok=True)
    json.dump(c, open(f"{folder}/config.json", "w", encoding="utf-8"), indent=1)
    open(f"{folder}/vocab.txt", "w", encoding="utf-8").write("\n".join(bert_vocabulary(c["vocab_size"])) + "\n")
    stored = {}
    for name, x in weights.items():
        if old_names and "LayerNorm" in name:
            name = name.replace(".weight", ".gamma").replace(".bias", ".beta")
        stored[(prefix if not name.startswith("cls.") else "") + name] = x.to(dtype or torch.float32)
    write(f"{folder}/model.safetensors", {**stored, **(extra or {})})


# ---- what is expected

def record(folder, forward, weights, tokens, targets, more=None):
    parameters = {name: x.clone().requires_grad_() for name, x in weights.items()}
    hidden, maps, logits = forward(parameters)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    loss.backward()
    out = {"tokens": tokens, "targets": targets, "logits": logits, "loss": loss.reshape(1), **(more or {})}
    out.update({f"hidden.{i}": x for i, x in enumerate(hidden)})
    out.update({f"attention.{i}": x for i, x in enumerate(maps)})
    out.update({"gradient." + name: x.grad for name, x in parameters.items()})
    write(f"{folder}/expected.safetensors", {n: t.double() for n, t in out.items()})
    return logits


def greedy(weights, c, prompt, count):
    tokens = list(prompt)
    for _ in range(count):
        window = torch.tensor([tokens[-c["n_positions"]:]])
        tokens.append(int(gpt2_forward(weights, c, window)[2][0, -1].argmax()))
    return tokens[len(prompt):]


def make_gpt2(root, name, seed, act, eps, **save):
    torch.manual_seed(seed)
    c = {"model_type": "gpt2", "n_layer": 2, "n_head": 3, "n_embd": 24, "n_positions": 48, "n_ctx": 48,
         "vocab_size": 265, "activation_function": act, "layer_norm_epsilon": eps, "n_inner": None,
         "attn_pdrop": 0.1, "scale_attn_weights": True, "bos_token_id": 264}
    weights = gpt2_weights(c)
    if save.get("dtype"):
        weights = {n: x.to(save["dtype"]).double() for n, x in weights.items()}
    folder = f"{root}/{name}"
    save_gpt2(folder, c, weights, **save)
    tokens = torch.randint(0, 265, (2, 11))
    prompt = tokens[0, :5]
    record(folder, lambda w: gpt2_forward(w, c, tokens), weights, tokens, torch.randint(0, 265, (2, 11)),
           {"prompt": prompt, "greedy": torch.tensor(greedy(weights, c, prompt.tolist(), 40))})


def make_bert(root, name, seed, **save):
    torch.manual_seed(seed)
    c = {"model_type": "bert", "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
         "intermediate_size": 96, "max_position_embeddings": 32, "type_vocab_size": 2, "vocab_size": 72,
         "layer_norm_eps": 1e-12, "hidden_act": "gelu", "hidden_dropout_prob": 0.1}
    weights = bert_weights(c)
    if save.get("dtype"):
        weights = {n: x.to(save["dtype"]).double() for n, x in weights.items()}
    folder = f"{root}/{name}"
    save_bert(folder, c, weights, **save)
    words = bert_vocabulary(72)
    first = ["[CLS]"] + "i was watching the door when [MASK] opened .".split() + ["[SEP]"]
    second = ["[CLS]", "the", "cat", "[SEP]", "it", "[MASK]", "on", "the", "mat", ".", "[SEP]"]
    tokens = torch.tensor([[words.index(x) for x in s] for s in (first, second)])
    types = torch.tensor([[0] * 11, [0] * 4 + [1] * 7])
    targets = torch.full_like(tokens, -100)
    targets[0, 7], targets[1, 5] = words.index("it"), words.index("sat")
    logits = record(folder, lambda w: bert_forward(w, c, tokens, types), weights, tokens, targets, {"types": types})
    zero = bert_forward(weights, c, tokens[:1], types[:1])[2][0, 7].softmax(-1).topk(5)
    print(name, [(words[i], round(p, 4)) for p, i in zip(zero.values.tolist(), zero.indices.tolist())])


def main(root):
    T = 48
    masks = {f"h.{i}.attn.bias": torch.ones(1, 1, T, T, dtype=torch.uint8).tril() for i in range(2)}
    masks.update({f"h.{i}.attn.masked_bias": torch.tensor(-1e4).float() for i in range(2)})
    make_gpt2(root, "gpt2", 1, "gelu_new", 1e-5)
    make_gpt2(root, "gpt2_prefix", 2, "gelu", 1e-3, prefix="transformer.", extra={"transformer." + n: t for n, t in masks.items()})
    make_gpt2(root, "gpt2_bf16", 3, "gelu_new", 1e-5, dtype=torch.bfloat16)
    make_bert(root, "bert", 4)
    make_bert(root, "bert_old", 5, prefix="bert.", old_names=True, extra={
        "bert.pooler.dense.weight": torch.zeros(24, 24).float(), "bert.pooler.dense.bias": torch.zeros(24).float(),
        "cls.seq_relationship.weight": torch.zeros(2, 24).float(), "cls.seq_relationship.bias": torch.zeros(2).float(),
        "bert.embeddings.position_ids": torch.arange(32)[None]})
    make_bert(root, "bert_f16", 6, dtype=torch.float16)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
