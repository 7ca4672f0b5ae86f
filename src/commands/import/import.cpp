// import.cpp: heed import, which makes a run of a model's folder, and heed export, the reverse.

#include <filesystem>
#include <iostream>
#include <optional>

#include "commands/options.hpp"
#include "commands/run_folder.hpp"
#include "commands/run_lock.hpp"
#include "commands/run_replacement.hpp"
#include "commands/terminal.hpp"
#include "files/model_reader.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/hugging_face.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

std::string default_folder(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
  if (name.empty() || name == "." || name == "..")
    throw UsageError("FOLDER " + in_quotes(folder) +
                     ": its name gives no name for the run's folder; give --out");
  return "runs/" + name;
}

ExportFormat format_of(const std::string& name) {
  return name == "nanogpt" ? ExportFormat::nanogpt
         : name == "gpt2"  ? ExportFormat::gpt2
                           : ExportFormat::pytorch;
}

// The files that heed export writes or that would change how heed import reads the folder.
constexpr auto export_files = {"model.safetensors", "model.safetensors.index.json",
                               "config.json",       "load.py",
                               "vocab.json",        "merges.txt",
                               "vocab.txt",         "meta.json"};

void check_new_folder(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : export_files)
    if (fs::exists(fs::symlink_status(folder / name, ignored)))
      throw_error((folder / name).string(),
                  ": exists already; give another folder, or remove it first");
}

// Removes what an export has written until it failed, for example because the disk was full.
void remove_export(const fs::path& folder, bool remove_folder) {
  std::error_code ignored;  // the export's own error is reported
  for (const char* name : export_files) fs::remove(folder / name, ignored);
  fs::remove(folder / ".heed-lock", ignored);
  if (remove_folder) fs::remove(folder, ignored);
}

}  // namespace

// Reads and checks everything before creating the run's folder, so that a failure writes no file.
int run(const ImportCommand& command) {
  const RunFolder folder{command.out.empty() ? default_folder(command.folder) : command.out};
  find_replaced_run(folder);
  RunLock lock(folder.path);
  lock.acquire_if_possible();
  if (!command.replace) check_no_run(folder, "another --out keeps both");
  const ImportedModel imported(command.folder);
  const nn::GptConfig& c = imported.model.config;
  folder.create();
  lock.acquire();
  end_replacing(folder);
  std::optional<RunReplacement> replacement;
  if (folder.has_files()) replacement.emplace(folder);
  const RunFolder& written = replacement ? replacement->folder() : folder;
  save_model(written.checkpoint(), imported.parameters, c, imported.vocabulary);
  catch_stop_signals();  // the next line, which takes milliseconds, is not interrupted
  if (replacement) replacement->commit(lock, /*keep_reports=*/false);
  const std::string path = shell_path(folder.path.string());
  std::cout << "model  " << printable(command.folder) << ": "
            << (c.masked_lm_head ? "BERT"
                : c.causal       ? "a GPT"
                                 : "an encoder")
            << ", " << counted(c.layers, "layer") << ", " << counted(c.heads, "head")
            << " per layer, width " << c.embed_dim << ": "
            << counted(imported.parameters.count(), "parameter") << '\n'
            << "vocab  " << counted(imported.vocabulary.size(), "token") << '\n'
            << "run    " << printable(folder.path.string()) << '\n'
            << (c.causal ? "to generate text: ./heed sample " : "to see its heads: ./heed look ")
            << path << (c.causal ? " --prompt TEXT" : " --text TEXT") << '\n';
  return 0;
}

int run(const ExportCommand& command) {
  check_new_folder(command.folder);
  const ModelReader reader(checkpoint_in(command.run));
  check_trusted(reader.file(), command.trust);
  const nn::GptConfig config = reader.file().config();
  try {
    check_export(config, format_of(command.to));
  } catch (const Error& error) {
    throw_error(reader.file().path(), ": ", error.what());
  }
  const LoadedModel saved(reader);
  std::error_code ignored;  // ignored here: creating the folder reports the error
  const bool is_new = !fs::exists(command.folder, ignored);
  make_folder(command.folder, "give another folder");
  RunLock lock(command.folder, "give another folder");  // of two exports, one is refused
  lock.acquire();
  check_new_folder(command.folder);  // again: another export may have ended since
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
