// mask.hpp: masked_fill, where, tril, masks of attention, and dropout.
#pragma once

#include "heed/array/exact.hpp"
#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The causal mask for masked_fill, true where the key is in the query's future, so that the query
// must not attend to it. (The mask of AttentionOptions is the opposite, and its option `causal`
// needs no mask.) Of `queries` query positions and `keys` key positions, query t may attend to the
// keys 0 to past + t: the first query's own key has the index `past`. With a window, it may attend
// to the last `window` of these keys only. future_mask(T) is torch.triu(torch.ones(T, T),
// diagonal=1).bool(). Throws Error if there are too many elements.
Mask future_mask(std::size_t queries, std::size_t keys, std::size_t past = 0,
                 std::size_t window = 0, SourceLocation location = SourceLocation::current());
inline Mask future_mask(std::size_t T, SourceLocation location = SourceLocation::current()) {
  return future_mask(T, T, 0, 0, location);
}

// `value` where the mask is true, x elsewhere. The mask broadcasts to x's shape. The gradient is 0
// where the mask is true. To mask attention scores, use -infinity, not a large negative number.
Tensor masked_fill(In x, const Exact<Mask>& mask, double value);

// a where the condition is true, b elsewhere: where(x.value() > 0, x, 2 * x). All three broadcast
// to one shape.
Tensor where(const Exact<Mask>& condition, In a, In b);

// Like torch.tril: x (..., T, S) on and below the diagonal, 0 above the diagonal.
Tensor tril(In x, int diagonal = 0);

// Each element x becomes 0 with probability p, else x / (1 - p), which keeps the expected value.
// Throws Error for p outside [0, 1].
Tensor dropout(In x, double p, Generator& generator);

// The random factors of dropout, as in F.dropout: 0 with probability p, else 1 / (1 - p). If p is 0
// or 1, no random numbers are drawn. Throws Error for p outside [0, 1].
Array dropout_mask(const Shape& shape, double p, Generator& generator);

}  // namespace HEED_NAMESPACE
