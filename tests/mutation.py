#!/usr/bin/env python3
"""mutation.py: changes one sign, factor, index or term at a time, and shows that a test then fails.

    python3 tests/mutation.py                   test all mutants, in two copies of the project
    python3 tests/mutation.py --only Softmax    test the mutants whose line in --list matches a pattern
    python3 tests/mutation.py --list            print all mutants

A mutant is caught when heed_double_tests or heed_tests fails, crashes or does not end. heed_tests
is built, in one copy, only for the mutants that pass heed_double_tests. The script changes nothing in
the project's folder: it makes, builds and runs mutants in copies in a temporary folder.

Last full run: on 2026-11-22 all 317 mutants that existed then were caught, in 47 minutes on 2 cores
that had other work too. The 47 mutants of losses, selections and rms_norm were caught one by one.
Later, so were the 56 mutants of SiLU, rotary embedding and fused attention, with grouped queries,
windows and padding.
"""

import argparse
import concurrent.futures
import html
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

PROJECT = pathlib.Path(__file__).resolve().parent.parent

# file: (text to be found, its replacement). If the text occurs more than once, (number of the
# occurrence, occurrences) follows. Mutants that change only speed or rounding do not belong here.
TABLE = {
    "src/ops/activation.cpp": [
        ("return d * (Real{1} - t * t)", "return d * (Real{1} + t * t)"),
        ("return d * (Real{1} - t * t)", "return d * (Real{1} - t)"),
        ("return d * (Real{1} - t * t)", "return Real{1} - t * t"),
        ("return d * s * (Real{1} - s)", "return d * s * (Real{1} + s)"),
        ("return d * s * (Real{1} - s)", "return d * (Real{1} - s)"),
        ("return d * s * (Real{1} - s)", "return d * s"),
        ("v <= Pack(0), Pack(0), d", "v >= Pack(0), Pack(0), d"),
        ("v <= Pack(0), Pack(0), d", "v <= Pack(0), d, Pack(0)"),
        ("v <= Pack(0), Pack(0), d", "v <= Pack(0), Pack(0), d * v"),
        ("v <= Pack(0), Pack(0), d", "v < Pack(0), Pack(0), d"),
        ("d * (normal_cdf(v) + clamped", "d * (normal_cdf(v) - clamped"),
        ("clamped(v, -largest, largest) * normal_pdf(v)", "Real(0)"),
        ("clamped(v, -largest, largest) * normal_pdf(v)", "normal_pdf(v)"),
        ("Real(0.3989422804014327) *", "Real(0.7978845608028654) *"),
        ("xsimd::exp(Real(-0.5) * x * x)", "xsimd::exp(Real(-1) * x * x)"),
        ("(Real(1) - t * t) * du", "(Real(1) + t * t) * du"),
        ("(Real(1) - t * t) * du", "(Real(1) - t * t)"),
        ("t + v * (Real(1)", "t + (Real(1)"),
        ("Real(3) * cubic * v * v", "cubic * v * v"),
        ("return d * Real(0.5) *", "return d *"),
        # Silu
        ("d * s * (Real{1} + v * (Real{1} - s))", "d * s * (Real{1} - v * (Real{1} - s))"),
        ("d * s * (Real{1} + v * (Real{1} - s))", "d * s * (Real{1} + v * s)"),
        ("d * s * (Real{1} + v * (Real{1} - s))", "d * (Real{1} + v * (Real{1} - s))"),
        ("d * s * (Real{1} + v * (Real{1} - s))", "d * s"),
        ("infinity) / (Real{1} + xsimd::exp(-v))", "infinity) / (Real{1} + xsimd::exp(v))"),
    ],
    "src/ops/arithmetic.cpp": [
        # Add
        ("{sum_to(dy, a.shape()), sum_to(dy, b.shape())}", "{dy, sum_to(dy, b.shape())}"),
        ("{sum_to(dy, a.shape()), sum_to(dy, b.shape())}", "{sum_to(dy, a.shape()), dy}"),
        ("{sum_to(dy, a.shape()), sum_to(dy, b.shape())}",
         "{sum_to(dy, a.shape()), zeros(b.shape())}"),
        # Subtract
        ("sum_to(minus_dy, b.shape())", "sum_to(dy, b.shape())"),
        ("sum_to(minus_dy, b.shape())", "minus_dy"),
        ("{sum_to(dy, a.shape()), sum_to(minus_dy,", "{sum_to(minus_dy, a.shape()), sum_to(dy,"),
        # Multiply
        ("sum_to(product(dy, b), a.shape())", "sum_to(product(dy, a), a.shape())"),
        ("sum_to(product(dy, b), a.shape())", "product(dy, b)"),
        ("sum_to(product(dy, a), b.shape())", "sum_to(dy, b.shape())"),
        ("sum_to(product(dy, a), b.shape())", "product(dy, a)"),
        # Divide
        ("return -d * q; }, per_b, y)", "return d * q; }, per_b, y)"),
        ("return -d * q; }, per_b, y)", "return -d * q; }, dy, y)"),
        ("return -d * q; }, per_b, y)", "return -d * q; }, per_b, per_b)"),
        ("const Array per_b = quotient(dy, b)", "const Array per_b = dy"),
        ("sum_to(db, b.shape())};    // db = -dy", "db};    // db = -dy"),
        # Negate
        ("return -d; }, dy);  // dx = -dy", "return d; }, dy);  // dx = -dy"),
        ("return -d; }, dy);  // dx = -dy", "return -d - d; }, dy);  // dx = -dy"),
        ("return -d; }, dy);  // dx = -dy", "return d - d; }, dy);  // dx = -dy"),
        # AddConstant
        ("{ return dy; }  // dx = dy", "{ return map([](auto d) { return -d; }, dy); }"),
        ("{ return dy; }  // dx = dy", "{ return forward(dy); }"),
        ("{ return dy; }  // dx = dy", "{ return zeros(dy.shape()); }"),
        # Scale
        ("return d * c; }, dy)", "return d / c; }, dy)"),
        ("return d * c; }, dy)", "return -d * c; }, dy)"),
        ("return map([c = c](auto d) { return d * c; }, dy);", "return dy;"),
        # DivideByConstant
        ("return d / c; }, dy)", "return d * c; }, dy)"),
        ("return d / c; }, dy)", "return -d / c; }, dy)"),
        ("return map([c = c](auto d) { return d / c; }, dy);", "return dy;"),
        # Power
        ("static_cast<Real>(e * std::pow(v, e - 1))", "static_cast<Real>(std::pow(v, e - 1))"),
        ("static_cast<Real>(e * std::pow(v, e - 1))", "static_cast<Real>(e * std::pow(v, e))"),
        ("static_cast<Real>(e * std::pow(v, e - 1))", "static_cast<Real>(e * std::pow(v, e + 1))"),
        ("return d * s; }, dy, derivative)", "return -d * s; }, dy, derivative)"),
        ("if (p == 0) return zeros(x.shape());", ""),
        # Exp
        ("return d * e; }, dy, y)", "return d / e; }, dy, y)"),
        ("return d * e; }, dy, y)", "return -d * e; }, dy, y)"),
        ("return d * e; }, dy, y)", "return d * e * e; }, dy, y)"),
        # Log
        ("return d / v; }, dy, x)", "return d * v; }, dy, x)"),
        ("return d / v; }, dy, x)", "return -d / v; }, dy, x)"),
        ("return d / v; }, dy, x)", "return d / (v * v); }, dy, x)"),
        # Sqrt
        ("return d / (root + root)", "return d / root"),
        ("return d / (root + root)", "return -d / (root + root)"),
        ("return d / (root + root)", "return d / (root * root)"),
        # Abs
        ("return d * sign(v)", "return -d * sign(v)"),
        ("return d * sign(v)", "return d * v"),
        ("v < Pack(0), Pack(-1), Pack(0)", "v < Pack(0), Pack(1), Pack(0)"),
        ("xsimd::select(v > Pack(0), Pack(1)", "xsimd::select(v >= Pack(0), Pack(1)"),
        # Clamp
        ("v < Pack(lo), Pack(lo), v", "v > Pack(lo), Pack(lo), v"),
        ("raised > Pack(hi), Pack(hi), raised", "v > Pack(hi), Pack(hi), v"),
        ("(v >= Pack(lo)) && (v <= Pack(hi)), d,", "(v >= Pack(lo)), d,"),
        ("(v >= Pack(lo)) && (v <= Pack(hi)), d,", "(v <= Pack(hi)), d,"),
        ("(v >= Pack(lo)) && (v <= Pack(hi)), d,", "(v > Pack(lo)) && (v < Pack(hi)), d,"),
        ("(v >= Pack(lo)) && (v <= Pack(hi)), d,", "(v >= Pack(lo)) || (v <= Pack(hi)), d,"),
    ],
    "src/ops/fused_attention.cpp": [
        # backward: which block, which head, added up, scaled
        ("dQ.row_range(t, end)", "dQ.row_range(0, block.rows)"),
        ("gemm(view(dS), keys, dQ", "gemm(view(P), keys, dQ"),
        ("map_values([factor = scale](auto d) { return d * factor; }, dp, width, dp);", ""),
        ("dK.row_range(block.first, block.end),\n                 Output::accumulate",
         "dK.row_range(block.first, block.end),\n                 Output::overwrite"),
        ("Q.row_range(t, end), dK", "Q.row_range(0, block.rows), dK"),
        ("gemm(view(dS).transposed(), Q", "gemm(view(P).transposed(), Q"),
        ("gemm(view(P).transposed(), dO", "gemm(view(dS).transposed(), dO"),
        ("dO.row_range(t, end), dV", "dO.row_range(0, block.rows), dV"),
        ("dV.row_range(block.first, block.end),\n                 Output::accumulate",
         "dV.row_range(block.first, block.end),\n                 Output::overwrite"),
        ("dO.row_range(t, end), V", "dO.row_range(0, block.rows), V"),
        ("dO = head_of(dout, n.T, heads, b, h)", "dO = head_of(dout, n.T, heads, b, 0)"),
        ("dK = head_of(dk, n.S, kv_heads, b, kv)", "dK = head_of(dk, n.S, kv_heads, b, 0)"),
        ("dV = head_of(dv, n.S, kv_heads, b, kv)", "dV = head_of(dv, n.S, kv_heads, b, 0)"),
        ("b * rows * stride + h * width", "b * rows * stride", (1, 2)),
        ("b * rows * stride + h * width", "h * width", (2, 2)),
        # grouped queries
        ("const std::size_t group = heads / kv_heads", "const std::size_t group = 1"),
        ("i % heads / group, p.data()", "i % heads % (heads / group), p.data()"),
        ("i % heads / group, p.data()", "0, p.data()"),
        ("E = v.shape().back() / kv_heads", "E = v.shape().back() / heads"),
        # which keys a query attends to
        ("std::min(lengths[b], past + t + 1)", "std::min(lengths[b], t + 1)"),
        ("std::min(lengths[b], past + t + 1)", "past + t + 1"),
        ("past + t + 1) : lengths[b];", "past + t + 1) : lengths[0];"),
        ("past + t + 1 <= window ? 0 : past + t + 1 - window",
         "past + t + 1 <= window ? 0 : past + t - window"),
        ("past + t + 1 <= window ? 0 : past + t + 1 - window",
         "t + 1 <= window ? 0 : t + 1 - window"),
        ("std::max(block.first, first_key(t)) - block.first",
         "std::max(block.first, std::size_t{0}) - block.first"),
        ("std::fill(row, row + first, value);", ""),
        ("std::fill(row + end, row + block.padded_columns, value);", ""),
        ("gaps->data() + b * gaps->shape()[1] + block.first",
         "gaps->data() + block.first"),
        ("gaps->data() + b * gaps->shape()[1] + block.first",
         "gaps->data() + b * gaps->shape()[1]"),
        ("select(g != Pack(0), Pack(value), v)", "select(g != Pack(0), v, Pack(value))"),
        ("return window != 0 || std::find", "return std::find"),
        ("return window != 0 || std::find(lengths.begin(), lengths.end(), 0u) != lengths.end()",
         "return window != 0"),
        ("window == 0 || window >= S ? S :", "window == 0 ? S :"),
        ("(*padding)(b, lengths[b] - 1)", "(*padding)(0, lengths[b] - 1)"),
        # scores_gradient
        ("xsimd::exp(s - max) * factor", "xsimd::exp(s - max)"),
        ("max = row_max.data()[row], factor", "max = row_max.data()[0], factor"),
        ("1 / row_sum.data()[row]", "1 / row_sum.data()[0]"),
        ("softmax_row_backward(dp, width, dp, p)", "softmax_row_backward(dp, width, p, dp)"),
        ("    mask_row(p, -infinity, b, t, block);\n    mask_row(dp", "    mask_row(dp"),
        ("    mask_row(dp, 0, b, t, block);", ""),
        ("    mask_row(dp, 0, b, t, block);", "    mask_row(dp, 0, b, 0, block);"),
    ],
    "src/ops/einsum.cpp": [
        ("gradient_of(i, dy, operands)", "gradient_of(0, dy, operands)"),
        ("factors{{dy, equation.result}}", "factors{{ones(dy.shape()), equation.result}}"),
        ("for (std::size_t j = 0; j < operands.size(); ++j)\n      if (j != i)",
         "for (std::size_t j = 1; j < operands.size(); ++j)\n      if (j != i)"),
        ("if (j != i) factors", "factors"),
        ("return sum_to(full, own);", "return full;"),
        ("add_to_view(gradient, view,",
         "add_to_view(gradient, {view.shape, row_major_strides(view.shape)},"),
        ("view.strides[at] += own[k]", "view.strides[at] = own[k]"),
        ("expanded(reshaped(permuted_to(part, present)", "expanded(reshaped(part.values"),
        ("joined(joined(batch, inner), columns)), right)",
         "joined(joined(inner, batch), columns)), right)"),
    ],
    "src/ops/elementwise_loss.cpp": [
        # SquaredError
        ("return (v - t) * (v - t)", "return (v - t) * (v + t)"),
        ("return Real{2} * d * (v - t)", "return d * (v - t)"),
        ("return Real{2} * d * (v - t)", "return Real{2} * (v - t)"),
        ("map(gradient, dy, target, x)", "map(gradient, dy, x, target)", (1, 2)),
        # BinaryCrossEntropy
        ("term(Real{1} - t, xsimd::max(v, Pack(0)))", "xsimd::max(v, Pack(0))"),
        ("term(t, xsimd::max(-v, Pack(0)))", "term(t, xsimd::max(v, Pack(0)))"),
        ("select(factor == Pack(0), Pack(0), factor * v)", "select(factor == Pack(0), v, factor * v)"),
        ("xsimd::log1p(xsimd::exp(-xsimd::abs(v)))", "xsimd::log1p(xsimd::exp(-v))"),
        ("Real{1} / (Real{1} + xsimd::exp(-v)) - t", "Real{1} / (Real{1} + xsimd::exp(v)) - t"),
        ("Real{1} / (Real{1} + xsimd::exp(-v)) - t", "Real{1} / (Real{1} + xsimd::exp(-v)) + t"),
        ("return -d * v", "return d * v"),
        # Huber
        ("Real(0.5) * size * size", "size * size"),
        ("d * (size - Real(0.5) * d)", "d * (size - d)"),
        ("size <= Pack(d)", "size >= Pack(d)"),
        ("error > Pack(limit), Pack(limit)", "error > Pack(limit), error"),
        ("error < Pack(-limit), Pack(-limit)", "error < Pack(-limit), Pack(limit)"),
        ("map(gradient, dy, target, x)", "map(gradient, dy, x, target)", (2, 2)),
        # reduced
        ("reduction == Reduction::sum ? sum(", "reduction == Reduction::sum ? mean("),
    ],
    "src/ops/embedding.cpp": [
        ("to[c] += static_cast", "to[c] = static_cast"),
        ("to[c] += static_cast", "to[c] -= static_cast"),
        ("const Real* const from = dy.data() + i * width", "const Real* const from = dy.data()"),
        ("sums.data() + row(i) * width", "sums.data() + row(0) * width"),
        ("if (padding_idx == indices.data()[i]) continue;", ""),
    ],
    "src/ops/gather.cpp": [
        # Gather
        ("dx.data()[at_x] += dy.data()[at_y]", "dx.data()[at_x] = dy.data()[at_y]"),
        ("dx.data()[at_x] += dy.data()[at_y]", "dx.data()[at_x] -= dy.data()[at_y]"),
        ("dx.data()[at_x] += dy.data()[at_y]", "dx.data()[at_y] += dy.data()[at_x]"),
        ("from.start(line) + j * from.inner", "from.start(line) + i * from.inner"),
        ("to.start(line) + i * to.inner", "to.start(line) + i"),
        ("if (index < 0 || index >= size)", "if (index < 0 || index > size)"),
        # topk
        ("value(a) > value(b)", "value(a) < value(b)"),
        ("value(a) > value(b)", "value(a) >= value(b)"),
        ("return x[i * stride]", "return x[i]"),
        ("std::isnan(value(a)) ? !std::isnan(value(b)) :", "std::isnan(value(a)) ? false :"),
    ],
    "src/ops/loss.cpp": [
        ("factor - smoothed)", "factor + smoothed)"),
        ("factor - smoothed)", "factor)"),
        ("d * (xsimd::exp(x - max) * factor", "d * (xsimd::exp(x - max)"),
        ("d * (xsimd::exp(x - max) * factor", "(xsimd::exp(x - max) * factor"),
        ("out[target(i)] -= d * (1 - smooth)", "out[target(i)] += d * (1 - smooth)"),
        ("out[target(i)] -= d * (1 - smooth)", "out[target(i)] -= d"),
        ("out[target(i)] -= d * (1 - smooth)", "out[target(i)] -= d * (1 + smooth)"),
        ("smooth / static_cast<Real>(V)", "smooth"),
        ("Reduction::none ? i : 0] / divisor", "Reduction::none ? i : 0]"),
        ("Reduction::none ? i : 0] / divisor", "Reduction::none ? 0 : 0] / divisor"),
        ("mean ? static_cast<Real>(target_count())", "mean ? static_cast<Real>(targets.size())"),
        ("std::fill_n(out, V, Real{0})", "std::fill_n(out, V, Real{1})"),
    ],
    "src/ops/mask.cpp": [
        ("h != 0 ? Real{0} : d", "h == 0 ? Real{0} : d"),
        ("h != 0 ? Real{0} : d", "d"),
        ("h != 0 ? Real{0} : d", "h != 0 ? Real{0} : -d"),
        ("{ return lower(dy); }", "{ return dy; }"),
        ("{ return lower(dy); }", "{ return Tril{0}.lower(dy); }"),
        ("{ return lower(dy); }", "{ return Tril{diagonal - 1}.lower(dy); }"),
        ("return d * m; }, dy, mask)", "return d; }, dy, mask)"),
        ("return d * m; }, dy, mask)", "return -d * m; }, dy, mask)"),
        ("return d * m; }, dy, mask)", "return d * m * m; }, dy, mask)"),
        # Where
        ("xsimd::select(c != Pack(0), u, v)", "xsimd::select(c != Pack(0), v, u)"),
        ("xsimd::select(c != Pack(0), d, Pack(0))", "xsimd::select(c != Pack(0), d, d)"),
        ("xsimd::select(c != Pack(0), Pack(0), d)", "xsimd::select(c != Pack(0), d, Pack(0))"),
        ("sum_to(map(kept, condition, dy), a.shape())", "map(kept, condition, dy)"),
        ("sum_to(map(rest, condition, dy), b.shape())", "map(rest, condition, dy)"),
    ],
    "src/ops/matmul.cpp": [
        # MatMul
        ("matrix_product(dy, Transpose::no, b, Transpose::yes)",
         "matrix_product(dy, Transpose::no, b, Transpose::no)"),
        ("matrix_product(a, Transpose::yes, dy, Transpose::no)",
         "matrix_product(a, Transpose::no, dy, Transpose::no)"),
        ("return {sum_to(da, a.shape()), sum_to(db, b.shape())};",
         "return {da, sum_to(db, b.shape())};"),
        ("return {sum_to(da, a.shape()), sum_to(db, b.shape())};",
         "return {sum_to(da, a.shape()), db};"),
        ("rows{a.data(), a.size() / k,", "rows{a.data(), a.shape()[a.dimension() - 2],"),
        # Linear
        ("parallel_gemm(d, weight_of", "parallel_gemm({dy.data(), rows, 1, out}, weight_of"),
        ("parallel_gemm(d.transposed(),", "parallel_gemm(d.row_range(0, 1).transposed(),"),
        ("undefined_array() : sum_to(dy, bias.shape())", "undefined_array() : zeros(bias.shape())"),
        ("undefined_array() : sum_to(dy, bias.shape())", "undefined_array() : dy"),
        ("return {std::move(dx), std", "return {map([](auto d) { return -d; }, dx), std"),
        ("std::move(dweight),", "map([](auto d) { return -d; }, dweight),"),
    ],
    "src/ops/normalize.cpp": [
        # LayerNorm
        ("(u - mean_g - v * mean_gn) * scale", "(u + mean_g - v * mean_gn) * scale"),
        ("(u - mean_g - v * mean_gn) * scale", "(u - mean_g + v * mean_gn) * scale"),
        ("(u - mean_g - v * mean_gn) * scale", "(u - v * mean_gn) * scale"),
        ("(u - mean_g - v * mean_gn) * scale", "(u - mean_g) * scale"),
        ("(u - mean_g - v * mean_gn) * scale", "(u - mean_g - v * mean_gn)"),
        ("sum_of(g, width) / size", "sum_of(g, width)"),
        ("dot_of(g, n, width) / size", "dot_of(g, n, width)"),
        ("return d * w; }, g, width, dy,", "return d; }, g, width, dy,"),
        ("return (v - m - rest) * s;", "return v - m - rest;"),
        ("return (v - m - rest) * s;", "return (v - m) * s;"),
        ("std::abs(rest) * scale > epsilon", "false"),
        ("m = means.data()[row],", "m = means.data()[0],"),
        ("add_product(dweight.data() + chunk, d, n.data())",
         "add_product(dweight.data() + chunk, d, g.data())"),
        ("to[i] += a[i] * b[i]", "to[i] = a[i] * b[i]"),
        ("to[i] += a[i];", "to[i] = a[i];"),
        ("total(dbias, bias)", "total(dweight, bias)"),
        # CosineSimilarity
        ("(v / angle.norm_product - own_a)", "(v / angle.norm_product + own_a)"),
        ("(v / angle.norm_product - own_a)", "(v / angle.norm_product)"),
        ("(v / angle.norm_product - own_a)", "(v - own_a)"),
        ("(u / angle.norm_product - own_b)", "(u / angle.norm_product + own_b)"),
        ("(u / angle.norm_product - own_b)", "(v / angle.norm_product - own_b)"),
        ("angle.cosine * u / (angle.a * angle.a)", "angle.cosine * u / angle.a"),
        ("angle.cosine * v / (angle.b * angle.b)", "angle.cosine * v / (angle.a * angle.a)"),
        ("angle.a > eps ?", "angle.a > 0 ?"),
        ("angle.b > eps ?", "angle.b > 0 ?"),
        ("dy.data()[i]", "dy.data()[0]"),
        # RmsNorm
        ("1 / std::sqrt(mean_square + eps)", "1 / std::sqrt(mean_square)"),
        ("dot_of(in, in, width) / static_cast<double>(width)", "dot_of(in, in, width)"),
        ("(u - v * mean_gn) * scale", "(u + v * mean_gn) * scale"),
        ("(u - v * mean_gn) * scale", "u - v * mean_gn"),
        ("(u - v * mean_gn) * scale", "u * scale"),
        ("dot_of(g, n.data() + at, width) / static_cast<double>(width)",
         "dot_of(g, n.data() + at, width)"),
        ("const Array dyn = map([](auto d, auto v) { return d * v; }, dy, n);",
         "const Array dyn = map([](auto d, auto v) { return d * v; }, dy, x);"),
    ],
    "src/ops/reduce.cpp": [
        # Sum
        ("return expand_reduced(dy, x, axes);  // dx_i = dy", "return zeros(x.shape());"),
        ("return expand_reduced(dy, x, axes);  // dx_i = dy",
         "return map([](auto d) { return -d; }, expand_reduced(dy, x, axes));"),
        ("return expand_reduced(dy, x, axes);  // dx_i = dy",
         "return map([n = count_over(x, axes)](auto d) { return d / n; }, "
         "expand_reduced(dy, x, axes));"),
        # Mean
        ("return d / n; }, expand_reduced(", "return d * n; }, expand_reduced("),
        ("return d / n; }, expand_reduced(", "return -d / n; }, expand_reduced("),
        ("return map([n](auto d) { return d / n; }, expand_reduced(dy, x, axes));",
         "return expand_reduced(dy, x, axes);"),
        # Max
        ("return d * m / n;", "return d * m;"),
        ("return d * m / n;", "return d / n;"),
        ("return d * m / n;", "return -d * m / n;"),
        ("(v == max) || (xsimd::isnan(v) && xsimd::isnan(max))", "(v == max)"),
        # Variance
        ("return d * (v + v) / n;", "return d * v / n;"),
        ("return d * (v + v) / n;", "return -d * (v + v) / n;"),
        ("return d * (v + v) / n;", "return d * (v + v);"),
        ("expand_reduced(dy, x, axes),\n               deviations(x))",
         "expand_reduced(dy, x, axes), x)"),
        ("std::max(count_over(x, axes) - correction, Real{0});", "std::max(count_over(x, axes), Real{0});",
         (2, 2)),
    ],
    "src/ops/shape.cpp": [
        # Reshape
        ("return reshaped(dy, x.shape());", "return dy;"),
        ("return reshaped(dy, x.shape());", "return zeros(x.shape());"),
        ("return reshaped(dy, x.shape());", "return ones(x.shape());"),
        # Expand
        ("return sum_to(dy, x.shape());", "return dy;"),
        ("return sum_to(dy, x.shape());", "return zeros(x.shape());"),
        ("return sum_to(dy, x.shape());",
         "return read_view(dy, {shape_of(x), row_major_strides(shape_of(x))});"),
        # Permute
        ("inverse[order[k]] = k;", "inverse[k] = order[k];"),
        ("inverse[order[k]] = k;", "inverse[order[k]] = order.size() - 1 - k;"),
        ("return permuted(dy, inverse);", "return dy;"),
        # Slice
        ("add_to_view(dx, view, dy);", ""),
        ("add_to_view(dx, view, dy);",
         "add_to_view(dx, view, dy), add_to_view(dx, view, dy);"),
        ("add_to_view(dx, view, dy);", "add_to_view(dx, {view.shape, view.strides}, dy);"),
        ("Array dx = zeros(x.shape());", "Array dx = ones(x.shape());"),
        # Concat
        ("parts.push_back(read_view(dy, view))", "parts.push_back(read_view(dy, views[0]))"),
        ("parts.push_back(read_view(dy, view))", "parts.push_back(zeros(view.shape))"),
        ("parts.push_back(read_view(dy, view))",
         "parts.push_back(read_view(dy, {view.shape, view.strides}))"),
    ],
    "src/ops/rotary.cpp": [
        ("{ return rotated(dy, -1); }", "{ return rotated(dy, 1); }"),
        ("{ return rotated(dy, -1); }", "{ return dy; }"),
        ("a * cosine[i] - b * s", "a * cosine[i] + b * s"),
        ("a * s + b * cosine[i]", "a * s - b * cosine[i]"),
        ("a * s + b * cosine[i]", "b * s + a * cosine[i]"),
        ("s = direction * sine[i]", "s = sine[i]"),
        ("cosines.data() + row % T * half", "cosines.data()"),
        ("h < C; h += 2 * half", "h < 2 * half; h += 2 * half"),
        ("static_cast<double>(first_position + t)", "static_cast<double>(t)"),
        ("-static_cast<double>(i) / static_cast<double>(half)",
         "-static_cast<double>(2 * i) / static_cast<double>(half)"),
    ],
    "src/ops/softmax.cpp": [
        # Softmax
        ("map_lines(softmax_row_backward, axis, dy, y)",
         "map_lines(softmax_row_backward, 0, dy, y)"),
        ("map_lines(softmax_row_backward, axis, dy, y)",
         "map_lines(softmax_row_backward, axis, y, dy)"),
        ("if (e.sum == 0) return;", ""),
        # LogSoftmax
        ("return g - xsimd::exp(l) * sum", "return g + xsimd::exp(l) * sum"),
        ("return g - xsimd::exp(l) * sum", "return g - xsimd::exp(l)"),
        ("return g - xsimd::exp(l) * sum", "return g - l * sum"),
        ("return static_cast<void>(std::fill_n(dx, n, Real{0}));",
         "return static_cast<void>(std::fill_n(dx, n, Real{1}));"),
        # LogSumExp
        ("return s * d; }, p, dy", "return -s * d; }, p, dy"),
        ("return s * d; }, p, dy", "return s; }, p, dy"),
        (": std::exp(v - l)", ": std::exp(v)"),
        ("return l == -infinity ? Real{0} :", "return l == -infinity ? Real{1} :"),
    ],
    "src/ops/softmax_row.hpp": [
        ("return p * (d - mean)", "return p * (d + mean)"),
        ("return p * (d - mean)", "return d - mean"),
        ("return p * (d - mean)", "return p * d"),
        ("dot_of(dy, y, n)", "sum_of(dy, n)"),
    ],
    "src/autograd/backward.cpp": [
        ("input->version == node.input_versions[i]", "input->version >= node.input_versions[i]"),
        ("check_not_freed(*node), check_unchanged(*node);", "check_not_freed(*node);"),
        ("add_to(output.grad, upstream);", "output.grad = upstream;"),
        ("return sorted;", "return NodeList(sorted.rbegin(), sorted.rend());"),
        ("if (node->depth > 0) node->has_grad = false",
         "if (node->depth > 1) node->has_grad = false"),
        ("ones(output.shape())", "zeros(output.shape())"),
        ("!options.keep_graph && node->depth > 0", "node->depth > 0"),
    ],
    "src/autograd/record.cpp": [
        ("add_to(input.grad, part);", "input.grad = std::move(part);"),
        ("add_to(input.grad, part);", ""),
        (" || !from.inputs[i]->requires_grad", ""),
        ("std::any_of", "std::all_of"),
        ("return grad_enabled() && ", "return "),
        ("std::max(node->depth, input->depth + 1)", "input->depth + 1"),
        ("std::max(node->depth, input->depth + 1)", "std::max(node->depth, input->depth)"),
    ],
    "src/autograd/tensor.cpp": [
        ("  node.has_grad = false;\n", ""),
        ("Tensor(x.value(location), false, location)",
         "Tensor(x.value(location), x.requires_grad(), location)"),
        ("{ --num_no_grads; }", "{ num_no_grads = 0; }"),
    ],
    "src/autograd/gradcheck.cpp": [
        ("difference(f_above.value(), f_below.value(), upstream)",
         "difference(f_below.value(), f_above.value(), upstream)"),
        ("sum.value += (above - below) * factor;", "sum.value += (above + below) * factor;"),
        ("result.ok = error <= 1;", "result.ok = true;"),
        ("if (error <= result.worst) return;", "if (!(error > result.worst)) return;"),
        ("  x = center;\n", ""),
    ],
    "src/array/reduce.cpp": [
        ("*out += sum_of(in, loop.row_size())", "*out = sum_of(in, loop.row_size())"),
        ("out[i] += static_cast<double>(in[i])", "out[i] = static_cast<double>(in[i])"),
        ("sum_of(x.data() + r * n, n)", "sum_of(x.data(), n)"),
        ("if (!rows || results == 0)", "if (results == 0)"),
        ("kept.begin() + static_cast<std::ptrdiff_t>(dy.dimension() - shape.size())",
         "kept.begin()"),
        ("view.strides[k] = own[order[k]]", "view.strides[k] = own[k]"),
        ("out[i] += in[i]", "out[i] -= in[i]"),
        ("out[i] += in[i]", "out[i] = in[i]"),
        ("for (std::size_t i = begin; i < end; ++i) out[i]",
         "for (std::size_t i = begin + 1; i < end; ++i) out[i]"),
        ("parts[begin / elementwise_grain] =", "parts[0] ="),
        ("std::isfinite(v)", "!std::isnan(v)"),
    ],
    "src/array/lines.cpp": [
        ("for (std::size_t i = axis + 1;", "for (std::size_t i = axis;"),
        ("sum += static_cast<double>(x[i]);", "sum = static_cast<double>(x[i]);"),
        ("sum += static_cast<double>(a[i]) *", "sum -= static_cast<double>(a[i]) *"),
        ("sum += deviation * deviation;", "sum += deviation;"),
        ("x[i] > max ? x[i] : max", "x[i]"),
    ],
    "src/array/gemm_library.cpp": [
        ("output == Output::accumulate ? Real{1} : Real{0}", "Real{0}"),
    ],
    "src/array/matmul.cpp": [
        ("N, K, alpha,", "N, K, T{1},"),
        ("b.is_transposed ? K : N, alpha,", "b.is_transposed ? K : N, T{1},"),
        ("if (beta == 0) std::fill_n(c.data, N, T{0});", ""),
        ("blas_flag(!b.is_transposed)", "blas_flag(b.is_transposed)"),
        ("a.is_transposed ? lda : 1, 1,", "1, 1,"),
        ("c.row_range(begin, end), output", "c.row_range(0, end - begin), output"),
        ("a_is_rows = transpose_a == Transpose::no && ", "a_is_rows = "),
        ("k, k}, first_b,", "k, k}, matrix_at(b, 0, Transpose::no),"),
        ("gemm(first_a, first_b,", "gemm(first_a, matrix_at(b, 0, Transpose::no),"),
        ("static_cast<std::size_t>(index_a)", "i"),
        ("static_cast<std::size_t>(index_b)", "i"),
    ],
    "src/array/strided.cpp": [
        ("if (from[i] != 1) strides", "strides"),
        ("strides[added + i] = own[i]", "strides[i] = own[i]"),
        ("x.data() + view.offset + at[1]", "x.data() + at[1]", (1, 3)),
        ("x.data() + view.offset + at[1]", "x.data() + at[1]", (2, 3)),
        ("x.data() + view.offset + at[1]", "x.data() + at[1]", (3, 3)),
        ("++i, in += step", "++i, ++in"),
        ("out += step) *out += in[i]", "out += 1) *out += in[i]"),
        ("*out += in[i]", "*out = in[i]"),
    ],
    "src/optim/adamw.cpp": [
        ("static_cast<Real>(1 - options_.beta1)", "static_cast<Real>(options_.beta1)"),
        ("static_cast<Real>(1 - options_.beta2)", "static_cast<Real>(options_.beta2)"),
        ("1 - options_.lr * decay", "1 + options_.lr * decay"),
        ("1 - options_.lr * decay", "1 - decay"),
        ("1 - std::pow(options_.beta1, t)", "1 - options_.beta1"),
        ("std::sqrt(1 - std::pow(options_.beta2, t))", "1 - std::pow(options_.beta2, t)"),
        ("options_.lr / correction1", "options_.lr"),
        ("parameter.dim() >= 2", "parameter.dim() >= 1"),
        ("options_.decoupled ? 0 : decay", "0"),
        ("+ l2_penalty * decayed", "- l2_penalty * decayed"),
        ("beta1 * load_next(ms + i, rest) +", "beta1 * load_next(ms + i, rest) -"),
        ("one_minus_beta2 * (grad * grad)", "one_minus_beta2 * grad"),
        ("decayed - step_size *", "decayed + step_size *"),
        ("xsimd::sqrt(moment2) / root", "xsimd::sqrt(moment2)"),
        ("xsimd::sqrt(moment2) / root", "moment2 / root"),
        ("/ root + eps;", "/ root;"),
        ("  ++step_;\n  for", "  step_ = 1;\n  for"),
        ("step_ = state.step;", "step_ = 0;"),
    ],
    "src/optim/sgd.cpp": [
        ("return grad + decay * w", "return grad - decay * w"),
        ("momentum * m + grad_weight * grad", "m + grad_weight * grad"),
        ("momentum * m + grad_weight * grad", "momentum * m + grad"),
        ("return grad + momentum * m;", "return m + momentum * grad;"),
        ("return w - lr * grad", "return w + lr * grad"),
        ("1 - options_.dampening", "1 + options_.dampening"),
        ("map(average, b, g) : g;",
         "map(average, b, g) : map([=](auto grad) { return grad_weight * grad; }, g);"),
    ],
    "src/optim/clip.cpp": [
        ("max_norm / (norm + 1e-6)", "norm / (max_norm + 1e-6)"),
        ("norm + 1e-6", "norm + 1e-2"),
        ("if (scale >= 1) return norm;", ""),
        ("sum += sum_of_squares", "sum = sum_of_squares"),
        ("sum += std::pow", "sum = std::pow"),
        ("std::pow(sum, 1 / p)", "sum"),
        ("/ largest, p)", ", p)"),
        ("return v * s;", "return v / s;"),
        ("std::abs(static_cast<double>(x.data()[i]))", "static_cast<double>(x.data()[i])"),
        ("std::abs(static_cast<double>(g))", "static_cast<double>(g)"),
        ("if (value > result", "if (value < result"),
    ],
    "src/optim/optimizer.cpp": [
        ("parameter.clear_grad(location);", "static_cast<void>(parameter);"),
    ],
    "src/optim/schedule.cpp": [
        ("static_cast<double>(step) + 1, all", "static_cast<double>(step), all"),
        ("static_cast<double>(warmup) + 1", "static_cast<double>(warmup)"),
        ("if (step >= decay_steps) return min_lr;", ""),
        ("static_cast<double>(step - warmup)", "static_cast<double>(step)"),
        ("static_cast<double>(decay_steps - warmup)", "static_cast<double>(decay_steps)"),
        ("0.5 * (1 + std::cos", "0.5 * (1 - std::cos"),
        ("0.5 * (1 + std::cos", "(1 + std::cos"),
        ("(lr - min_lr)", "lr"),
        ("cosine_factor(progress) * (lr - eta_min)", "cosine_factor(progress) * lr"),
        ("(end_factor - start_factor)", "end_factor"),
        ("* std::min(progress, 1.0)", "* progress"),
        ("static_cast<double>(step / step_size)", "static_cast<double>(step) / double(step_size)"),
        ("std::pow(gamma, static_cast<double>(step))", "gamma * static_cast<double>(step)"),
    ],
    # Headers: each of these builds nearly everything again.
    "src/array/lines.hpp": [
        ("line / inner * size * inner + line % inner", "line * size"),
        ("into[j] = *in;", "into[j] = *from.data();"),
    ],
    "include/heed/array/map.hpp": [
        ("in_b[static_cast<std::ptrdiff_t>(i) * sb]", "in_b[static_cast<std::ptrdiff_t>(i) * sa]"),
        ("if (i < n) store_partial", "if (i + 1 < n) store_partial"),
    ],
    "include/heed/array/matmul.hpp": [
        ("data + begin * (is_transposed ? 1 : stride)", "data + begin * stride"),
    ],
    "include/heed/array/strided.hpp": [
        ("steps[k].back() == strides[k][axis] * static_cast<std::ptrdiff_t>(shape[axis])",
         "steps[0].back() == strides[0][axis] * static_cast<std::ptrdiff_t>(shape[axis])"),
        ("static_cast<std::ptrdiff_t>(row % extents[i]) * steps[k][i]",
         "static_cast<std::ptrdiff_t>(row) * steps[k][i]"),
        ("result[k] += inside * steps[k].back()", "result[k] += inside"),
    ],
    "include/heed/autograd/record.hpp": [
        ("i = 0; i < inputs.size(); ++i) accumulate", "i = 1; i < inputs.size(); ++i) accumulate"),
        ("accumulate(*this, i, std::move(grads[i]))", "accumulate(*this, i, grads[0])"),
    ],
}

