// llama2_c.cpp: fuzz test of heed import of llama2.c: a tiny checkpoint and tokenizer, changed.
//
// The first byte is the file that changes: 'm' the checkpoint, 't' the tokenizer, 'M' or 'T' if the
// rest of the input is all of the file. Otherwise each three bytes are a place and its new byte,
// and one or two bytes that are left are the size to which the file is cut.

#include <string>

#include "fuzz.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/files/hugging_face.hpp"

namespace {

using namespace heed;

std::string content(const std::string& name) {
  const InputFile file(HEED_TESTS_DIR "/weights/llama2_c/" + name);
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

std::size_t number(std::string_view bytes) {
  std::size_t value = 0;
  for (const char c : bytes) value = 256 * value + static_cast<unsigned char>(c);
  return value;
}

std::string changed(std::string file, std::string_view changes) {
  for (; changes.size() >= 3; changes.remove_prefix(3))
    file[number(changes.substr(0, 2)) % file.size()] = changes[2];
  if (!changes.empty()) file.resize(number(changes) % file.size());
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::string model = content("model.bin"), tokenizer = content("tokenizer.bin");
  static heed_fuzz::File model_file, tokenizer_file;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string first = data[0] == 'M'   ? std::string(rest)
                            : data[0] == 'm' ? changed(model, rest)
                                             : model;
  const std::string second = data[0] == 'T'   ? std::string(rest)
                             : data[0] == 't' ? changed(tokenizer, rest)
                                              : tokenizer;
  const std::string model_path = model_file.holding(first.data(), first.size());
  const std::string tokenizer_path = tokenizer_file.holding(second.data(), second.size());
  try {
    const ImportedModel imported(model_path, tokenizer_path);
    const Vocabulary& vocabulary = imported.vocabulary;
    heed_fuzz::expect(vocabulary.size() == imported.model.config.vocab_size, "sizes agree");
    const std::vector<std::int64_t> ids = vocabulary.encode("the heron\n");
    heed_fuzz::expect(ids[0] == vocabulary.first_token(), "a text begins with <s>");
    vocabulary.decode(ids);
  } catch (const Error& error) {
    heed_fuzz::expect_one_line(error);
    heed_fuzz::expect(std::string(error.what()).rfind("/proc/self/fd/", 0) == 0,
                      "the error begins with the file");
  }
  return 0;
}
