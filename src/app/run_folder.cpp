// run_folder.cpp: where a training run keeps its checkpoint, its numbers and its pictures.

#include "heed/app/run_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "heed/array/error.hpp"
#include "heed/nn/atomic_file.hpp"
#include "heed/nn/checkpoint.hpp"
#include "heed/train/saved_model.hpp"

namespace heed::app {

std::string standard_text() { return HEED_DATA_DIR "/harbour.txt"; }

void make_folder(const std::filesystem::path& folder) {
  std::error_code error, unknown;
  std::filesystem::create_directories(folder, error);
  if (std::filesystem::exists(folder, unknown) && !std::filesystem::is_directory(folder, unknown))
    refuse(folder.string(), ": is a file, not a directory; choose another --out");
  if (error) refuse(folder.string(), ": ", error.message(), "; choose another --out");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(folder.string(), ": ", std::strerror(errno), "; choose another --out");
}

void RunFolder::create() const {
  make_folder(folder_);
  for (const auto& file : {checkpoint(), loss_csv(), sample()}) remove_stale_temporaries(file);
}

TextIdentity identity_of(const std::string& path, std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a, 64 bits
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return {path, text.size(), hash};
}

void save_checkpoint(const RunFolder& folder, const Trainer& trainer, const Vocabulary& vocabulary,
                     const TextIdentity& text) {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  optim::State kept;
  trainer.save(metadata, tensors, kept);
  put_vocabulary(metadata, vocabulary);
  metadata["text.path"] = text.path;
  metadata["text.bytes"] = std::to_string(text.bytes);
  metadata["text.hash"] = std::to_string(text.hash);
  write_safetensors(folder.checkpoint(), std::move(metadata), tensors);
}

std::filesystem::path checkpoint_in(const std::string& run) {
  std::error_code error;  // opening it will say
  if (std::filesystem::is_directory(run, error)) return RunFolder(run).checkpoint();
  return run;
}

SafetensorsFile open_checkpoint(const std::filesystem::path& path) {
  try {
    return read_safetensors(path);
  } catch (const NotSafetensors& error) {
    const std::string text = error.what();
    refuse(path.string(), ": not a checkpoint", text.substr(path.string().size()));
  }
}

void check_trusted(const SafetensorsFile& file, bool trust) {
  if (file.has_checksum || trust) return;
  refuse(file.path,
         ": has no checksum of heed's, so it was made or changed by another program; --trust loads "
         "it all the same");
}

TextIdentity text_from(const SafetensorsFile& file) {
  const auto any = static_cast<std::uint64_t>(-1);
  return {nn::entry(file, "text.path"), nn::whole(file, "text.bytes", any),
          nn::whole(file, "text.hash", any)};
}

}  // namespace heed::app