FEWEST = 3  # mutants that each operation in src/ops must have

# (program, selection of tests): these run on a mutant in this order until one fails, after the tests
# of heed_double_tests that have the tag of the mutated file. Comparisons with PyTorch run after other
# tests, because they would hide gaps in the checks of single operations. The last selection leaves
# out tests of files, of memory and of traces, which check no derivatives.
FOLDERS = ["array", "autograd", "golden", "nn", "ops", "optim", "train"]
DOUBLE_TESTS = [("heed_double_tests", "~[golden]~[.]"), ("heed_double_tests", "[golden]")]
FLOAT_TESTS = [
    ("heed_tests", ",".join(f"[{folder}]~[.]~[safetensors]~[atomic_file]~[pool]~[trace]~[timing]"
                            for folder in FOLDERS)),
]
COPIED = ["CMakeLists.txt", "cmake", "examples", "include", "lessons", "src", "tests"]
# Mutants need no plots, studies, command line and lessons, and no other tests. These sources are not
# copied, and these lines of tests/CMakeLists.txt are left out.
LEFT_OUT = re.compile(
    rf"(src/(app|report|study)/.*|tests/(?!(double|{'|'.join(FOLDERS)})/).*_test)\.cpp")
UNNEEDED = ["target_link_libraries(heed_tests PRIVATE heed_commands)",
            "add_dependencies(heed_tests heed_lessons heed_app heed_examples heed_uncaught_error\n"
            "  heed_slider_numbers heed_token_ids)"]


