// run_folder.cpp: where a training run keeps its checkpoint, its numbers and its pictures.

#include "heed/app/run_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"

namespace heed::app {

std::string default_text() { return HEED_DATA_DIR "/harbour.txt"; }

void make_folder(const std::filesystem::path& folder) {
  std::error_code error, unknown;
  std::filesystem::create_directories(folder, error);
  if (std::filesystem::exists(folder, unknown) && !std::filesystem::is_directory(folder, unknown))
    throw_error(folder.string(), ": is a file, not a directory; choose another --out");
  if (error) throw_error(folder.string(), ": ", error.message(), "; choose another --out");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw_error(folder.string(), ": ", std::strerror(errno), "; choose another --out");
}

void RunFolder::create() const {
  make_folder(folder_);
  for (const auto& file : {checkpoint(), loss_csv(), sample()}) remove_stale_temporaries(file);
}

std::filesystem::path checkpoint_in(const std::string& run) {
  std::error_code error;  // opening it will say
  if (std::filesystem::is_directory(run, error)) return RunFolder(run).checkpoint();
  return run;
}

void check_trusted(const ModelFile& file, bool trust) {
  if (file.has_checksum() || trust) return;
  throw_error(
      file.path(),
      ": has no checksum of heed's, so it was made or changed by another program; --trust loads "
      "it all the same");
}

}  // namespace heed::app
