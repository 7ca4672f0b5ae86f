#!/usr/bin/python3
"""extra.py: writes extra.txt (float32) and extra64.txt (float64), with PyTorch's results for the
operations of include/heed/extra: comparisons, reductions, indexing, elementwise functions, losses and
recurrent layers, and for x[i], expand with -1, logsumexp over axes and attention with a softcap.

    /usr/bin/python3 tests/golden/extra.py        # needs PyTorch 1.13 and NumPy
"""
import numpy as np
import torch
import torch.nn.functional as F

from library import (OPERATIONS, case, distinct, inf, listed, nan, random_indices, text, values,
                     weights, write)


def reduced(function, t, attrs):
    options = {key: attrs[key] for key in ("dim", "keepdim") if key in attrs}
    return [function(t["x"], **options)]


def norm(t, a):
    dim = a.get("dim")
    x = t["x"].detach() if a["p"] == "0" else t["x"]  # PyTorch has no gradient for p = 0
    return [torch.linalg.vector_norm(x, float(a["p"]), dim, a.get("keepdim", False))]


def spread(function, t, a):
    return [function(t["x"], a.get("dim", list(range(t["x"].ndim))), correction=a["correction"],
                     keepdim=a.get("keepdim", False))]


def classes_second(x):
    """heed's classes are the last axis, PyTorch's the second one, or the only one."""
    return x if x.ndim < 2 else x.movedim(-1, 1).contiguous()


def class_loss(function, t, a):
    target = t["target"] if "target" in t else classes_second(t["probabilities"])
    options = {key: a[key] for key in ("ignore_index", "label_smoothing") if key in a}
    weight = t["weight"].detach() if "weight" in t else None
    return [function(classes_second(t["logits"]), target, weight=weight, reduction=a["reduction"],
                     **options)]


def softcap_attention(t, a):
    scores = t["q"] @ t["k"].transpose(-1, -2) / t["q"].shape[-1] ** 0.5
    scores = a["softcap"] * torch.tanh(scores / a["softcap"])
    if a["causal"]:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -inf)
    if "bias" in t:
        scores = scores + t["bias"]
    return [scores.softmax(-1) @ t["v"]]


def recurrent(function, gates, t, a):
    directions = 2 if a["bidirectional"] else 1
    parameters = [t[name] for name in names_of(a)]
    shape = (a["num_layers"] * directions, len(t["x"]), t["weight_hh_l0"].shape[1])
    states = [t[name] if name in t else torch.zeros(shape)
              for name in (["h_0"] if gates == 3 else ["h_0", "c_0"])]
    hidden = states[0] if gates == 3 else states
    return list(function(t["x"], hidden, parameters, a["bias"], a["num_layers"], 0.0, False,
                         a["bidirectional"], True))


def names_of(attrs):
    return [f"{kind}_l{k}{suffix}" for k in range(attrs["num_layers"])
            for suffix in (["", "_reverse"] if attrs["bidirectional"] else [""])
            for kind in ["weight_ih", "weight_hh"] + ["bias_ih", "bias_hh"] * attrs["bias"]]


def initial_recurrent(t, a):
    torch.manual_seed(a["seed"])
    layer = getattr(torch.nn, a["layer"])(*a["sizes"], bidirectional=a["bidirectional"])
    return [p.detach() for p in layer.parameters()]