class TableError(Exception):
    """The table does not fit the project, or something does not build or pass without a mutant."""


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    which: int = 1
    of: int = 1

    def place(self, text):
        places = [found.start() for found in re.finditer(re.escape(self.old), text)]
        if len(places) != self.of or self.old == self.new:
            raise TableError(f"{self.file}: found {len(places)} times, not {self.of}: {self.old}")
        return places[self.which - 1]

    def applied_to(self, text):
        at = self.place(text)
        return text[:at] + self.new + text[at + len(self.old):]

    def described(self, text):
        at = self.place(text)
        line = text.count("\n", 0, at) + 1
        change = f"{self.old}  ->  {self.new or '(nothing)'}"
        return f"{self.file}:{line}  {operation_at(text, at)}  " + re.sub(r"\n\s*", " ", change)


def operations(text):
    """(name, start offset, end offset) of each operation's struct."""
    struct = r"^struct (\w+) \{\n  static constexpr std::string_view name.*?^\};"
    return [(found[1], *found.span()) for found in re.finditer(struct, text, re.M | re.S)]


def operation_at(text, at):
    return next((name for name, begin, end in operations(text) if begin <= at < end), "-")


def project_text(file):
    return (PROJECT / file).read_text(encoding="utf-8")


def planned():
    """All mutants, each with its line in --list. Raises TableError if the table is wrong."""
    for line in UNNEEDED:
        if line not in project_text("tests/CMakeLists.txt"):
            raise TableError(f"tests/CMakeLists.txt: not found: {line}")
    mutants = []
    for file, rows in TABLE.items():
        for old, new, *occurrence in rows:
            mutant = Mutant(file, old, new, *(occurrence[0] if occurrence else ()))
            mutants.append((mutant, mutant.described(project_text(file))))
    for source in sorted((PROJECT / "src/ops").glob("*.cpp")):
        file = f"src/ops/{source.name}"
        for name, _, _ in operations(project_text(file)):
            count = sum(bool(re.match(rf"{file}:\d+  {name}  ", line)) for _, line in mutants)
            if count < FEWEST:
                raise TableError(f"{file}: {name} has {count} mutants, at least {FEWEST} are due")
    return mutants


