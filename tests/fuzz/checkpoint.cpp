// checkpoint.cpp: fuzz test of checkpoints with changed metadata or tensors.
//
// Each line of the input is a change: "KEY=VALUE" sets a metadata entry, "-KEY" removes one, and
// "!N" corrupts a tensor. A | in a line stands for a line break.

#include <algorithm>
#include <filesystem>
#include <utility>

#include "commands/train/options.hpp"
#include "fuzz.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;

// The checkpoint of a run after two of its three steps. The text has two different characters.
struct SavedRun {
  static TrainOptions options() {
    TrainOptions few;
    few.batch_size = 1;
    few.steps = 3;
    few.eval_batches = 1;
    few.log_every = 2;
    return few;
  }
  SavedRun() {
    run.steps(2);
    const std::string path = (std::filesystem::temp_directory_path() / "heed_fuzz_run").string();
    save_run(path, run.trainer, run.text.vocabulary, {"in.txt", 60, 1});
    saved = read_safetensors(path);
    std::filesystem::remove(path);
  }
  static std::string letters() {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "ab";
    return text;
  }
  heed::test::Run run{options(), letters(), {2, 2, 1, 1}};
  SafetensorsFile saved;
};

// Changes the name, type, shape or values of one tensor.
void corrupt(SafetensorsFile& file, std::size_t code) {
  static const std::string nan(64, '\xff');
  StoredTensor& tensor = file.tensors[code / 4 % file.tensors.size()];
  if (code % 4 == 0) tensor.name += "x";
  if (code % 4 == 1) tensor.dtype = "I32";
  if (code % 4 == 2 && !tensor.shape.empty()) tensor.shape[0] += 1;
  if (code % 4 == 3 && tensor.bytes <= nan.size())
    tensor.data = reinterpret_cast<const unsigned char*>(nan.data());
}

void change(SafetensorsFile& file, std::string line) {
  std::replace(line.begin(), line.end(), '|', '\n');
  const std::size_t equals = line.find('=');
  if (line[0] == '-')
    file.metadata.erase(line.substr(1));
  else if (line[0] == '!')
    corrupt(file, line.size() > 1 ? static_cast<unsigned char>(line[1]) : 0);
  else if (equals != line.npos)
    file.metadata[line.substr(0, equals)] = line.substr(equals + 1);
}

void load(const ModelFile& file, Trainer& trainer) {
  const Vocabulary vocabulary = file.vocabulary();
  const nn::GptConfig config = file.config();
  app::check_saved_options(file.path(), config, file.options());
  file.text();
  Parameters parameters;
  Generator generator(1);
  const nn::Gpt model(Scope(parameters, generator), config);
  file.load_parameters(parameters);
  file.restore(trainer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static SavedRun original;
  SafetensorsFile file;
  file.path = "file";
  file.metadata = original.saved.metadata;
  file.tensors = original.saved.tensors;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    if (end > begin) change(file, text.substr(begin, end - begin));
  }
  try {
    load(ModelFile(std::move(file)), original.run.trainer);
  } catch (const std::exception& error) {
    heed_fuzz::expect(dynamic_cast<const Error*>(&error) != nullptr, "only an Error is thrown");
    heed_fuzz::expect(std::string(error.what()).rfind("file: ", 0) == 0,
                      "the error begins with the file name");
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