OPERATIONS.update({
    "compare": lambda t, a: [getattr(torch, a["name"])(t["a"], t["b"] if "b" in t else a["c"])],
    "maximum": lambda t, a: [torch.maximum(t["a"], t["b"])],
    "minimum": lambda t, a: [torch.minimum(t["a"], t["b"])],
    "where_number": lambda t, a: [torch.where(t["mask"], t["x"], torch.tensor(a["c"]).to(t["x"]))],
    "number_where": lambda t, a: [torch.where(t["mask"], torch.tensor(a["c"]).to(t["x"]), t["x"])],
    "amin": lambda t, a: reduced(torch.amin, t, a),
    "argmin": lambda t, a: [torch.argmin(t["x"], a["dim"])],
    "prod": lambda t, a: reduced(torch.prod, t, a),
    "cumsum": lambda t, a: [torch.cumsum(t["x"], a["dim"])],
    "norm": norm,
    "normalize": lambda t, a: [F.normalize(t["x"], float(a["p"]), a["dim"], a["eps"])],
    "var_correction": lambda t, a: spread(torch.var, t, a),
    "stddev": lambda t, a: spread(torch.std, t, a),
    "logsumexp_axes": lambda t, a: [torch.logsumexp(t["x"], a["dim"], a["keepdim"])],
    "one_hot": lambda t, a: [F.one_hot(t["indices"], a["num_classes"])],
    "index_select": lambda t, a: [torch.index_select(t["x"], a["dim"], t["indices"])],
    "index": lambda t, a: [t["x"][a["i"]]],
    "unbind": lambda t, a: list(torch.unbind(t["x"], a["dim"])),
    "scatter": lambda t, a: [torch.scatter(t["x"], a["dim"], t["indices"],
                                           t["source"] if "source" in t else a["c"])],
    "scatter_add": lambda t, a: [torch.scatter_add(t["x"], a["dim"], t["indices"], t["source"])],
    "triu": lambda t, a: [torch.triu(t["x"], a["diagonal"])],
    "flip": lambda t, a: [torch.flip(t["x"], a["dims"])],
    "repeat": lambda t, a: [t["x"].repeat(a["sizes"])],
    "pad": lambda t, a: [F.pad(t["x"], a["padding"], value=float(a["value"]))],
    "expand_kept": lambda t, a: [t["x"].expand(a["sizes"])],
    "pow": lambda t, a: [torch.pow(t["a"], t["b"])],
    "number_pow": lambda t, a: [torch.pow(a["c"], t["b"])],
    "sin": lambda t, a: [torch.sin(t["x"])],
    "cos": lambda t, a: [torch.cos(t["x"])],
    "erf": lambda t, a: [torch.erf(t["x"])],
    "softplus": lambda t, a: [F.softplus(t["x"], a["beta"], a["threshold"])],
    "leaky_relu": lambda t, a: [F.leaky_relu(t["x"], a["slope"])],
    "elu": lambda t, a: [F.elu(t["x"], a["alpha"])],
    "l1_loss": lambda t, a: [F.l1_loss(t["input"], t["target"], reduction=a["reduction"])],
    "kl_div": lambda t, a: [F.kl_div(t["input"], t["target"], reduction=a["reduction"],
                                     log_target=a["log_target"])],
    "nll_loss": lambda t, a: class_loss(F.nll_loss, t, a),
    "weighted_cross_entropy": lambda t, a: class_loss(F.cross_entropy, t, a),
    "softcap_attention": softcap_attention,
    "gru": lambda t, a: recurrent(torch._VF.gru, 3, t, a),
    "lstm": lambda t, a: recurrent(torch._VF.lstm, 4, t, a),
    "initial_recurrent": initial_recurrent,
})

special = listed(0, -0.0, 1, -1, 0.5, 30, -30, 1e4, -1e4, inf, -inf, nan)


def add_comparisons():
    pairs = [((), ()), ((3,), ()), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,))]
    some = listed(1, 2, nan, inf, -inf, 0, nan), listed(1, 3, 1, inf, inf, -0.0, nan)
    for name in ["gt", "ge", "lt", "le", "eq", "ne"]:
        for a, b in pairs:
            case(f"compare/{name}_{text(a)}_{text(b)}", "compare",
                 lambda r: dict(a=np.round(values(r, a)), b=np.round(values(r, b))), name=name)
        case(f"compare/{name}_special", "compare", dict(a=some[0], b=some[1]), name=name)
        case(f"compare/{name}_number", "compare", dict(a=some[0]), name=name, c=1.0)
    case("error/compare", "compare", lambda r: dict(a=values(r, (2, 3)), b=values(r, (4,))),
         name="gt")
    for op in ["maximum", "minimum"]:
        for a, b in pairs + [((3, 1), (1, 4))]:
            case(f"{op}/{text(a)}_{text(b)}", op,
                 lambda r: dict(a=np.round(values(r, a)), b=np.round(values(r, b))))
        case(f"{op}/special", op, dict(a=some[0], b=some[1]))
        case(f"error/{op}", op, lambda r: dict(a=values(r, (2, 3)), b=values(r, (4,))))
    for op in ["where_number", "number_where"]:
        for mask, x in [((), (2, 3)), ((2, 3), (2, 3)), ((2, 1), (3,)), ((0,), (0,))]:
            case(f"{op}/{text(mask)}_{text(x)}", op,
                 lambda r: dict(mask=r.uniform(size=mask) < 0.5, x=values(r, x)), c=0.75)


