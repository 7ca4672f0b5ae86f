// comparison.hpp: elementwise comparison, maximum and minimum, and where with a number.
#pragma once

#include "heed/array/exact.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Elementwise comparison: a > b, a >= b, a < b, a <= b, a == b, a != b. A mask of the shape to
// which a and b broadcast, for where(), masked_fill() or AttentionOptions; Array(mask) has 0 and 1.
// A NaN is unequal to every number. Throws Error, such as "gt: shapes do not broadcast: a (2, 3), b
// (4)". To compare a tensor with an Array, compare a.value() with it.
Mask gt(In a, In b);
Mask ge(In a, In b);
Mask lt(In a, In b);
Mask le(In a, In b);
Mask eq(In a, In b);
Mask ne(In a, In b);
// The number is converted to Real, and compared with every element.
Mask gt(In a, double b);
Mask ge(In a, double b);
Mask lt(In a, double b);
Mask le(In a, double b);
Mask eq(In a, double b);
Mask ne(In a, double b);

// The same as operators: where(x > 0, x, 0). `x == y` does not ask whether two handles share a
// node: that is x.node() == y.node(). A Mask is no condition of an if statement.
inline Mask operator>(In a, In b) { return gt(a, b); }
inline Mask operator>=(In a, In b) { return ge(a, b); }
inline Mask operator<(In a, In b) { return lt(a, b); }
inline Mask operator<=(In a, In b) { return le(a, b); }
inline Mask operator==(In a, In b) { return eq(a, b); }
inline Mask operator!=(In a, In b) { return ne(a, b); }
inline Mask operator>(In a, double b) { return gt(a, b); }
inline Mask operator>=(In a, double b) { return ge(a, b); }
inline Mask operator<(In a, double b) { return lt(a, b); }
inline Mask operator<=(In a, double b) { return le(a, b); }
inline Mask operator==(In a, double b) { return eq(a, b); }
inline Mask operator!=(In a, double b) { return ne(a, b); }
inline Mask operator>(double a, In b) { return lt(b, a); }
inline Mask operator>=(double a, In b) { return le(b, a); }
inline Mask operator<(double a, In b) { return gt(b, a); }
inline Mask operator<=(double a, In b) { return ge(b, a); }
inline Mask operator==(double a, In b) { return eq(b, a); }
inline Mask operator!=(double a, In b) { return ne(b, a); }

// The larger or the smaller of a and b, elementwise; shapes broadcast. As in PyTorch, a NaN in a or
// b gives NaN, and where a equals b, each gets half of the gradient. (clamp() has a number as a
// limit.) Throws Error if the shapes do not broadcast.
Tensor maximum(In a, In b);
Tensor minimum(In a, In b);

// where() of mask.hpp with a number in the place of a or b: where(x > 0, x, 0). The condition and
// the tensor broadcast.
Tensor where(const Exact<Mask>& condition, In a, double b);
Tensor where(const Exact<Mask>& condition, double a, In b);

}  // namespace HEED_NAMESPACE
