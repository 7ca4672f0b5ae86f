// import.cpp: heed import, which creates a run from a folder with a Hugging Face model.

#include "commands/import/import.hpp"

#include <filesystem>
#include <iostream>

#include "commands/run_folder.hpp"
#include "commands/run_writer.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/hugging_face.hpp"
#include "heed/files/model_file.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

std::string default_folder(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  const fs::path last = (path.has_filename() ? path : path.parent_path()).filename();
  std::error_code ignored;  // ignored here: reading the file reports the error
  const std::string name = (fs::is_regular_file(path, ignored) ? last.stem() : last).string();
  if (name.empty() || name == "." || name == "..")
    throw UsageError("FOLDER " + in_quotes(folder) +
                     ": its name gives no name for the run's folder; give --out");
  return "runs/" + name;
}

void check_tokenizer(const ImportCommand& command) {
  std::error_code ignored;  // ignored here: reading the file reports the error
  if (command.tokenizer.empty() && fs::is_regular_file(command.folder, ignored))
    throw_error(command.folder, ": is a file; give the folder of a model, or with a checkpoint of ",
                "llama2.c --tokenizer tokenizer.bin");
  if (!command.tokenizer.empty() && fs::is_directory(command.folder, ignored))
    throw_error(command.folder,
                ": is a folder, which contains its tokenizer; leave out --tokenizer");
}

std::string kind_of(const nn::GptConfig& c) {
  const bool llama = c.norm == nn::NormKind::rms && c.mlp == nn::MlpKind::swiglu &&
                     c.positions == nn::PositionKind::rotary;
  return c.masked_lm_head ? "BERT" : !c.causal ? "an encoder" : llama ? "a Llama" : "a GPT";
}

// Removes the loss.csv that a run leaves if it was killed before its first checkpoint.
void remove_losses(const RunFolder& folder) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(folder.loss_csv(), ignored)))
    remove_file(folder.loss_csv());
}

}  // namespace

void declare_flags(Flags& flags, ImportCommand& c) {
  flags.positional("FOLDER", c.folder, "a model's folder, with config.json and model.safetensors",
                   "the folder of a model, with config.json and model.safetensors");
  flags.path("--tokenizer", "FILE", "tokenizer.bin of a checkpoint of llama2.c", "file",
             c.tokenizer);
  flags.path("--out", "DIR", "folder of the run [runs/NAME]", "folder", c.out);
  flags.flag("--replace", c.replace, "replace the run in the folder");
  flags.footer(
      "FOLDER holds config.json, model.safetensors, and vocab.json with merges.txt (GPT-2), "
      "vocab.txt (BERT, uncased) or tokenizer.json (Llama's family), as Hugging Face ships them; "
      "or it is a checkpoint of llama2.c. Then heed sample, look and inspect read the run, and "
      "heed train --init trains on.");
  flags.example("./heed import gpt2");
  flags.example("./heed import bert-base-uncased --out runs/bert");
  flags.example("./heed import stories260K.bin --tokenizer tok512.bin");
}

// Reads and checks everything before creating the run's folder, so that a failure writes no file.
int run(const ImportCommand& command) {
  check_tokenizer(command);
  const RunFolder folder{command.out.empty() ? default_folder(command.folder) : command.out};
  RunWriter writer(folder, command.replace ? OldRun::replace : OldRun::reject,
                   "another --out keeps both");
  writer.open();
  const ImportedModel imported = command.tokenizer.empty()
                                     ? ImportedModel(command.folder)
                                     : ImportedModel(command.folder, command.tokenizer);
  const nn::GptConfig& c = imported.model.config;
  writer.create();
  AtomicFile(folder.checkpoint());  // throws if the file cannot be written
  save_model(writer.files().checkpoint(), imported.parameters, c, imported.vocabulary);
  if (!command.replace) remove_losses(folder);
  catch_stop_signals();  // the next line takes only milliseconds
  writer.commit();
  const std::string path = shell_path(folder.path.string());
  std::cout << "model  " << printable(command.folder) << ": " << kind_of(c) << ", "
            << counted(c.layers, "layer") << ", " << counted(c.heads, "head")
            << " per layer, width " << c.embed_dim << ": "
            << counted(imported.parameters.count(), "parameter") << '\n'
            << "vocab  " << counted(imported.vocabulary.size(), "token") << '\n'
            << "run    " << printable(folder.path.string()) << '\n'
            << (c.causal ? "to generate text: ./heed sample " : "to see its heads: ./heed look ")
            << path << (c.causal ? " --prompt TEXT" : " --text TEXT") << '\n';
  return 0;
}

}  // namespace heed::app