axes = [((), {}), ((), dict(dim=[0])), ((4,), {}), ((4,), dict(dim=[0])), ((2, 3), dict(dim=[1])),
        ((2, 3), dict(dim=[0], keepdim=True)), ((2, 3, 4), dict(dim=[0, 2])),
        ((2, 3, 4), dict(dim=[-1, 0], keepdim=True)), ((2, 3, 2), {})]


def name_of(shape, options):
    return "_".join([text(shape), *[str(d) for d in options.get("dim", ["all"])]]
                    + ["kept"] * options.get("keepdim", False))


def add_reductions():
    for shape, options in axes:
        name = name_of(shape, options)
        case(f"amin/{name}", "amin", lambda r: dict(x=np.round(values(r, shape))), **options)
        for p in [2, 1, 3, 0.5, 0, inf, -inf, -1]:
            case(f"norm/{name}_{p}", "norm", lambda r: dict(x=values(r, shape)), p=str(p),
                 **options)
        for correction in [0, 1, 2] if shape else [0]:  # PyTorch's gradient of a scalar differs
            case(f"var_correction/{name}_{correction}", "var_correction",
                 lambda r: dict(x=values(r, shape)), correction=correction, **options)
            case(f"stddev/{name}_{correction}", "stddev", lambda r: dict(x=values(r, shape)),
                 correction=correction, **options)
        if "dim" in options:
            case(f"logsumexp_axes/{name}", "logsumexp_axes",
                 lambda r: dict(x=values(r, shape, -4, 4)), dim=options["dim"],
                 keepdim=options.get("keepdim", False))
    for p in [2, 1, 3, 0, inf, -inf]:
        case(f"norm/zeros_{p}", "norm", dict(x=listed([0, 0, 0], [0, -0.0, 2])), p=str(p), dim=[1])
        case(f"norm/ties_{p}", "norm", dict(x=listed([2, -2, 1], [1, 1, -1])), p=str(p), dim=[1])
        case(f"norm/nan_{p}", "norm", dict(x=listed(1, nan, 2)), p=str(p))
    case("norm/empty", "norm", lambda r: dict(x=values(r, (0, 3))), p="2", dim=[0])
    case("error/norm_empty", "norm", lambda r: dict(x=values(r, (0, 3))), p="inf", dim=[0])
    case("error/amin_empty", "amin", lambda r: dict(x=values(r, (2, 0))), dim=[1])
    case("error/amin_axis", "amin", lambda r: dict(x=values(r, (2, 3))), dim=[2])
    case("amin/infinite", "amin", dict(x=listed([1, inf, inf], [inf, -inf, 0])), dim=[1])
    case("argmin/ties", "argmin", dict(x=listed([3, 1, 1], [5, 5, 5])), dim=1)
    case("argmin/nan", "argmin", dict(x=listed([1, nan, 0], [inf, nan, nan])), dim=-1)
    for shape in [(4,), (3, 2)]:
        case(f"argmin/{text(shape)}", "argmin", lambda r: dict(x=distinct(r, shape)), dim=0)
    for shape, options in [((), {}), ((), dict(dim=0)), ((4,), {}), ((4,), dict(dim=0)),
                           ((2, 3), {}), ((2, 3), dict(dim=1)), ((2, 3), dict(dim=-2)),
                           ((2, 3, 2), dict(dim=1, keepdim=True)), ((0,), {}),
                           ((2, 0), dict(dim=1))]:
        case(f"prod/{text(shape)}_{options.get('dim', 'all')}", "prod",
             lambda r: dict(x=values(r, shape)), **options)
    case("prod/zeros", "prod", dict(x=listed([0, 2, 3], [0, 0, 3], [1, 2, -4])), dim=1)
    for shape, dim in [((), 0), ((4,), 0), ((2, 3), 1), ((2, 3), -2), ((2, 3, 2), 1), ((0,), 0),
                       ((2, 0), 1)]:
        case(f"cumsum/{text(shape)}_{dim}", "cumsum", lambda r: dict(x=values(r, shape)), dim=dim)
    case("cumsum/special", "cumsum", dict(x=listed(1, inf, 2, -inf, 3)), dim=0)
    case("error/cumsum_axis", "cumsum", lambda r: dict(x=values(r, (2, 3))), dim=2)
    for shape, dim, p in [((2, 3), 1, 2), ((2, 3), 0, 2), ((2, 3, 2), -2, 1), ((3, 2), 1, inf),
                          ((0, 3), 1, 2)]:
        case(f"normalize/{text(shape)}_{dim}_{p}", "normalize", lambda r: dict(x=values(r, shape)),
             dim=dim, p=str(p), eps=1e-12)
    case("normalize/zeros", "normalize", dict(x=listed([0, 0], [3, 4])), dim=1, p="2", eps=1e-12)
    case("normalize/eps", "normalize", dict(x=listed([0.3, 0.4], [3, 4])), dim=1, p="2", eps=1.0)
    case("error/normalize_axis", "normalize", lambda r: dict(x=values(r, (3,))), dim=1, p="2",
         eps=1e-12)
    case("stddev/constant", "stddev", dict(x=listed([2, 2, 2], [1, 2, 3])), dim=[1], correction=1)
    case("logsumexp_axes/infinite", "logsumexp_axes",
         dict(x=listed([[inf, 1], [2, 3]], [[-1, 5], [-200, 90]])), dim=[1, 2], keepdim=False)


