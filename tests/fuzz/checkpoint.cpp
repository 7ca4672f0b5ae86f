// checkpoint.cpp: a checkpoint with any metadata, or with other tensors, is loaded or refused.
//
// The input is lines: "KEY=VALUE" is metadata, "-KEY" takes it out, "!N" spoils tensor N. Values
// have \n written as |.

#include <algorithm>
#include <filesystem>
#include <utility>

#include "fuzz.hpp"
#include "heed/app/options.hpp"
#include "heed/train/model_file.hpp"
#include "heed/train/trainer.hpp"

namespace {

using namespace heed;

// A run of three steps on a text of two letters.
struct Run {
  static nn::GptConfig config() {
    nn::GptConfig small;
    small.vocab_size = 2;
    small.block_size = 2;
    small.layers = small.heads = 1;
    small.embed_dim = 2;
    return small;
  }
  static TrainOptions options() {
    TrainOptions few;
    few.batch_size = 1;
    few.steps = 3;
    few.eval_batches = 1;
    few.log_every = 2;
    return few;
  }
  Run() {
    for (int i = 0; i < 2; ++i) trainer.step();
    const std::string path = (std::filesystem::temp_directory_path() / "heed_fuzz_run").string();
    save_run(path, trainer, vocabulary, {"in.txt", 60, 1});
    saved = read_safetensors(path);
    std::filesystem::remove(path);
  }
  static std::string letters() {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "ab";
    return text;
  }
  std::string text = letters();
  Vocabulary vocabulary = Vocabulary::of_text(text);
  Corpus corpus{text, vocabulary};
  Trainer trainer{corpus, config(), options()};
  SafetensorsFile saved;
};

void spoil(SafetensorsFile& file, std::size_t what) {
  static const std::string nan(64, '\xff');
  StoredTensor& tensor = file.tensors[what / 4 % file.tensors.size()];
  if (what % 4 == 0) tensor.name += "x";
  if (what % 4 == 1) tensor.dtype = "I32";
  if (what % 4 == 2 && !tensor.shape.empty()) tensor.shape[0] += 1;
  if (what % 4 == 3 && tensor.bytes <= nan.size())
    tensor.data = reinterpret_cast<const unsigned char*>(nan.data());
}

void change(SafetensorsFile& file, std::string line) {
  std::replace(line.begin(), line.end(), '|', '\n');
  const std::size_t equals = line.find('=');
  if (line[0] == '-')
    file.metadata.erase(line.substr(1));
  else if (line[0] == '!')
    spoil(file, line.size() > 1 ? static_cast<unsigned char>(line[1]) : 0);
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
  static Run run;
  SafetensorsFile file;
  file.path = "file";
  file.metadata = run.saved.metadata;
  file.tensors = run.saved.tensors;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    if (end > begin) change(file, text.substr(begin, end - begin));
  }
  try {
    load(ModelFile(std::move(file)), run.trainer);
  } catch (const std::exception& error) {
    heed_fuzz::expect(dynamic_cast<const Error*>(&error) != nullptr, "what is refused is an Error");
    heed_fuzz::expect(std::string(error.what()).rfind("file: ", 0) == 0, "an error names the file");
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
