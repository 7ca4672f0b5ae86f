// vocabulary_files.hpp: reads the vocabulary files of published models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The contents of a regular file of at most 32 MB. Throws Error `FILE: reason` otherwise.
std::string read_vocabulary_file(const std::filesystem::path& path);

// Removes the first line from `text` and returns it, without the end of the line: \n or \r\n.
std::string_view take_line(std::string_view& text);

// The ids 0 to tokens.size() - 1 in the order of the tokens, for find_token.
std::vector<std::uint32_t> sorted_ids(const std::vector<std::string>& tokens);

// Throws Error unless the tokens are distinct. `sorted` is sorted_ids(tokens); `entries` is what
// the file consists of: "entries" or "lines".
void check_distinct(const std::vector<std::string>& tokens,
                    const std::vector<std::uint32_t>& sorted, const std::string& file,
                    const char* entries);

// The id of a token, or -1. `sorted` is sorted_ids(tokens).
std::int64_t find_token(const std::vector<std::string>& tokens,
                        const std::vector<std::uint32_t>& sorted, std::string_view token);

// The tokens of a JSON object {"token": id, ...}, in the order of their ids. Throws Error
// `NAME: reason` with the entry, unless the tokens are distinct, not empty and UTF-8, and the ids
// are 0 to n - 1.
std::vector<std::string> tokens_of_json(std::string_view json, const std::string& name);

}  // namespace HEED_NAMESPACE