def add_indexing():
    for shape, classes in [((), -1), ((3,), -1), ((3,), 5), ((2, 3), 4), ((0,), 3)]:
        case(f"one_hot/{text(shape)}_{classes}", "one_hot",
             lambda r: dict(indices=r.randint(0, 4, shape) if shape else np.array(2)),
             num_classes=classes)
    case("error/one_hot_large", "one_hot", dict(indices=np.array([0, 3])), num_classes=3)
    case("error/one_hot_negative", "one_hot", dict(indices=np.array([0, -1])), num_classes=3)
    for shape, dim, count in [((4,), 0, 3), ((3, 2), 0, 5), ((3, 2), 1, 2), ((2, 3, 2), 1, 4),
                              ((2, 3, 2), -1, 0), ((0, 3), 1, 2)]:
        case(f"index_select/{text(shape)}_{dim}_{count}", "index_select",
             lambda r: dict(x=values(r, shape), indices=r.randint(0, shape[dim], count)), dim=dim)
    case("error/index_select", "index_select",
         lambda r: dict(x=values(r, (2, 3)), indices=np.array([0, 3])), dim=1)
    case("error/index_select_rank", "index_select",
         lambda r: dict(x=values(r, (2, 3)), indices=np.array([[0], [1]])), dim=1)
    for shape, i in [((4,), 2), ((3, 2), -1), ((2, 3, 2), 0), ((2, 0), 1)]:
        case(f"index/{text(shape)}_{i}", "index", lambda r: dict(x=values(r, shape)), i=i)
    case("error/index", "index", lambda r: dict(x=values(r, (2, 3))), i=2)
    for shape, dim in [((3,), 0), ((2, 3), 1), ((2, 3, 2), -2), ((2, 0), 0)]:
        case(f"unbind/{text(shape)}_{dim}", "unbind", lambda r: dict(x=values(r, shape)), dim=dim)
    case("error/unbind", "unbind", dict(x=np.float32(1)), dim=0)
    for shape, dim, k in [((4,), 0, 2), ((3, 2), 0, 2), ((3, 4), 1, 3), ((2, 3, 2), -2, 3),
                          ((2, 3), 1, 0)]:
        def arrays(r, repeated=False):
            sizes = list(shape)
            sizes[dim] = k
            order = np.argsort(r.uniform(size=shape), dim).take(range(k), dim)
            indices = random_indices(r, shape, dim, k) if repeated else order
            return dict(x=values(r, shape), indices=indices, source=values(r, sizes))
        case(f"scatter/{text(shape)}_{dim}_{k}", "scatter", arrays, dim=dim)
        case(f"scatter/number_{text(shape)}_{dim}_{k}", "scatter",
             lambda r: {n: x for n, x in arrays(r).items() if n != "source"}, dim=dim, c=0.5)
        case(f"scatter_add/{text(shape)}_{dim}_{k}", "scatter_add", lambda r: arrays(r, True),
             dim=dim)
    for name, indices in [("large", [[0, 3]]), ("negative", [[0, -1]])]:
        case(f"error/scatter_{name}", "scatter",
             lambda r: dict(x=values(r, (1, 3)), indices=np.array(indices)), dim=1, c=0.5)
    for shape in [(3, 3), (2, 4), (2, 4, 2), (0, 3)]:
        for diagonal in [0, 1, -1, 5, -5]:
            case(f"triu/{text(shape)}_{diagonal}", "triu", lambda r: dict(x=values(r, shape)),
                 diagonal=diagonal)
    case("triu/special", "triu", dict(x=listed([1, nan, inf], [nan, inf, -inf])), diagonal=1)
    case("error/triu", "triu", lambda r: dict(x=values(r, (3,))), diagonal=0)
    for shape, dims in [((4,), [0]), ((2, 3), [1]), ((2, 3), [0, -1]), ((2, 3, 2), [-2]),
                        ((2, 3), []), ((2, 0), [1])]:
        case(f"flip/{text(shape)}_{'_'.join(map(str, dims))}", "flip",
             lambda r: dict(x=values(r, shape)), dims=dims)
    case("error/flip_twice", "flip", lambda r: dict(x=values(r, (2, 3))), dims=[1, -1])
    for shape, sizes in [((), []), ((), [3]), ((2,), [3]), ((2, 3), [2, 1]), ((2, 3), [2, 1, 3]),
                         ((2, 1), [1, 4]), ((2, 3), [0, 2]), ((0, 2), [2, 2])]:
        case(f"repeat/{text(shape)}_{text(sizes)}", "repeat", lambda r: dict(x=values(r, shape)),
             sizes=sizes)
    case("error/repeat_few", "repeat", lambda r: dict(x=values(r, (2, 3))), sizes=[2])
    case("error/repeat_negative", "repeat", lambda r: dict(x=values(r, (2, 3))), sizes=[2, -1])
    for shape, padding, value in [((3,), [1, 2], 0), ((2, 3), [0, 1], 5), ((2, 3), [1, 0, 2, 1], 0),
                                  ((2, 3), [-1, 2], 0), ((3, 3), [-1, -1, 0, -2], 0),
                                  ((2, 3, 2), [0, 0, 1, 0], -1), ((2, 0), [1, 1], 3),
                                  ((2, 3), [0, 1], "-inf"), ((2,), [], 0)]:
        case(f"pad/{text(shape)}_{'_'.join(map(str, padding))}_{value}", "pad",
             lambda r: dict(x=values(r, shape)), padding=padding, value=value)
    for name, padding in [("odd", [1]), ("many", [1, 1, 1, 1, 1, 1]), ("negative", [-2, -2])]:
        case(f"error/pad_{name}", "pad", lambda r: dict(x=values(r, (2, 3))), padding=padding,
             value=0)
    for shape, sizes in [((3, 1), [-1, 4]), ((2, 1), [3, -1, 5]), ((1,), [2, -1]),
                         ((2, 3), [-1, -1])]:
        case(f"expand_kept/{text(shape)}_{'_'.join(map(str, sizes))}", "expand_kept",
             lambda r: dict(x=values(r, shape)), sizes=sizes)
    case("error/expand_kept", "expand_kept", lambda r: dict(x=values(r, (3,))), sizes=[-1, 3])


