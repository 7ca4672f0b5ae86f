#!/usr/bin/python3
"""library.py: writes library.txt (float32) and library64.txt (float64), with PyTorch's results for
losses, clamp, where, topk, gather, rms_norm, silu, rotary embedding, padded and grouped attention,
patch embedding, SwiGLU, blocks of a decoder and of Llama, and initial values, in the format of
file.hpp.

    /usr/bin/python3 tests/golden/library.py        # needs PyTorch 1.13 and NumPy

The random numbers of a case depend only on its id, so a new case does not change the others.
"""
import json
import pathlib
import zlib

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.stateless import functional_call

inf, nan = float("inf"), float("nan")
CASES = []  # (id, operation, arrays by name, attributes)


def case(id, op, arrays, **attrs):
    """`arrays` is a function of a random generator, or a dict of arrays by name."""
    assert id not in [other[0] for other in CASES], id
    random = np.random.RandomState(zlib.crc32(id.encode()))
    CASES.append((id, op, arrays(random) if callable(arrays) else arrays, attrs))


def values(random, shape, low=-2.0, high=2.0):
    return np.asarray(np.round(random.uniform(low, high, size=shape), 3), np.float32)


def distinct(random, shape):
    count = int(np.prod(shape))
    return (random.permutation(count).reshape(shape) * 0.25 - 2).astype(np.float32)


def listed(*numbers):
    return np.array(numbers, np.float32)


# ---- the operations: f(tensors by name, attributes) -> list of outputs


def rms_norm(t, attrs):
    axes = tuple(range(-len(attrs["normalized_shape"]), 0))
    eps = attrs.get("eps", torch.finfo(t["x"].dtype).eps)
    y = t["x"] / torch.sqrt((t["x"] ** 2).mean(axes, keepdim=True) + eps)
    return [y * t["weight"] if "weight" in t else y]


def padded_attention(t, attrs):
    width = t["query"].shape[-1]
    layer = torch.nn.MultiheadAttention(width, attrs["heads"], batch_first=True)
    memory = t.get("memory", t["query"])
    T, S = t["query"].shape[1], memory.shape[1]
    causal = torch.ones(T, S, dtype=torch.bool).triu(1) if attrs.get("causal") else None
    state = {name: t[name.replace(".", "_")] for name, _ in layer.named_parameters()}
    options = dict(key_padding_mask=t["key_padding"], attn_mask=causal, average_attn_weights=False)
    return list(functional_call(layer, state, (t["query"], memory, memory), options))


def patch_embedding(t, attrs):
    y = F.conv2d(t["images"], t["weight"], t["bias"], stride=t["weight"].shape[-1])
    return [y.flatten(2).transpose(1, 2)]


def decoder_block(t, attrs):
    B, T, C = t["x"].shape
    layer = torch.nn.TransformerDecoderLayer(C, attrs["heads"], 4 * C, dropout=0, activation="gelu",
                                             batch_first=True, norm_first=True)
    state = {name: t[name] for name, _ in layer.named_parameters()}
    masks = dict(tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1),
                 tgt_key_padding_mask=t.get("padding"),
                 memory_key_padding_mask=t.get("memory_padding"))
    return [functional_call(layer, state, (t["x"], t["memory"]), masks)]