class Copy:
    """A copy of the project that is built and tested with one mutant at a time."""

    def __init__(self, folder):
        self.folder, self.build = folder, folder / "build"
        self.limits = {}  # seconds that tests may take
        self.update()
        # -O1, because a mutant takes more time to compile than to run.
        command = ["cmake", "-G", "Ninja", "-S", self.folder, "-B", self.build,
                   "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
                   "-DHEED_NATIVE=ON", *fast_linker()]
        self.call(command, "cannot be configured")
        self.check_unchanged(DOUBLE_TESTS)
        listed = subprocess.run([self.build / "tests/heed_double_tests", "--list-tags"], text=True,
                                stdout=subprocess.PIPE, check=False).stdout
        self.tags = set(re.findall(r"\[(\w+)\]", listed))
        self.check_unchanged({tests for file in TABLE for tests in self.tests_of(file)})

    def check_unchanged(self, tests):
        """Builds the tests and runs them without a mutant. All must pass."""
        for program in {each[0] for each in tests}:
            self.make(program)
        for each in tests:
            began = time.monotonic()
            failure = self.failure(each, limit=600)
            if failure:
                raise TableError(f"without any mutant, {failure}")
            self.limits[each] = 10 + 5 * (time.monotonic() - began)

    def tests_of(self, file):
        """The tests with the tag of the file: [attention] for src/ops/fused_attention.cpp."""
        stem = pathlib.Path(file).stem
        return [("heed_double_tests", f"[{tag}]~[golden]~[.]")
                for tag in sorted({stem, *stem.split("_")} & self.tags)]

    def update(self):
        """Copies the files that have changed, and removes files that no longer exist."""
        wanted = {}
        for top in COPIED:
            for path in [PROJECT / top, *(PROJECT / top).rglob("*")]:
                file = path.relative_to(PROJECT).as_posix()
                if path.is_file() and not LEFT_OUT.fullmatch(file):
                    wanted[file] = path.read_bytes()
            for path in (self.folder / top).rglob("*"):
                if path.is_file() and path.relative_to(self.folder).as_posix() not in wanted:
                    path.unlink()
        for line in map(str.encode, UNNEEDED):
            wanted["tests/CMakeLists.txt"] = wanted["tests/CMakeLists.txt"].replace(line, b"")
        for file, content in wanted.items():
            path = self.folder / file
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def call(self, command, otherwise):
        result = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        if result.returncode != 0:
            raise TableError(f"{otherwise}:\n{result.stdout[-4000:]}")

    def make(self, program):
        self.call(["ninja", "-C", self.build, "-j2", program], "DOES NOT COMPILE")

    def failure(self, tests, limit=None):
        """'' when the tests pass, else a description of the first failure."""
        program, selection = tests
        # All mutants have the same seed, so that they draw the same random numbers. Tests get at
        # most 8 GB and their waiting threads sleep, because other programs may be running.
        command = ["sh", "-c", 'ulimit -v 8000000; exec "$0" "$@"', self.build / "tests" / program,
                   selection, "--abort", "--reporter", "xml"]
        environment = {**os.environ, "HEED_SEED": "1", "OMP_WAIT_POLICY": "passive"}
        log = self.build / "tests.xml"
        with open(log, "w", encoding="utf-8") as out:
            try:
                code = subprocess.run(command, cwd=self.build, env=environment, stdout=out,
                                      stderr=subprocess.DEVNULL,
                                      timeout=limit or self.limits[tests]).returncode
                ends = "crashes" if code < 0 else "fails" if code > 0 else ""
            except subprocess.TimeoutExpired:
                ends = "does not end"
        cases = re.findall(r'<TestCase name="([^"]*)"', log.read_text(errors="replace"))
        if not cases and not ends:
            raise TableError(f"{program} runs none of {selection}")
        where = f'at "{html.unescape(cases[-1])}"' if cases else "before its first test"
        return f"{program} {ends} {where}" if ends else ""

    def verdict(self, mutant, tests):
        path = self.folder / mutant.file
        whole = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied_to(whole), encoding="utf-8")
        try:
            self.make(tests[0][0])
            if tests is DOUBLE_TESTS:
                tests = self.tests_of(mutant.file) + tests
            return next(filter(None, map(self.failure, tests)), "SURVIVED")
        except TableError as error:
            return str(error)
        finally:
            path.write_text(whole, encoding="utf-8")