def add_elementwise():
    for a, b in [((), ()), ((3,), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 2), (2,))]:
        case(f"pow/{text(a)}_{text(b)}", "pow",
             lambda r: dict(a=values(r, a, 0.2, 2), b=values(r, b)))
    case("pow/special", "pow", dict(a=listed(0, 0, 0, 2, -2, -2, -2, 1, 3),
                                    b=listed(0, 1, 2, 0, 2, 3, 0, 5, -1)))
    case("error/pow", "pow", lambda r: dict(a=values(r, (2, 3)), b=values(r, (4,))))
    case("number_pow/2", "number_pow", lambda r: dict(b=values(r, (2, 3))), c=2.0)
    case("number_pow/0", "number_pow", dict(b=listed(0, 1, 2)), c=0.0)
    for op, low, high in [("sin", -8, 8), ("cos", -8, 8), ("erf", -3, 3)]:
        for shape in [(), (5,), (2, 3), (0, 2)]:
            case(f"{op}/{text(shape)}", op, lambda r: dict(x=values(r, shape, low, high)))
    case("sin/special", "sin", dict(x=listed(0, -0.0, 1e4, 1e6, inf, nan)))
    case("cos/special", "cos", dict(x=listed(0, -0.0, 1e4, 1e6, inf, nan)))
    case("erf/special", "erf", dict(x=special))
    for beta, threshold in [(1, 20), (2, 20), (0.5, 1)]:
        case(f"softplus/{beta}_{threshold}", "softplus", lambda r: dict(x=values(r, (2, 5), -6, 6)),
             beta=beta, threshold=threshold)
        case(f"softplus/special_{beta}_{threshold}", "softplus", dict(x=special), beta=beta,
             threshold=threshold)
    for slope in [0.01, 0.5, 0, -1]:
        case(f"leaky_relu/{slope}", "leaky_relu", lambda r: dict(x=values(r, (2, 5))), slope=slope)
    case("leaky_relu/special", "leaky_relu", dict(x=special), slope=0.1)
    for alpha in [1, 0.3]:
        case(f"elu/{alpha}", "elu", lambda r: dict(x=values(r, (2, 5))), alpha=alpha)
        case(f"elu/special_{alpha}", "elu", dict(x=special), alpha=alpha)


