// output_file.hpp: checks, before a command computes, that it can write its file.
#pragma once

#include <filesystem>
#include <string>

namespace heed::app {

// Creates the folder of the file. Throws Error, which names the flag, if the file cannot be written
// there.
void check_output_file(const std::filesystem::path& file, const std::string& flag);

}  // namespace heed::app
