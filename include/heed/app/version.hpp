// version.hpp: the version that `heed --version` prints.
#pragma once

namespace heed::app {

inline constexpr const char* version = "heed 0.1";

}  // namespace heed::app
