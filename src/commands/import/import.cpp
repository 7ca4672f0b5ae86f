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
  const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
  if (name.empty() || name == "." || name == "..")
    throw UsageError("FOLDER " + in_quotes(folder) +
                     ": its name gives no name for the run's folder; give --out");
  return "runs/" + name;
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
  flags.path("--out", "DIR", "folder of the run [runs/NAME]", "folder", c.out);
  flags.flag("--replace", c.replace, "replace the run in the folder");
  flags.footer(
      "FOLDER holds config.json, model.safetensors, and vocab.json with merges.txt (GPT-2) or "
      "vocab.txt (BERT, uncased), as Hugging Face ships them. Then heed sample, look and inspect "
      "read the run, and heed train --init trains on.");
  flags.example("./heed import gpt2");
  flags.example("./heed import bert-base-uncased --out runs/bert");
}

// Reads and checks everything before creating the run's folder, so that a failure writes no file.
int run(const ImportCommand& command) {
  const RunFolder folder{command.out.empty() ? default_folder(command.folder) : command.out};
  RunWriter writer(folder, command.replace ? OldRun::replace : OldRun::reject,
                   "another --out keeps both");
  writer.open();
  const ImportedModel imported(command.folder);
  const nn::GptConfig& c = imported.model.config;
  writer.create();
  AtomicFile(folder.checkpoint());  // throws if the file cannot be written
  save_model(writer.files().checkpoint(), imported.parameters, c, imported.vocabulary);
  if (!command.replace) remove_losses(folder);
  catch_stop_signals();  // the next line takes only milliseconds
  writer.commit();
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

}  // namespace heed::app
