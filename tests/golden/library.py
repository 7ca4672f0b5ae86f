#!/usr/bin/python3
"""library.py: writes library.txt (float32) and library64.txt (float64), PyTorch's results for losses,
clamp, where, topk, gather, rms_norm, padded attention, patch embedding, a decoder block and initial
values, in the format of file.hpp.

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
                 tgt_key_padding_mask=t.get("padding"), memory_key_padding_mask=t.get("memory_padding"))
    return [functional_call(layer, state, (t["x"], t["memory"]), masks)]


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
    "padded_attention": padded_attention,
    "patch_embedding": patch_embedding,
    "decoder_block": decoder_block,
    "init": initial_values,
}

# ---- the cases


def text(shape):
    return "x".join(map(str, shape)) or "scalar"


def add_losses():
    losses = ["mse_loss", "binary_cross_entropy_with_logits", "huber_loss"]
    for loss in losses:
        for reduction in ["mean", "sum", "none"]:
            for shape in [(), (1,), (5,), (3, 4), (2, 3, 2), (2, 1, 3, 2), (0,), (3, 0)]:
                case(f"{loss}/{reduction}_{text(shape)}", loss,
                     lambda r: dict(input=values(r, shape), target=values(r, shape, 0, 1)),
                     reduction=reduction)
        case(f"{loss}/large", loss, dict(input=listed(100, -100, 100, -100, 1e4, -1e4, 1e4, -1e4),
                                         target=listed(1, 1, 0, 0, 0, 1, 1, 0)), reduction="none")
        case(f"{loss}/overflow", loss, dict(input=listed(1e20, -1e20, 1e20, 0),
                                            target=listed(0.5, 0.5, -1e20, 0)), reduction="none")
        case(f"{loss}/inf_nan", loss, dict(input=listed(inf, -inf, nan, 1, 1),
                                           target=listed(0.5, 0.5, 0.5, nan, inf)), reduction="none")
        case(f"{loss}/at_zero", loss, dict(input=listed(0, -0.0, 1), target=listed(0, 1, 1)),
             reduction="sum")
        case(f"error/{loss}_shapes", loss, lambda r: dict(input=values(r, (2, 3)),
                                                          target=values(r, (4,))), reduction="mean")
    for delta in [0.25, 1.0, 3.0]:
        case(f"huber_loss/at_delta_{delta}", "huber_loss",
             dict(input=listed(delta, -delta, 0, 2 * delta, -5 * delta), target=listed(0, 0, 0, 0, 0)),
             reduction="none", delta=delta)


def add_elementwise():
    for name, low, high in [("inside", -1, 1), ("no_low", "-inf", 0.5), ("no_high", -0.5, "inf"),
                            ("low_above_high", 1, -1), ("equal", 0.5, 0.5), ("no_limit", "-inf", "inf")]:
        for shape in [(), (3, 4), (0, 2)]:
            case(f"clamp/{name}_{text(shape)}", "clamp", lambda r: dict(x=values(r, shape)),
                 low=low, high=high)
        case(f"clamp/{name}_special", "clamp",
             dict(x=listed(-1, 1, 0.5, -0.5, 0, -0.0, inf, -inf, nan, 1e20, 1.0000001)), low=low, high=high)
    shapes = [((), (), ()), ((3,), (3,), (3,)), ((2, 1, 3), (4, 1), (1, 3)), ((2, 3), (), (3,)),
              ((), (2, 3), (3,)), ((3, 1), (1, 4), (2, 1, 1)), ((0, 3), (3,), ()), ((1,), (1, 1), (2, 1, 1))]
    for c, a, b in shapes:
        case(f"where/{text(c)}_{text(a)}_{text(b)}", "where",
             lambda r: dict(condition=r.uniform(size=c) < 0.5, a=values(r, a), b=values(r, b)))
    case("where/inf_nan", "where", dict(condition=np.array([1, 0, 1, 0], bool), a=listed(1, nan, inf, inf),
                                        b=listed(nan, 2, nan, -inf)))
    case("error/where_a_b", "where", lambda r: dict(condition=np.ones((2, 3), bool),
                                                    a=values(r, (2, 3)), b=values(r, (4,))))
    case("error/where_condition", "where", lambda r: dict(condition=np.ones((4,), bool),
                                                          a=values(r, (2, 3)), b=values(r, (3,))))
    for p in [-0.5, 1.5]:
        case(f"error/dropout_{p}", "dropout", lambda r: dict(x=values(r, (2, 3))), p=p, training=True, seed=1)


def add_selections():
    for shape, dim in [((5,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((2, 4, 3), -2), ((2, 2, 3, 2), 2)]:
        n = shape[dim]
        for k in [0, 1, 2, n]:
            case(f"topk/{text(shape)}_dim{dim}_k{k}" + ("_all" if k == n else ""), "topk",
                 lambda r: dict(x=distinct(r, shape)), k=k, dim=dim)
        for k in [0, 1, n, n + 2]:
            case(f"gather/{text(shape)}_dim{dim}_k{k}", "gather", lambda r: dict(
                x=values(r, shape), indices=r.randint(0, n, [k if i == dim % len(shape) else size
                                                              for i, size in enumerate(shape)])), dim=dim)
        case(f"argmax/{text(shape)}_dim{dim}", "argmax", lambda r: dict(x=distinct(r, shape)), dim=dim)
    case("topk/inf_nan", "topk", dict(x=listed(1, inf, nan, -inf, 2)), k=5, dim=0)
    case("argmax/ties", "argmax", dict(x=np.array([[1, 3, 3], [5, 5, 5]], np.float32)), dim=1)
    case("argmax/nan", "argmax", dict(x=np.array([[1, nan, 3], [inf, nan, nan]], np.float32)), dim=1)
    case("argmax/scalar", "argmax", dict(x=np.float32(2)), dim=0)
    case("error/topk_k", "topk", lambda r: dict(x=distinct(r, (2, 3))), k=4, dim=1)
    for index in [3, -1]:
        case(f"error/gather_{index}", "gather", lambda r: dict(x=values(r, (2, 3)),
                                                              indices=np.full((2, 3), index)), dim=1)
    case("error/gather_rank", "gather", lambda r: dict(x=values(r, (2, 3)), indices=np.zeros((3,), int)), dim=1)


def add_layers():
    for x, last in [((4,), (4,)), ((3, 5), (5,)), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 4)), ((0, 3), (3,)), ((2, 1), (1,))]:
        for name, eps in [("default", {}), ("1e-6", dict(eps=1e-6)), ("0.5", dict(eps=0.5))]:
            for weight in [True, False]:
                inputs = ["x", "weight"] if weight else ["x"]
                case(f"rms_norm/{text(x)}_{text(last)}_{name}" + ("_weight" if weight else ""), "rms_norm",
                     lambda r: {n: values(r, x if n == "x" else last) for n in inputs},
                     inputs=inputs, normalized_shape=list(last), **eps)
    case("rms_norm/zeros", "rms_norm", dict(x=np.zeros((2, 3), np.float32)), inputs=["x"],
         normalized_shape=[3], eps=1e-6)
    case("rms_norm/large", "rms_norm", lambda r: dict(x=values(r, (2, 4)) * 1e4), inputs=["x"], normalized_shape=[4])
    case("rms_norm/nan", "rms_norm", dict(x=np.array([[1, nan], [2, 3]], np.float32)), inputs=["x"], normalized_shape=[2])
    case("error/rms_norm_weight", "rms_norm", lambda r: dict(x=values(r, (2, 4)), weight=values(r, (3,))),
         inputs=["x", "weight"], normalized_shape=[4])
    for B, C, P, rows, columns, E in [(1, 1, 1, 2, 2, 1), (2, 3, 2, 2, 3, 5), (1, 2, 3, 1, 1, 4), (2, 1, 2, 3, 1, 3), (0, 1, 2, 1, 2, 3)]:
        arrays = lambda r: dict(images=values(r, (B, C, rows * P, columns * P)),
                                weight=values(r, (E, C, P, P), -1, 1), bias=values(r, (E,)))
        case(f"patch_embedding/{B}x{C}_{P}_{rows}x{columns}_{E}", "patch_embedding", arrays,
             inputs=["images", "weight", "bias"], patch_size=P)
    for B, T, S, C, H, causal in [(2, 3, 3, 4, 2, True), (2, 3, 5, 4, 2, False), (1, 2, 4, 3, 1, False), (3, 4, 4, 6, 3, False), (2, 3, 3, 4, 1, True)]:
        def attention_arrays(r):
            padding = np.arange(S) >= r.randint(1, S + 1, (B, 1))  # key 0 is never padding
            arrays = dict(query=values(r, (B, T, C)), key_padding=padding)
            if S != T:
                arrays["memory"] = values(r, (B, S, C))
            arrays.update(in_proj_weight=values(r, (3 * C, C), -1, 1), in_proj_bias=values(r, (3 * C,), -1, 1),
                          out_proj_weight=values(r, (C, C), -1, 1), out_proj_bias=values(r, (C,), -1, 1))
            return arrays
        case(f"padded_attention/{B}x{T}x{S}x{C}_{H}" + ("_causal" if causal else ""), "padded_attention",
             attention_arrays, heads=H, causal=causal)
    for B, T, S, C, H, padded in [(2, 3, 4, 4, 2, True), (1, 4, 2, 6, 3, False), (2, 2, 3, 4, 1, True), (1, 1, 1, 2, 2, False)]:
        def decoder_arrays(r):
            arrays = dict(x=values(r, (B, T, C)), memory=values(r, (B, S, C)))
            if padded:
                arrays.update(padding=np.arange(T) >= r.randint(1, T + 1, (B, 1)),
                              memory_padding=np.arange(S) >= r.randint(1, S, (B, 1)))
            layer = torch.nn.TransformerDecoderLayer(C, H, 4 * C)
            arrays.update((name, values(r, p.shape, -1, 1)) for name, p in layer.named_parameters())
            return arrays
        case(f"decoder_block/{B}x{T}x{S}x{C}_{H}" + ("_padded" if padded else ""), "decoder_block", decoder_arrays, heads=H)
    for function, args in [("uniform_", []), ("uniform_", [-2, 0.5]), ("normal_", []), ("normal_", [1, 0.25]),
                           ("xavier_uniform_", []), ("xavier_uniform_", [2.5]), ("kaiming_uniform_", []), ("kaiming_uniform_", [0.75])]:
        name = f"{function}{args}".replace(" ", "").replace("[]", "")
        for shape in [(3, 4), (5, 4, 3), (20, 16)]:
            case(f"init/{name}_{text(shape)}", "init", {}, function=function, args=args, seed=len(CASES), shapes=[shape])
        case(f"init/{name}_one_after_another", "init", {}, function=function, args=args, seed=7, shapes=[(3, 1), (4, 5), (1, 3)])
    for function in ["xavier_uniform_", "kaiming_uniform_"]:
        case(f"error/{function}_vector", "init", {}, function=function, args=[], seed=1, shapes=[(3,)])


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
    total = sum((y * torch.from_numpy(u).to(dtype)).sum() for y, u in zip(outputs, upstream) if u is not None)
    if not torch.is_tensor(total) or not total.requires_grad:
        return outputs, {}
    grads = torch.autograd.grad(total, [tensors[name] for name in floats], allow_unused=True)
    return outputs, dict(zip(floats, grads))


def tolerance(pairs, dtype):
    """A relative and an absolute tolerance from the errors of float32 and the largest number."""
    finite = [(a.double(), b.double(), torch.isfinite(a) & torch.isfinite(b)) for a, b in pairs if a is not None]
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
    type_name = {"b": "bool", "i": "i64"}.get(x.dtype.kind, "f32" if dtype == torch.float32 else "f64")
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
        return lines + ["ERROR " + reason] + [line("IN", n, x, dtype) for n, x in arrays.items()] + ["END"]
    outputs, _ = run(op, arrays, attrs, dtype)
    random = np.random.RandomState(zlib.crc32(("upstream " + id).encode()))
    upstream = [values(random, y.shape, -1, 1) if y.requires_grad else None for y in outputs]
    outputs, grads = run(op, arrays, attrs, dtype, upstream)
    exact_outputs, exact_grads = run(op, arrays, attrs, torch.float64, upstream)
    if op == "init":
        tolerances = ("2e-06", "2.1e-06", "0", "0") if dtype == torch.float32 else ("1e-12", "1e-14", "0", "0")
    else:
        tolerances = tolerance(list(zip(outputs, exact_outputs)), dtype) + tolerance(
            [(grads[n], exact_grads[n]) for n in grads], dtype)
    lines.append("TOL " + " ".join(tolerances))
    lines += [line("IN", n, x, dtype, n in grads) for n, x in arrays.items()]
    lines += [line("OUT", f"y{k}", y, dtype) for k, y in enumerate(outputs)]
    lines += [line("UP", f"y{k}", u, dtype) for k, u in enumerate(upstream) if u is not None]
    return lines + [line("GRAD", n, g, dtype) for n, g in grads.items()] + ["END"]


def main():
    torch.set_num_threads(1)
    for add in [add_losses, add_elementwise, add_selections, add_layers]:
        add()
    for file, dtype in [("library.txt", torch.float32), ("library64.txt", torch.float64)]:
        lines = ["# written by library.py with PyTorch " + torch.__version__]
        for entry in CASES:
            lines += lines_of(*entry, dtype)
        (pathlib.Path(__file__).parent / file).write_text("\n".join(lines) + "\n")
        print(f"{file}: {len(CASES)} cases")


if __name__ == "__main__":
    main()
