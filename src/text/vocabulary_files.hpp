// vocabulary_files.hpp: reads the vocabulary files of published models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The contents of a regular file of at most 32 MB. Throws Error `FILE: reason` otherwise.
std::string read_vocabulary_file(const std::filesystem::path& path);

// Removes the first line from `text` and returns it, without the end of the line: \n or \r\n.
std::string_view take_line(std::string_view& text);

// The id of each token, which is its index; of equal tokens, the index of the first.
using TokenIds = std::unordered_map<std::string, std::uint32_t>;
TokenIds ids_of(const std::vector<std::string>& tokens);

// Like ids_of() above, but throws Error unless the tokens are distinct; `entries` is what the file
// consists of: "entries" or "lines".
TokenIds distinct_ids(const std::vector<std::string>& tokens, const std::string& file,
                      const char* entries);

// The tokens of a JSON object {"token": id, ...}, in the order of their ids. Throws Error
// `NAME: reason` with the entry, unless the tokens are distinct, not empty and UTF-8, and the ids
// are 0 to n - 1.
std::vector<std::string> tokens_of_json(std::string_view json, const std::string& name);

}  // namespace HEED_NAMESPACE
