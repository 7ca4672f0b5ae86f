// version.hpp: which heed this is.
#pragma once

namespace heed::app {

inline constexpr const char* version = "heed 0.1";

}  // namespace heed::app
