// run_folder.cpp: the folder of a training run, and the names of the files in it.

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
  std::error_code error, ignored;
  std::filesystem::create_directories(folder, error);
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
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
  std::error_code ignored;  // opening the file reports the error
  if (std::filesystem::is_directory(run, ignored)) return RunFolder(run).checkpoint();
  return run;
}

void check_trusted(const ModelFile& file, bool trust) {
  if (file.has_checksum() || trust) return;
  throw_error(
      file.path(),
      ": has no checksum of heed's, so another program wrote or changed it; --trust loads it "
      "anyway");
}

}  // namespace heed::app
