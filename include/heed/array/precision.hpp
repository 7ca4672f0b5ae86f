// precision.hpp: the number type Real (float or double) and the macro HEED_NAMESPACE.
#pragma once

// The library is built twice: `heed` computes in float, `heed_double` (for gradient checks) in
// double. In heed_double, all names that depend on the number type are in the inline namespace
// heed::float64, so that a program can link both libraries without name conflicts. (The library
// `heed` has no inline namespace, because gdb would not find heed::Softmax::backward in one.)
#ifdef HEED_DOUBLE
#define HEED_NAMESPACE heed::float64
namespace heed {
inline namespace float64 {
using Real = double;  // the number type of all arrays
}
}  // namespace heed
#ifdef __clang__  // `namespace heed::float64 {` reopens the namespace: C++17 has no inline form
#pragma clang diagnostic ignored "-Winline-namespace-reopened-noninline"
#endif
#else
#define HEED_NAMESPACE heed
namespace heed {
using Real = float;  // the number type of all arrays
}
#endif