def fast_linker():
    """The CMake options that select the fastest installed linker."""
    found = [name for name in ("mold", "lld", "gold") if shutil.which(f"ld.{name}")]
    return [f"-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld={name}" for name in found[:1]]


def judged(mutants, tests, copies, pool):
    """(mutant, line, verdict) of each mutant, in order. Each copy tests one mutant at a time."""
    free = queue.Queue()
    for copy in copies:
        free.put(copy)

    def judge(item):
        copy = free.get()
        try:
            return (*item, copy.verdict(item[0], tests))
        finally:
            free.put(copy)

    return pool.map(judge, mutants)


def run(mutants, jobs, folder):
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            copies = list(pool.map(Copy, [folder / str(i) for i in range(jobs)]))
            print(f"{jobs} copies built and passing after {time.monotonic() - began:.0f} s",
                  flush=True)
            left, verdicts = [], []
            for mutant, line, verdict in judged(mutants, DOUBLE_TESTS, copies, pool):
                if verdict == "SURVIVED":
                    left.append((mutant, line))
                else:
                    print(f"{line}\n    {verdict}", flush=True)
                    verdicts.append(verdict)
            if left:
                print(f"heed_tests, for the {len(left)} mutants that pass heed_double_tests:",
                      flush=True)
                copies[0].check_unchanged(FLOAT_TESTS)
            for _, line, verdict in judged(left, FLOAT_TESTS, copies[:1], pool):
                print(f"{line}\n    {verdict}", flush=True)
                verdicts.append(verdict)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    caught = sum(v.startswith("heed_") for v in verdicts)
    used = sum(os.times()[2:4])  # processor time of the programs that were run
    print(f"{caught} of {len(verdicts)} mutants caught, in {(time.monotonic() - began) / 60:.0f} "
          f"minutes on {os.cpu_count()} cores, {used / len(verdicts):.1f} core-seconds a mutant")
    return 0 if caught == len(verdicts) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("--only", metavar="PATTERN", default="", help="those whose line matches")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="copies side by side (2)")
    parser.add_argument("--keep", metavar="DIR", help="put the copies there, and use them again")
    options = parser.parse_args()
    mutants = [(m, line) for m, line in planned() if re.search(options.only, line)]
    if options.list or not mutants:
        print(*(line for _, line in mutants), f"{len(mutants)} mutants", sep="\n")
        return 0 if mutants else 1
    os.nice(10)
    jobs = max(1, min(options.jobs, len(mutants)))
    if options.keep:
        return run(mutants, jobs, pathlib.Path(options.keep).resolve())
    with tempfile.TemporaryDirectory(prefix="heed_mutation_") as folder:
        return run(mutants, jobs, pathlib.Path(folder))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TableError as error:
        sys.exit(f"mutation.py: {error}")