def add_losses():
    for reduction in ["mean", "sum", "none"]:
        for shape in [(), (5,), (2, 3), (0, 2)]:
            case(f"l1_loss/{reduction}_{text(shape)}", "l1_loss",
                 lambda r: dict(input=values(r, shape), target=values(r, shape)),
                 reduction=reduction)
            for log_target in [False, True]:
                case(f"kl_div/{reduction}_{text(shape)}_{log_target}", "kl_div",
                     lambda r: dict(input=values(r, shape, -3, 0),
                                    target=values(r, shape, -3, 0) if log_target
                                    else values(r, shape, 0.05, 1)),
                     reduction=reduction, log_target=log_target)
        for shape in [(4,), (3, 4), (2, 3, 4), (2, 2, 3, 3), (0, 3)]:
            V = shape[-1]

            def arrays(r, weighted, ignored=False):
                target = r.randint(0, V, shape[:-1])
                if ignored and target.size:
                    target = np.where(r.uniform(size=shape[:-1]) < 0.4, 1, target)
                inputs = dict(logits=values(r, shape, -3, 3), target=np.asarray(target))
                return {**inputs, **({"weight": values(r, (V,), 0.1, 2)} if weighted else {})}
            for weighted in [False, True]:
                name = f"{reduction}_{text(shape)}" + "_weighted" * weighted
                case(f"nll_loss/{name}", "nll_loss", lambda r: arrays(r, weighted),
                     reduction=reduction)
                case(f"nll_loss/{name}_ignored", "nll_loss", lambda r: arrays(r, weighted, True),
                     reduction=reduction, ignore_index=1)
            for smoothing in [0.0, 0.2]:
                name = f"{reduction}_{text(shape)}_{smoothing}"
                case(f"weighted_cross_entropy/{name}", "weighted_cross_entropy",
                     lambda r: arrays(r, True), reduction=reduction, label_smoothing=smoothing)
                case(f"weighted_cross_entropy/{name}_ignored", "weighted_cross_entropy",
                     lambda r: arrays(r, True, True), reduction=reduction, ignore_index=1,
                     label_smoothing=smoothing)
                for weighted in [False, True]:
                    case(f"weighted_cross_entropy/{name}_probabilities" + "_weighted" * weighted,
                         "weighted_cross_entropy",
                         lambda r: {"logits": values(r, shape, -3, 3),
                                    "probabilities": values(r, shape, 0, 1),
                                    **({"weight": values(r, (V,), 0.1, 2)} if weighted else {})},
                         reduction=reduction, label_smoothing=smoothing)
    case("nll_loss/all_ignored", "nll_loss",
         lambda r: dict(logits=values(r, (2, 3)), target=np.array([-100, -100])), reduction="mean")
    case("l1_loss/special", "l1_loss", dict(input=listed(1, inf, nan, 0), target=listed(1, 0, 0, inf)),
         reduction="none")
    for name, target in [("large", [0, 3]), ("shape", [0, 1, 2])]:
        case(f"error/nll_loss_{name}", "nll_loss",
             lambda r: dict(logits=values(r, (2, 3)), target=np.array(target)), reduction="mean")
    for op in ["l1_loss", "kl_div"]:
        case(f"error/{op}", op, lambda r: dict(input=values(r, (2, 3)), target=values(r, (4,))),
             reduction="mean", log_target=False)


