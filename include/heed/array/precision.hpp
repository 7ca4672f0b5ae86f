// precision.hpp: the number type of the library, and the namespace of its double-precision build.
#pragma once

// The library is built twice: `heed` computes in float, `heed_double` (for gradient checks) in
// double. In heed_double, all names that depend on the number type are in the inline namespace
// heed::float64, so that a program can link both libraries without name conflicts. (heed has no
// such namespace, because gdb would not find heed::Softmax::backward in an inline namespace.)
#ifdef HEED_DOUBLE
#define HEED_NAMESPACE heed::float64
namespace heed {
inline namespace float64 {
using Real = double;
}
}  // namespace heed
#else
#define HEED_NAMESPACE heed
namespace heed {
using Real = float;
}
#endif
