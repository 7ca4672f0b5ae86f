// import_folder.cpp: fuzz test of heed import: a tiny GPT-2, BERT or Llama with changed files.
//
// The first character chooses BERT ('b'), Llama ('l') or GPT-2. Each further line is a change:
// "cFROM>TO" replaces a text of config.json, "rTEXT" all of it; "iTEXT" writes the index of a
// sharded model;
// "!N" corrupts a tensor.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz.hpp"
#include "heed/base/error.hpp"
#include "heed/files/hugging_face.hpp"

namespace {

using namespace heed;
namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Bytes from which a safetensors file can be made again after changes.
struct Model {
  explicit Model(const std::string& name)
      : folder(fs::temp_directory_path() / ("heed_fuzz_" + name + std::to_string(::getpid()))) {
    fs::remove_all(folder);
    fs::copy(fs::path(HEED_TESTS_DIR) / "weights" / name, folder);
    config = content(folder / "config.json");
    weights = content(folder / "model.safetensors");
  }
  ~Model() {
    std::error_code ignored;  // the folder is a temporary one
    fs::remove_all(folder, ignored);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void restore() const {
    put(folder / "config.json", config);
    put(folder / "model.safetensors", weights);
    fs::remove(folder / "model.safetensors.index.json");
  }

  fs::path folder;
  std::string config, weights;
};

void change(const Model& model, const std::string& line) {
  const std::string rest = line.substr(1);
  const std::size_t arrow = rest.find('>');
  if (line[0] == 'c' && arrow != rest.npos) {
    std::string text = content(model.folder / "config.json");
    if (const std::size_t at = text.find(rest.substr(0, arrow)); at != text.npos)
      put(model.folder / "config.json", text.replace(at, arrow, rest.substr(arrow + 1)));
  } else if (line[0] == 'r') {
    put(model.folder / "config.json", rest);
  } else if (line[0] == 'i') {
    put(model.folder / "model.safetensors.index.json", rest);
    fs::remove(model.folder / "model.safetensors");
  } else if (line[0] == '!' && rest.size() >= 3) {
    std::string text = model.weights;
    const auto at = static_cast<std::size_t>(static_cast<unsigned char>(rest[0])) * 256 +
                    static_cast<unsigned char>(rest[1]);
    text[at % text.size()] = rest[2];
    put(model.folder / "model.safetensors", text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const Model gpt2("gpt2"), bert("bert"), llama("llama");
  const std::string text(reinterpret_cast<const char*>(data), size);
  const char first = text.empty() ? '\0' : text[0];
  const Model& model = first == 'b' ? bert : first == 'l' ? llama : gpt2;
  model.restore();
  for (std::size_t begin = 1, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    if (end > begin) change(model, text.substr(begin, end - begin));
  }
  try {
    const ImportedModel imported(model.folder);
    heed_fuzz::expect(imported.vocabulary.size() == imported.model.config.vocab_size,
                      "sizes agree");
  } catch (const std::exception& error) {
    heed_fuzz::expect(dynamic_cast<const Error*>(&error) != nullptr, "only an Error is thrown");
    heed_fuzz::expect(std::string(error.what()).rfind(model.folder.string(), 0) == 0,
                      "the error begins with the folder");
  }
  return 0;
}
