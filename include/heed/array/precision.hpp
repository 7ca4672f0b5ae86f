// precision.hpp: the number type of the library, and the namespace of its double-precision build.
#pragma once

// The library is built twice: `heed` computes in float, `heed_double` (for gradient checks) in
// double. In heed_double, all names that depend on the number type are in the inline namespace
// heed::float64, so that a program can link both libraries without mixing them. (heed has no such
// namespace: gdb does not find heed::Softmax::backward in an inline namespace.)
#ifdef HEED_DOUBLE
namespace heed {
inline namespace float64 {}
}  // namespace heed
#define HEED_NAMESPACE heed::float64
#else
#define HEED_NAMESPACE heed
#endif

namespace HEED_NAMESPACE {

#ifdef HEED_DOUBLE
using Real = double;
#else
using Real = float;
#endif

}  // namespace HEED_NAMESPACE