def add_layers():
    for shape, causal, biased, softcap in [((3, 4), True, False, 2.0), ((2, 3, 4), False, True, 1.0),
                                           ((2, 4, 2), True, True, 30.0)]:
        square = (shape[-2], shape[-2])
        case(f"softcap_attention/{text(shape)}_{softcap}", "softcap_attention",
             lambda r: dict(q=values(r, shape, -4, 4), k=values(r, shape), v=values(r, shape),
                            **({"bias": values(r, square)} if biased else {})),
             causal=causal, softcap=softcap)
    for op, gates in [("gru", 3), ("lstm", 4)]:
        for B, T, C, H, layers, bias, both, started in [
                (1, 1, 1, 1, 1, True, False, False), (2, 3, 4, 2, 1, True, False, True),
                (2, 4, 3, 2, 2, True, False, False), (2, 3, 2, 3, 1, False, False, False),
                (2, 3, 2, 2, 1, True, True, True), (1, 3, 2, 2, 2, True, True, False)]:
            attrs = dict(num_layers=layers, bias=bias, bidirectional=both)
            directions = 2 if both else 1

            def shapes():
                for name in names_of(attrs):
                    width = C if "l0" in name else H * directions
                    yield name, {"weight_ih": (gates * H, width), "weight_hh": (gates * H, H)}.get(
                        name[:9], (gates * H,))
            states = ["h_0", "c_0"][:gates - 2] if started else []
            case(f"{op}/{B}x{T}x{C}_{H}_{layers}" + "_bias" * bias + "_both" * both, op,
                 lambda r: dict(x=values(r, (B, T, C)),
                                **{n: values(r, (layers * directions, B, H)) for n in states},
                                **weights(r, dict(shapes()))), **attrs)
    for layer in ["GRU", "LSTM"]:
        for sizes, both in [((3, 4), False), ((2, 3, 2), False), ((2, 3, 2), True)]:
            case(f"initial_recurrent/{layer}_{text(sizes)}_{both}", "initial_recurrent", {},
                 layer=layer, sizes=list(sizes), bidirectional=both, seed=1337)


if __name__ == "__main__":
    for add in [add_comparisons, add_reductions, add_indexing, add_elementwise, add_losses,
                add_layers]:
        add()
    write("extra", "extra.py")
