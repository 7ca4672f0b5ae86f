// output_file.cpp: checks, before a command computes, that it can write its file.

#include "commands/output_file.hpp"

#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"

namespace heed::app {

void check_output_file(const std::filesystem::path& file, const std::string& flag) {
  std::error_code error, ignored;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  if (error)
    throw_error(file.parent_path().string(), ": ", error.message(), "; choose another ", flag);
  if (std::filesystem::is_directory(file, ignored))
    throw_error(file.string(), ": is a folder; give ", flag, " the name of a file");
  static_cast<void>(AtomicFile(file));  // throws if the file cannot be written
}

}  // namespace heed::app
