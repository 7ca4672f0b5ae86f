#!/usr/bin/python3
"""Makes tiny models of Llama's family, with what PyTorch computes from them (see make_models.py).

    python3 tests/weights/make_llamas.py [FOLDER]     default: the folder of this file

The models are in Hugging Face's layout, whose rotary positions pair the halves of a head, and one is
a checkpoint of llama2.c, whose rotary positions pair neighbours.
"""
import json
import os
import struct
import sys

import torch
import torch.nn.functional as F

from make_models import draw, gpt2_vocabulary, record, write


def rms_norm(x, weight, eps):
    return x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight


def rotate_halves(x, theta):
    """As apply_rotary_pos_emb of transformers: x (B, H, T, D)."""
    D = x.shape[-1]
    angles = torch.arange(x.shape[2])[:, None] * theta ** -(torch.arange(0, D, 2) / D)
    angles = torch.cat([angles, angles], -1)
    turned = torch.cat([-x[..., D // 2:], x[..., :D // 2]], -1)
    return x * angles.cos() + turned * angles.sin()


def rotate_neighbours(x, theta):
    """As apply_rotary_emb of Meta's Llama: a multiplication of complex numbers."""
    D = x.shape[-1]
    angles = torch.arange(x.shape[2])[:, None] * theta ** -(torch.arange(0, D, 2) / D)
    turned = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def head_dim(c):
    return c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]


def llama_weights(c, qkv_bias):
    C, I, V, D = c["hidden_size"], c["intermediate_size"], c["vocab_size"], head_dim(c)
    H, K, w = c["num_attention_heads"], c["num_key_value_heads"], {}
    w["model.embed_tokens.weight"] = draw(V, C)
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        for name, rows in {"q": H * D, "k": K * D, "v": K * D}.items():
            w[layer + f"self_attn.{name}_proj.weight"] = draw(rows, C)
            if qkv_bias:
                w[layer + f"self_attn.{name}_proj.bias"] = draw(rows)
        w[layer + "self_attn.o_proj.weight"] = draw(C, H * D)
        for name, shape in {"gate": (I, C), "up": (I, C), "down": (C, I)}.items():
            w[layer + f"mlp.{name}_proj.weight"] = draw(*shape)
        for name in ("input", "post_attention"):
            w[layer + name + "_layernorm.weight"] = 1 + draw(C)
    w["model.norm.weight"] = 1 + draw(C)
    if not c["tie_word_embeddings"]:
        w["lm_head.weight"] = draw(V, C)
    return {name: x.float().double() for name, x in w.items()}


def attention(w, layer, x, c, rotate):
    (B, T, _), H, K, D = x.shape, c["num_attention_heads"], c["num_key_value_heads"], head_dim(c)

    def project(name, heads):
        name = layer + f"self_attn.{name}_proj"
        return F.linear(x, w[name + ".weight"], w.get(name + ".bias")).view(B, T, heads, D).transpose(1, 2)

    q, k, v = rotate(project("q", H), c["rope_theta"]), rotate(project("k", K), c["rope_theta"]), project("v", K)
    k, v = k.repeat_interleave(H // K, 1), v.repeat_interleave(H // K, 1)
    scores = (q @ k.transpose(2, 3) / D ** 0.5).masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
    weights = scores.softmax(-1)
    y = (weights @ v).transpose(1, 2).reshape(B, T, H * D)
    return F.linear(y, w[layer + "self_attn.o_proj.weight"]), weights


def llama_forward(w, c, tokens, rotate):
    eps, hidden, maps = c["rms_norm_eps"], [], []
    x = w["model.embed_tokens.weight"][tokens]
    hidden.append(x)
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        y, weights = attention(w, layer, rms_norm(x, w[layer + "input_layernorm.weight"], eps), c, rotate)
        maps.append(weights)
        x = x + y
        y = rms_norm(x, w[layer + "post_attention_layernorm.weight"], eps)
        gate, up, down = (w[layer + f"mlp.{name}_proj.weight"] for name in ("gate", "up", "down"))
        x = x + F.linear(F.silu(F.linear(y, gate)) * F.linear(y, up), down)
        hidden.append(x)
    x = rms_norm(x, w["model.norm.weight"], eps)
    return hidden, maps, F.linear(x, w.get("lm_head.weight", w["model.embed_tokens.weight"]))


def record_llama(folder, c, weights, rotate):
    tokens = torch.randint(0, c["vocab_size"], (2, 11))
    prompt, greedy = tokens[0, :5], tokens[0, :5].tolist()
    for _ in range(20):
        greedy.append(int(llama_forward(weights, c, torch.tensor([greedy]), rotate)[2][0, -1].argmax()))
    record(folder, lambda w: llama_forward(w, c, tokens, rotate), weights, tokens,
           torch.randint(0, c["vocab_size"], (2, 11)), {"prompt": prompt, "greedy": torch.tensor(greedy[5:])})


def write_shards(folder, stored):
    """Every other tensor in the first of two files, and their index."""
    files = [f"model-0000{i + 1}-of-00002.safetensors" for i in range(2)]
    names = list(stored)
    for i, file in enumerate(files):
        write(f"{folder}/{file}", {name: stored[name] for name in names[i::2]})
    index = {"metadata": {}, "weight_map": {name: files[i % 2] for i, name in enumerate(names)}}
    json.dump(index, open(f"{folder}/model.safetensors.index.json", "w", encoding="utf-8"))


def make_llama(root, name, seed, dtype=torch.float32, qkv_bias=False, shards=False, **config):
    torch.manual_seed(seed)
    c = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": 16,
         "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "max_position_embeddings": 48, "vocab_size": 265, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
         "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False, "rope_scaling": None, **config}
    weights = {n: x.to(dtype).double() for n, x in llama_weights(c, qkv_bias).items()}
    folder = f"{root}/{name}"
    os.makedirs(folder, exist_ok=True)
    json.dump(c, open(f"{folder}/config.json", "w", encoding="utf-8"), indent=1)
    tokens, merges = gpt2_vocabulary(c["vocab_size"])
    json.dump({t: i for i, t in enumerate(tokens)}, open(f"{folder}/vocab.json", "w", encoding="utf-8"))
    open(f"{folder}/merges.txt", "w", encoding="utf-8").write("#version: 0.2\n" + "\n".join(merges) + "\n")
    stored = {name: x.to(dtype) for name, x in weights.items()}
    write_shards(folder, stored) if shards else write(f"{folder}/model.safetensors", stored)
    record_llama(folder, c, weights, rotate_halves)


# ---- llama2.c

def write_checkpoint(path, c, w):
    layers, V = range(c["num_hidden_layers"]), c["vocab_size"]
    sizes = [c["hidden_size"], c["intermediate_size"], c["num_hidden_layers"], c["num_attention_heads"],
             c["num_key_value_heads"], V if c["tie_word_embeddings"] else -V, c["max_position_embeddings"]]
    parts = ["input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
             "post_attention_layernorm", "mlp.gate_proj", "mlp.down_proj", "mlp.up_proj"]
    tensors = [w["model.embed_tokens.weight"]]
    tensors += [w[f"model.layers.{i}.{part}.weight"] for part in parts for i in layers]
    tensors += [w["model.norm.weight"], torch.zeros(c["max_position_embeddings"] * head_dim(c))]
    tensors += [] if c["tie_word_embeddings"] else [w["lm_head.weight"]]
    with open(path, "wb") as file:
        file.write(struct.pack("<7i", *sizes))
        for tensor in tensors:
            file.write(tensor.float().numpy().tobytes())


def write_tokenizer(path, size):
    """Special tokens, bytes, then merges from " t" on and the characters, as llama2.c writes them."""
    pieces = ["<unk>", "\n<s>\n", "\n</s>\n"] + [f"<0x{byte:02X}>" for byte in range(256)]
    pieces += [" t", "he", "in", " the", "er", "re", " a", "on", " ", *"etaoinshrdlu"]
    assert len(pieces) == size, len(pieces)
    with open(path, "wb") as file:
        file.write(struct.pack("<i", max(len(piece) for piece in pieces)))
        for i, piece in enumerate(pieces):
            score = 0.0 if i < 259 else 259.0 - i
            file.write(struct.pack("<fi", score, len(piece)) + piece.encode())


def make_llama2_c(root, name, seed, tied):
    torch.manual_seed(seed)
    c = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 32, "vocab_size": 280, "rms_norm_eps": 1e-5,
         "rope_theta": 10000.0, "tie_word_embeddings": tied}
    weights = llama_weights(c, False)
    folder = f"{root}/{name}"
    os.makedirs(folder, exist_ok=True)
    write_checkpoint(f"{folder}/model.bin", c, weights)
    write_tokenizer(f"{folder}/tokenizer.bin", c["vocab_size"])
    record_llama(folder, c, weights, rotate_neighbours)


def main(root):
    make_llama(root, "llama", 11)
    make_llama(root, "llama_bf16", 12, dtype=torch.bfloat16, shards=True, tie_word_embeddings=True, head_dim=6,
               rope_theta=100000.0, rms_norm_eps=1e-3)
    make_llama(root, "qwen2", 13, dtype=torch.float16, qkv_bias=True, tie_word_embeddings=True, model_type="qwen2",
               architectures=["Qwen2ForCausalLM"], rope_theta=1000000.0, num_key_value_heads=1,
               use_sliding_window=False, sliding_window=4096)
    make_llama2_c(root, "llama2_c", 14, True)
    make_llama2_c(root, "llama2_c_untied", 15, False)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
