// export.cpp: heed export, which writes a run's model for other programs.

#include "commands/export/export.hpp"

#include <filesystem>
#include <iostream>

#include "commands/common_flags.hpp"
#include "commands/run_folder.hpp"
#include "commands/run_lock.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/hugging_face.hpp"
#include "heed/files/model_file.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

ExportFormat format_of(const std::string& name) {
  return name == "nanogpt" ? ExportFormat::nanogpt
         : name == "gpt2"  ? ExportFormat::gpt2
         : name == "llama" ? ExportFormat::llama
                           : ExportFormat::pytorch;
}

// The files that heed export writes or that would change how heed import reads the folder.
constexpr auto export_files = {"model.safetensors", "model.safetensors.index.json",
                               "config.json",       "load.py",
                               "vocab.json",        "merges.txt",
                               "vocab.txt",         "meta.json",
                               "tokenizer.json",    "tokenizer.vocab"};

void check_new_folder(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : export_files)
    if (fs::exists(fs::symlink_status(folder / name, ignored)))
      throw_error((folder / name).string(),
                  ": exists already; give another folder, or remove it first");
}

// Removes the files of an export that has failed, for example because the disk was full.
void remove_export(const fs::path& folder, bool remove_folder) {
  std::error_code ignored;  // the error of the export is reported instead
  for (const char* name : export_files) fs::remove(folder / name, ignored);
  fs::remove(folder / ".heed-lock", ignored);
  if (remove_folder) fs::remove(folder, ignored);
}

}  // namespace

void declare_flags(Flags& flags, ExportCommand& c) {
  run_argument(flags, c.run, c.trust);
  flags.positional("DIR", c.folder, "the folder to write", "the folder to write");
  flags.choice(
      "--to",
      "the format, which must be given; gpt2 and llama: Hugging Face's GPT2LMHeadModel and "
      "LlamaForCausalLM",
      {"nanogpt", "gpt2", "llama", "pytorch"}, c.to);
  flags.footer("load.py in the new folder loads the model with torch alone.");
  flags.example("./heed export runs/harbour exported --to gpt2");
  flags.example("./heed export runs/harbour exported --to nanogpt");
}

void check_flags(const ExportCommand& c, const std::set<std::string>&) {
  if (c.to.empty()) throw UsageError("export: give --to nanogpt, gpt2, llama or pytorch");
}

int run(const ExportCommand& command) {
  check_new_folder(command.folder);
  const ModelFile file = ModelFile::open(checkpoint_in(command.run));
  check_trusted(file, command.trust);
  const nn::GptConfig config = file.config();
  try {
    check_export(config, format_of(command.to));
  } catch (const Error& error) {
    throw_error(file.path(), ": ", error.what());
  }
  const LoadedModel saved(file);
  std::error_code ignored;  // ignored here: creating the folder reports the error
  const bool is_new = !fs::exists(command.folder, ignored);
  make_folder(command.folder, "give another folder");
  RunLock lock(command.folder, "give another folder");  // of two exports, one is rejected
  lock.acquire();
  check_new_folder(command.folder);  // checks again: another export may have ended meanwhile
  for (const char* name : export_files) remove_stale_temporaries(fs::path(command.folder) / name);
  try {
    export_model(command.folder, saved.parameters, saved.model.config, saved.vocabulary,
                 format_of(command.to));
  } catch (...) {
    remove_export(command.folder, is_new);
    throw;
  }
  std::cout << printable(command.folder) << "/ has model.safetensors, config.json"
            << (command.to == "pytorch" ? "" : ", the vocabulary") << " and load.py\n"
            << "to load it with PyTorch: python3 "
            << shell_path((fs::path(command.folder) / "load.py").string()) << '\n';
  if (command.to == "nanogpt" && saved.vocabulary.unit() == Unit::code_point)
    std::cout << "nanoGPT's sample.py looks for the meta.pkl that load.py makes in data/heed/\n";
  return 0;
}

}  // namespace heed::app
