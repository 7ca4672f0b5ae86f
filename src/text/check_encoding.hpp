// check_encoding.hpp: the error about a text that is not UTF-8.
#pragma once

#include <string_view>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// Throws Error with the first byte at which the text is not UTF-8.
void check_encoding(std::string_view text);

}  // namespace HEED_NAMESPACE