def rotary_embedding(x, heads=1, first=0, base=10000.0, halves=False, dim=0):
    """Rotates the pairs (2i, 2i + 1) of each head of x (B, T, C); `halves`: (i, i + D / 2). With
    `dim`, D is dim, and the other elements of a head are unchanged."""
    B, T, C = x.shape
    x = x.view(B, T, heads, C // heads)
    D = dim or C // heads
    x, rest = x[..., :D], x[..., D:]
    frequencies = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angles = (first + torch.arange(T, dtype=torch.float64))[:, None, None] * frequencies
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, 1, D / 2)
    if halves:  # as apply_rotary_pos_emb of transformers
        turned = torch.cat([-x[..., D // 2:], x[..., :D // 2]], -1)
        rotated = x * torch.cat([cos, cos], -1) + turned * torch.cat([sin, sin], -1)
    else:
        a, b = x[..., 0::2], x[..., 1::2]
        rotated = torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
    return torch.cat([rotated, rest], -1).reshape(B, T, C)


def split_heads(x, heads):
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def grouped_attention(q, k, v, heads, kv_heads, causal=False, window=0, key_padding=None):
    """The output (B, T, C) and the weights (B, H, T, S)."""
    T, S = q.shape[1], k.shape[1]
    q = split_heads(q, heads)
    k, v = (split_heads(x, kv_heads).repeat_interleave(heads // kv_heads, 1) for x in (k, v))
    t, s = torch.arange(T)[:, None], torch.arange(S)
    masked = (s > t) if causal else torch.zeros(T, S, dtype=torch.bool)
    if window > 0:
        masked = masked | (s + window <= t)
    masked = masked.expand(len(q), 1, T, S)
    if key_padding is not None:
        masked = masked | key_padding[:, None, None, :]
    scores = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).masked_fill(masked, -inf)
    weights = scores.softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(len(q), T, -1), weights


def swiglu(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def llama_block(t, attrs):
    """A block of Llama: RMSNorm, rotary embedding, grouped queries, SwiGLU, no biases."""
    heads, kv_heads = attrs["heads"], attrs["kv_heads"]

    def norm(x, weight):
        return x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-5) * weight

    x = t["x"]
    h = norm(x, t["norm1"])
    rotary = {key: attrs[key] for key in ("base", "halves", "dim") if key in attrs}
    q, k, v = (F.linear(h, t[name], t.get(name + "_bias")) for name in ("query", "key", "value"))
    q, k = rotary_embedding(q, heads, **rotary), rotary_embedding(k, kv_heads, **rotary)
    x = x + F.linear(grouped_attention(q, k, v, heads, kv_heads, causal=True)[0], t["out"])
    return [x + swiglu(norm(x, t["norm2"]), t["gate"], t["up"], t["down"])]


def initial_values(t, attrs):
    torch.manual_seed(attrs["seed"])
    fill = getattr(torch.nn.init, attrs["function"])
    return [fill(torch.empty(shape), *attrs["args"]) for shape in attrs["shapes"]]


OPERATIONS = {
    "mse_loss": lambda t, a: [F.mse_loss(t["input"], t["target"], reduction=a["reduction"])],
    "binary_cross_entropy_with_logits": lambda t, a: [
        F.binary_cross_entropy_with_logits(t["input"], t["target"], reduction=a["reduction"])],
    "huber_loss": lambda t, a: [F.huber_loss(t["input"], t["target"], reduction=a["reduction"],
                                             delta=a.get("delta", 1.0))],
    "clamp": lambda t, a: [torch.clamp(t["x"], float(a["low"]), float(a["high"]))],
    "where": lambda t, a: [torch.where(t["condition"], t["a"], t["b"])],
    "topk": lambda t, a: list(torch.topk(t["x"], a["k"], dim=a["dim"])),
    "gather": lambda t, a: [torch.gather(t["x"], a["dim"], t["indices"])],
    "argmax": lambda t, a: [torch.argmax(t["x"], dim=a["dim"])],
    "dropout": lambda t, a: [F.dropout(t["x"], a["p"], True)],
    "rms_norm": rms_norm,
    "silu": lambda t, a: [F.silu(t["x"])],
    "rotary_embedding": lambda t, a: [
        rotary_embedding(t["x"], a["heads"], a["first"], a["base"], a.get("halves", False),
                         a.get("dim", 0))],
    "grouped_attention": lambda t, a: list(grouped_attention(
        t["q"], t["k"], t["v"], a["heads"], a["kv_heads"], a["causal"], a["window"],
        t.get("key_padding"))),
    "swiglu": lambda t, a: [swiglu(t["x"], t["gate"], t["up"], t["down"])],
    "llama_block": llama_block,
    "padded_attention": padded_attention,
    "patch_embedding": patch_embedding,
    "decoder_block": decoder_block,
    "init": initial_values,
}

# ---- the cases


def text(shape):
    return "x".join(map(str, shape)) or "scalar"


def add_losses():
    for loss in ["mse_loss", "binary_cross_entropy_with_logits", "huber_loss"]:
        for reduction in ["mean", "sum", "none"]:
            for shape in [(), (1,), (5,), (3, 4), (2, 3, 2), (2, 1, 3, 2), (0,), (3, 0)]:
                case(f"{loss}/{reduction}_{text(shape)}", loss,
                     lambda r: dict(input=values(r, shape), target=values(r, shape, 0, 1)),
                     reduction=reduction)
        for name, inputs, targets in [
                ("large", [100, -100, 100, -100, 1e4, -1e4, 1e4, -1e4], [1, 1, 0, 0, 0, 1, 1, 0]),
                ("overflow", [1e20, -1e20, 1e20, 0], [0.5, 0.5, -1e20, 0]),
                ("inf_nan", [inf, -inf, nan, 1], [0.5, 0.5, 0.5, nan]),
                ("at_zero", [0, -0.0, 1], [0, 1, 1])]:
            case(f"{loss}/{name}", loss, dict(input=listed(*inputs), target=listed(*targets)),
                 reduction="none")
        case(f"error/{loss}_shapes", loss,
             lambda r: dict(input=values(r, (2, 3)), target=values(r, (4,))), reduction="mean")
    for loss in ["mse_loss", "huber_loss"]:
        case(f"{loss}/infinite_target", loss, dict(input=listed(1, -1), target=listed(inf, -inf)),
             reduction="none")
    for delta in [0.25, 1.0, 3.0]:
        errors = listed(delta, -delta, 0, 2 * delta, -5 * delta)
        case(f"huber_loss/at_delta_{delta}", "huber_loss",
             dict(input=errors, target=np.zeros_like(errors)), reduction="none", delta=delta)


def add_elementwise():
    special = listed(-1, 1, 0.5, -0.5, 0, -0.0, inf, -inf, nan, 1e20, 1.0000001)
    for name, low, high in [("inside", -1, 1), ("no_low", "-inf", 0.5), ("no_high", -0.5, "inf"),
                            ("low_above_high", 1, -1), ("equal", 0.5, 0.5),
                            ("no_limit", "-inf", "inf")]:
        for shape in [(), (3, 4), (0, 2)]:
            case(f"clamp/{name}_{text(shape)}", "clamp", lambda r: dict(x=values(r, shape)),
                 low=low, high=high)
        case(f"clamp/{name}_special", "clamp", dict(x=special), low=low, high=high)
    for c, a, b in [((), (), ()), ((3,), (3,), (3,)), ((2, 1, 3), (4, 1), (1, 3)),
                    ((2, 3), (), (3,)), ((), (2, 3), (3,)), ((3, 1), (1, 4), (2, 1, 1)),
                    ((0, 3), (3,), ()), ((1,), (1, 1), (2, 1, 1))]:
        case(f"where/{text(c)}_{text(a)}_{text(b)}", "where",
             lambda r: dict(condition=r.uniform(size=c) < 0.5, a=values(r, a), b=values(r, b)))
    case("where/inf_nan", "where", dict(condition=np.array([1, 0, 1, 0], bool),
                                        a=listed(1, nan, inf, inf), b=listed(nan, 2, nan, -inf)))
    for name, c, b in [("a_b", (2, 3), (4,)), ("condition", (4,), (3,))]:
        case(f"error/where_{name}", "where",
             lambda r: dict(condition=np.ones(c, bool), a=values(r, (2, 3)), b=values(r, b)))
    for p in [-0.5, 1.5]:
        case(f"error/dropout_{p}", "dropout", lambda r: dict(x=values(r, (2, 3))), p=p,
             training=True, seed=1)


def add_silu():
    for shape in [(), (3, 4), (2, 3, 5), (0, 2)]:
        case(f"silu/{text(shape)}", "silu", lambda r: dict(x=values(r, shape, -6, 6)))
    case("silu/special", "silu", dict(x=listed(0, -0.0, 1e20, inf, nan, 90, -80, 1e-20)))


def random_indices(random, shape, dim, k):
    """Indices of the shape's axis `dim`, k of them along this axis."""
    sizes = list(shape)
    sizes[dim] = k
    return random.randint(0, shape[dim], sizes)


def add_selections():
    for shape, dim in [((5,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((2, 4, 3), -2),
                       ((2, 2, 3, 2), 2)]:
        name, n = f"{text(shape)}_dim{dim}", shape[dim]
        for k in sorted({0, 1, 2, n}):
            case(f"topk/{name}_k{k}", "topk", lambda r: dict(x=distinct(r, shape)), k=k, dim=dim)
        for k in [0, 1, n, n + 2]:
            case(f"gather/{name}_k{k}", "gather",
                 lambda r: dict(x=values(r, shape), indices=random_indices(r, shape, dim, k)),
                 dim=dim)
        case(f"argmax/{name}", "argmax", lambda r: dict(x=distinct(r, shape)), dim=dim)
    case("topk/inf_nan", "topk", dict(x=listed(1, inf, nan, -inf, 2)), k=5, dim=0)
    case("argmax/ties", "argmax", dict(x=listed([1, 3, 3], [5, 5, 5])), dim=1)
    case("argmax/nan", "argmax", dict(x=listed([1, nan, 3], [inf, nan, nan])), dim=1)
    case("argmax/scalar", "argmax", dict(x=np.float32(2)), dim=0)
    case("error/topk_k", "topk", lambda r: dict(x=distinct(r, (2, 3))), k=4, dim=1)
    for name, indices in [("3", np.full((2, 3), 3)), ("-1", np.full((2, 3), -1)),
                          ("rank", np.zeros((3,), int))]:
        case(f"error/gather_{name}", "gather",
             lambda r: dict(x=values(r, (2, 3)), indices=indices), dim=1)


def add_norms():
    for x, last in [((4,), (4,)), ((3, 5), (5,)), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 4)),
                    ((0, 3), (3,)), ((2, 1), (1,))]:
        for name, eps in [("default", {}), ("1e-6", dict(eps=1e-6)), ("0.5", dict(eps=0.5))]:
            for inputs in [["x", "weight"], ["x"]]:
                case(f"rms_norm/{text(x)}_{text(last)}_{name}_{'_'.join(inputs)}", "rms_norm",
                     lambda r: {n: values(r, x if n == "x" else last) for n in inputs},
                     inputs=inputs, normalized_shape=list(last), **eps)
    for name, x in [("zeros", listed([0, 0], [0, 0])), ("large", listed([1e4, -3e4], [2e4, 1])),
                    ("nan", listed([1, nan], [2, 3]))]:
        case(f"rms_norm/{name}", "rms_norm", dict(x=x), inputs=["x"], normalized_shape=[2],
             eps=1e-6)
    case("error/rms_norm_weight", "rms_norm",
         lambda r: dict(x=values(r, (2, 4)), weight=values(r, (3,))), inputs=["x", "weight"],
         normalized_shape=[4])


def padded_keys(random, B, S):
    """True where the key is padding. Key 0 of a row is never padding."""
    return np.arange(S) >= random.randint(1, S + 1, (B, 1))


def weights(random, shapes):
    return {name: values(random, shape, -1, 1) for name, shape in shapes.items()}


def attention_arrays(random, B, T, S, C):
    arrays = dict(query=values(random, (B, T, C)), key_padding=padded_keys(random, B, S))
    if S != T:
        arrays["memory"] = values(random, (B, S, C))
    return {**arrays, **weights(random, dict(in_proj_weight=(3 * C, C), in_proj_bias=(3 * C,),
                                             out_proj_weight=(C, C), out_proj_bias=(C,)))}


def decoder_arrays(random, B, T, S, C, H, padded):
    arrays = dict(x=values(random, (B, T, C)), memory=values(random, (B, S, C)))
    if padded:
        arrays.update(padding=padded_keys(random, B, T), memory_padding=padded_keys(random, B, S))
    layer = torch.nn.TransformerDecoderLayer(C, H, 4 * C)
    return {**arrays, **weights(random, {n: p.shape for n, p in layer.named_parameters()})}


def add_layers():
    for B, C, P, rows, columns, E in [(1, 1, 1, 2, 2, 1), (2, 3, 2, 2, 3, 5), (1, 2, 3, 1, 1, 4),
                                      (2, 1, 2, 3, 1, 3), (0, 1, 2, 1, 2, 3)]:
        case(f"patch_embedding/{B}x{C}_{P}_{rows}x{columns}_{E}", "patch_embedding",
             lambda r: dict(images=values(r, (B, C, rows * P, columns * P)),
                            **weights(r, dict(weight=(E, C, P, P), bias=(E,)))), patch_size=P)
    for B, T, S, C, H, causal in [(2, 3, 3, 4, 2, True), (2, 3, 5, 4, 2, False),
                                  (1, 2, 4, 3, 1, False), (3, 4, 4, 6, 3, False),
                                  (2, 3, 3, 4, 1, True)]:
        case(f"padded_attention/{B}x{T}x{S}x{C}_{H}", "padded_attention",
             lambda r: attention_arrays(r, B, T, S, C), heads=H, causal=causal)
    for B, T, S, C, H, padded in [(2, 3, 4, 4, 2, True), (1, 4, 2, 6, 3, False),
                                  (2, 2, 3, 4, 1, True), (1, 1, 1, 2, 2, False)]:
        case(f"decoder_block/{B}x{T}x{S}x{C}_{H}", "decoder_block",
             lambda r: decoder_arrays(r, B, T, S, C, H, padded), heads=H)


def grouped_arrays(random, B, T, S, D, heads, kv_heads, padded):
    arrays = dict(q=values(random, (B, T, heads * D)), k=values(random, (B, S, kv_heads * D)),
                  v=values(random, (B, S, kv_heads * D)))
    if padded:
        arrays["key_padding"] = padded_keys(random, B, S)
    return arrays


def llama_arrays(random, B, T, C, heads, kv_heads, head_dim=0, hidden=0, qkv_bias=False):
    D, hidden = head_dim or C // heads, hidden or 8 * ((C + 2) // 3)
    wide, narrow = heads * D, kv_heads * D
    shapes = dict(norm1=(C,), query=(wide, C), key=(narrow, C), value=(narrow, C), out=(C, wide),
                  norm2=(C,), gate=(hidden, C), up=(hidden, C), down=(C, hidden))
    if qkv_bias:
        shapes.update(query_bias=(wide,), key_bias=(narrow,), value_bias=(narrow,))
    return dict(x=values(random, (B, T, C)), **weights(random, shapes))


def add_llama():
    for shape, heads, first, base in [((1, 3, 2), 1, 0, 10000.0), ((2, 4, 8), 1, 0, 10000.0),
                                      ((2, 4, 8), 2, 3, 10000.0), ((1, 5, 12), 3, 100, 500.0),
                                      ((2, 1, 4), 2, 7, 10000.0), ((0, 2, 4), 1, 0, 10000.0)]:
        case(f"rotary_embedding/{text(shape)}_{heads}_{first}_{base:g}", "rotary_embedding",
             lambda r: dict(x=values(r, shape)), heads=heads, first=first, base=base)
    case("error/rotary_embedding_odd", "rotary_embedding", lambda r: dict(x=values(r, (1, 2, 6))),
         heads=2, first=0, base=10000.0)
    for shape, heads, first, options in [
            ((2, 4, 8), 1, 0, dict(halves=True)), ((2, 4, 12), 3, 5, dict(halves=True)),
            ((1, 3, 12), 2, 2, dict(halves=True, dim=4)), ((2, 3, 10), 2, 1, dict(dim=4)),
            ((1, 4, 6), 2, 3, dict(dim=2)), ((0, 2, 4), 1, 0, dict(halves=True))]:
        name = "_".join(f"{key}{value:d}" for key, value in options.items())
        case(f"rotary_embedding/{text(shape)}_{heads}_{first}_{name}", "rotary_embedding",
             lambda r: dict(x=values(r, shape)), heads=heads, first=first, base=500.0, **options)
    case("error/rotary_embedding_dim", "rotary_embedding", lambda r: dict(x=values(r, (1, 2, 8))),
         heads=2, first=0, base=10000.0, dim=6)
    for B, T, S, D, heads, kv_heads in [(2, 3, 3, 2, 2, 1), (1, 4, 4, 3, 4, 2), (2, 5, 5, 2, 4, 1),
                                        (2, 4, 4, 2, 2, 2), (1, 6, 6, 4, 6, 3)]:
        for causal, window, padded in [(False, 0, False), (True, 0, False), (False, 0, True),
                                       (True, 2, False), (True, 0, True)]:
            name = f"{B}x{T}x{S}x{D}_{heads}_{kv_heads}"
            name += causal * "_causal" + bool(window) * f"_window{window}" + padded * "_padded"
            case(f"grouped_attention/{name}", "grouped_attention",
                 lambda r: grouped_arrays(r, B, T, S, D, heads, kv_heads, padded), heads=heads,
                 kv_heads=kv_heads, causal=causal, window=window)
    for B, T, S, heads, kv_heads in [(2, 3, 5, 2, 1), (1, 4, 2, 4, 2)]:
        case(f"grouped_attention/{B}x{T}x{S}x3_{heads}_{kv_heads}_padded", "grouped_attention",
             lambda r: grouped_arrays(r, B, T, S, 3, heads, kv_heads, True), heads=heads,
             kv_heads=kv_heads, causal=False, window=0)
    for shape, hidden in [((3, 3), 8), ((2, 3, 4), 16), ((1, 1, 2, 6), 16)]:
        C = shape[-1]
        case(f"swiglu/{text(shape)}_{hidden}", "swiglu",
             lambda r: dict(x=values(r, shape), **weights(r, dict(
                 gate=(hidden, C), up=(hidden, C), down=(C, hidden)))))
    for B, T, C, heads, kv_heads in [(2, 3, 8, 4, 2), (1, 5, 8, 2, 1), (2, 4, 6, 3, 3),
                                     (1, 1, 4, 1, 1)]:
        case(f"llama_block/{B}x{T}x{C}_{heads}_{kv_heads}", "llama_block",
             lambda r: llama_arrays(r, B, T, C, heads, kv_heads), heads=heads, kv_heads=kv_heads)
    rotary = [dict(base=500.0), dict(halves=True), dict(base=1e6, halves=True, dim=2), dict(dim=4)]
    sizes = [dict(head_dim=6), dict(head_dim=4, hidden=5), dict(hidden=20), dict(qkv_bias=True)]
    for i, (options, shape) in enumerate(zip(rotary, sizes)):
        case(f"llama_block/variant{i}", "llama_block",
             lambda r: llama_arrays(r, 2, 4, 8, 2, 1, **shape), heads=2, kv_heads=1, **options,
             **shape)


def add_initial_values():
    for function, arguments in [("uniform_", [[], [-2, 0.5]]), ("normal_", [[], [1, 0.25]]),
                                ("xavier_uniform_", [[], [2.5]]),
                                ("kaiming_uniform_", [[], [0.75]])]:
        for args in arguments:
            for shapes in [[(3, 4)], [(5, 4, 3)], [(20, 16)], [(3, 1), (4, 5), (1, 3)]]:
                id = "_".join([f"init/{function}", *map(str, args), *map(text, shapes)])
                case(id, "init", {}, function=function, args=args, seed=1337, shapes=shapes)
    for function in ["xavier_uniform_", "kaiming_uniform_"]:
        case(f"error/{function}vector", "init", {}, function=function, args=[], seed=1,
             shapes=[(3,)])


# ---- running and writing


def run(op, arrays, attrs, dtype, upstream=None):
    """The outputs, and the gradients of sum(output * upstream) by the names of the inputs."""
    torch.set_default_dtype(dtype)
    tensors = {name: torch.from_numpy(np.array(x)) for name, x in arrays.items()}
    floats = [name for name, x in tensors.items() if x.dtype == torch.float32]
    for name in floats:
        tensors[name] = tensors[name].to(dtype).requires_grad_(op != "argmax")
    outputs = OPERATIONS[op](tensors, attrs)
    if upstream is None:
        return outputs, {}
    total = sum((y * torch.from_numpy(u).to(dtype)).sum() for y, u in zip(outputs, upstream)
                if u is not None)
    if not torch.is_tensor(total) or not total.requires_grad:
        return outputs, {}
    grads = torch.autograd.grad(total, [tensors[name] for name in floats], allow_unused=True)
    return outputs, dict(zip(floats, grads))


def tolerance(pairs, dtype):
    """A relative and an absolute tolerance from the errors of float32 and the largest number."""
    finite = [(a.double(), b.double(), torch.isfinite(a) & torch.isfinite(b)) for a, b in pairs
              if a is not None]
    error = max([float((a - b).abs()[ok].max()) for a, b, ok in finite if ok.any()] + [0])
    largest = max([float(a.abs()[ok].max()) for a, _, ok in finite if ok.any()] + [0])
    if largest > 1e3:  # numbers of many magnitudes: relative only
        return ("1e-10", "1e-11") if dtype == torch.float64 else ("4e-06", "1e-06")
    if dtype == torch.float64:
        return "1e-10", f"{max(1e-11, 1e-12 * largest):.2g}"
    return "2e-06", f"{max(1e-6, 8 * error, 4e-7 * largest):.2g}"


def shown(x, dtype):
    if x.dtype.kind == "b":
        return "1" if x else "0"
    if x.dtype.kind == "i":
        return str(int(x))
    word = str(np.float32(x)) if dtype == torch.float32 else repr(float(x))
    return word[:-2] if word.endswith(".0") and word != "-0.0" else word


def line(kind, name, x, dtype, grad=False):
    if x is None:
        return f"{kind} {name} none"
    x = x.detach().numpy() if torch.is_tensor(x) else np.asarray(x)
    real = "f32" if dtype == torch.float32 else "f64"
    type_name = {"b": "bool", "i": "i64"}.get(x.dtype.kind, real)
    head = [kind, name, type_name] + (["grad"] if grad else []) + [str(x.ndim), *map(str, x.shape)]
    return " ".join(head) + " : " + " ".join(shown(v, dtype) for v in x.ravel())


def lines_of(id, op, arrays, attrs, dtype):
    if "inputs" not in attrs:
        attrs = dict(attrs, inputs=list(arrays))
    lines = [f"CASE {id} {op} {json.dumps(attrs, separators=(',', ':'))}"]
    if id.startswith("error/"):
        try:
            run(op, arrays, attrs, dtype)
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        else:
            raise SystemExit(f"{id}: PyTorch accepts it")
        inputs = [line("IN", n, x, dtype) for n, x in arrays.items()]
        return [*lines, "ERROR " + reason, *inputs, "END"]
    outputs, _ = run(op, arrays, attrs, dtype)
    random = np.random.RandomState(zlib.crc32(("upstream " + id).encode()))
    upstream = [values(random, y.shape, -1, 1) if y.requires_grad else None for y in outputs]
    outputs, grads = run(op, arrays, attrs, dtype, upstream)
    exact_outputs, exact_grads = run(op, arrays, attrs, torch.float64, upstream)
    if op == "init":
        single = dtype == torch.float32
        tolerances = ("2e-06" if single else "1e-12", "2.1e-06" if single else "1e-14", "0", "0")
    else:
        tolerances = tolerance(list(zip(outputs, exact_outputs)), dtype) + tolerance(
            [(grads[n], exact_grads[n]) for n in grads], dtype)
    lines.append("TOL " + " ".join(tolerances))
    lines += [line("IN", n, x, dtype, n in grads) for n, x in arrays.items()]
    lines += [line("OUT", f"y{k}", y, dtype) for k, y in enumerate(outputs)]
    lines += [line("UP", f"y{k}", u, dtype) for k, u in enumerate(upstream) if u is not None]
    return lines + [line("GRAD", n, g, dtype) for n, g in grads.items()] + ["END"]


def write(stem, script):
    """Writes the cases in float32 and float64."""
    torch.set_num_threads(1)
    for file, dtype in [(f"{stem}.txt", torch.float32), (f"{stem}64.txt", torch.float64)]:
        lines = [f"# written by {script} with PyTorch {torch.__version__}"]
        for entry in CASES:
            lines += lines_of(*entry, dtype)
        (pathlib.Path(__file__).parent / file).write_text("\n".join(lines) + "\n")
        print(f"{file}: {len(CASES)} cases")


def main():
    for add in [add_losses, add_elementwise, add_selections, add_norms, add_layers,
                add_initial_values, add_silu, add_llama]:
        add()
    write("library", "library.py")


if __name__ == "__main__":
    main()
