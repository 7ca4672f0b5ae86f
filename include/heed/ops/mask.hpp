// mask.hpp: masked_fill, where, tril, masks of attention, and dropout.
#pragma once

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The causal mask of `queries` query positions and `keys` key positions, true where the query must
// not attend to the key. Query t may attend to the keys 0 to past + t: the first query's own key
// has the index `past`. With a window, it attends to the last `window` of these keys only.
// causal_mask(T) is torch.triu(torch.ones(T, T), diagonal=1).bool().
Mask causal_mask(std::size_t queries, std::size_t keys, std::size_t past = 0,
                 std::size_t window = 0);
inline Mask causal_mask(std::size_t T) { return causal_mask(T, T); }

// `value` where the mask is true, x elsewhere. The mask broadcasts to x's shape. The gradient is 0
// where the mask is true. To mask attention scores, use -infinity, not a large negative number.
Tensor masked_fill(const Tensor& x, const Mask& mask, double value,
                   SourceLocation location = SourceLocation::current());

// a where the condition is true, b elsewhere. All three broadcast to one shape. (They are passed by
// value, because with references the compiler would choose the template xt::where.)
Tensor where(Mask condition, Tensor a, Tensor b,
             SourceLocation location = SourceLocation::current());

// Like torch.tril: x (..., T, S) on and below the diagonal, 0 above the diagonal.
Tensor tril(const Tensor& x, int diagonal = 0, SourceLocation location = SourceLocation::current());

// Each element x becomes 0 with probability p, else x / (1 - p), which keeps the expected value.
// Throws Error for p outside [0, 1].
Tensor dropout(const Tensor& x, double p, Generator& generator,
               SourceLocation location = SourceLocation::current());

// The random factors of dropout, as in F.dropout: 0 with probability p, else 1 / (1 - p). If p is 0
// or 1, no random numbers are drawn. Throws Error for p outside [0, 1].
Array dropout_mask(const Shape& shape, double p, Generator& generator);

}  // namespace HEED_NAMESPACE
