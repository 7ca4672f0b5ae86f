// llama2_c.cpp: reads the checkpoint and the tokenizer of Karpathy's llama2.c.

#include "files/llama2_c.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/machine.hpp"
#include "files/dtypes.hpp"
#include "files/model_entries.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::int32_t magic = 0x616b3432;  // "ak42", with which versions 1 and 2 begin
constexpr std::size_t header_bytes = 28;

std::array<std::int32_t, 7> header_of(const std::string& path, const InputFile& file) {
  std::array<std::int32_t, 7> header{};
  if (file.size() < header_bytes)
    throw_error(path, ": has ", counted(file.size(), "byte"),
                ", fewer than the header of a checkpoint of llama2.c");
  file.read(0, header.data(), header_bytes);
  if (header[0] == magic)
    throw_error(path, ": is a checkpoint of llama2.c of version ", header[1],
                "; export it with --version 0");
  return header;
}

void check_shape(const std::string& path, const nn::GptConfig& c) {
  if (c.embed_dim % c.heads != 0 || c.embed_dim / c.heads % 2 != 0)
    throw_error(path, ": its width is ", c.embed_dim, ", which is not divisible by twice its ",
                counted(c.heads, "head"));
  if (c.heads % c.kv_heads != 0)
    throw_error(path, ": its ", counted(c.kv_heads, "key-value head"), " do not divide its ",
                counted(c.heads, "head"));
  if (c.block_size > max_rotary_block_size)
    throw_error(path, ": its context length is ", c.block_size, "; heed supports at most ",
                max_rotary_block_size);
}

// The parameters in the order of the file, in which each tensor has the values of all layers.
std::vector<std::string> names_in_file(std::size_t layers) {
  std::vector<std::string> names = {"token.weight"};
  for (const char* part : {"norm1", "attention.query", "attention.key", "attention.value",
                           "attention.out", "norm2", "mlp.gate", "mlp.down", "mlp.up"})
    for (std::size_t i = 0; i < layers; ++i)
      names.push_back("blocks." + std::to_string(i) + "." + part + ".weight");
  names.push_back("norm.weight");
  return names;
}

}  // namespace

Llama2CFile::Llama2CFile(const std::filesystem::path& path) : path_(path.string()), file_(path) {
  const auto header = header_of(path_, file_);
  constexpr std::array names = {"width",           "hidden width of the MLPs",  "number of layers",
                                "number of heads", "number of key-value heads", "number of tokens",
                                "context length"};
  std::array<std::size_t, 7> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = static_cast<std::size_t>(std::abs(std::int64_t{header[i]}));
    if (header[i] == 0 || (header[i] < 0 && i != 5))
      throw_error(path_, ": is no checkpoint of llama2.c: its ", names[i], " is ", header[i]);
  }
  config_.embed_dim = sizes[0], config_.intermediate_size = sizes[1], config_.layers = sizes[2];
  config_.heads = sizes[3], config_.kv_heads = sizes[4];
  config_.vocab_size = sizes[5], config_.block_size = sizes[6];
  config_.tied = header[5] > 0;
  config_.norm = nn::NormKind::rms;
  config_.positions = nn::PositionKind::rotary;
  config_.mlp = nn::MlpKind::swiglu;
  check_shape(path_, config_);
  check_size();
}

// The cosines and sines of the rotary positions, which llama2.c does not use either.
double Llama2CFile::unused_numbers() const {
  return static_cast<double>(config_.block_size) * static_cast<double>(config_.head_width());
}

void Llama2CFile::check_size() const {
  const double numbers = nn::parameter_count<double>(config_) + unused_numbers();
  const double needed = header_bytes + 4 * numbers, bytes = static_cast<double>(file_.size());
  if (bytes != needed)
    throw_error(path_, ": has ", grouped(bytes), " bytes, but the model of its header takes ",
                grouped(needed), "; is it a checkpoint of llama2.c, version 0, and complete?");
  check_memory(numbers * sizeof(Real), path_ + ": describes a model of");
}

void Llama2CFile::load(const Parameters& parameters) const {
  std::size_t offset = header_bytes;
  const auto read = [&](const std::string& name) {
    Array& values = parameters.at(name).mutable_value();
    std::vector<unsigned char> bytes(4 * values.size());
    file_.read(offset, bytes.data(), bytes.size());
    convert("F32", bytes.data(), values.size(), values.data());
    check_numbers(path_ + ": '" + name + "'", "F32", bytes.data(), 0, values.size(), values.data(),
                  true);
    offset += bytes.size();
  };
  for (const std::string& name : names_in_file(config_.layers)) read(name);
  offset += 4 * static_cast<std::size_t>(unused_numbers());
  if (!config_.tied) read("head.weight");
}

// ---- the tokenizer

namespace {

// Reads values from the content of a file, one after another.
class Bytes {
 public:
  Bytes(const std::string& path, std::string_view content) : path_(path), rest_(content) {}

  bool is_empty() const { return rest_.empty(); }
  std::string_view take(std::size_t size, std::size_t token) {
    if (rest_.size() < size)
      throw_error(path_, ": ends inside token ", token, "; download the file again");
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  template <class Number>
  Number number(std::size_t token) {
    Number value;
    std::memcpy(&value, take(sizeof value, token).data(), sizeof value);
    return value;
  }

 private:
  const std::string& path_;
  std::string_view rest_;
};

// The piece as SentencePiece writes it: llama2.c has spaces for '▁', and line breaks around <s>.
std::string written(std::string_view piece) {
  if (piece == "\n<s>\n" || piece == "\n</s>\n")
    return std::string(piece.substr(1, piece.size() - 2));
  std::string text;
  for (const char c : piece)
    if (c == ' ')
      text += "\u2581";
    else
      text += c;
  return text;
}

std::string next_line(const std::string& path, Bytes& bytes, std::size_t token) {
  const auto score = bytes.number<float>(token);
  const auto size = bytes.number<std::int32_t>(token);
  if (size < 1)
    throw_error(path, ": token ", token, " has ", size, " bytes; is it a tokenizer of llama2.c?");
  const std::string piece = written(bytes.take(static_cast<std::size_t>(size), token));
  if (piece.find_first_of("\n\t") != piece.npos)
    throw_error(path, ": token ", token, ", ", in_quotes(piece), ", has a line break or a tab");
  return piece + "\t" + exact(static_cast<double>(score)) + "\n";
}

}  // namespace

std::string llama2_c_vocabulary(const std::filesystem::path& path, std::size_t vocab_size) {
  constexpr std::size_t max_bytes = 32'000'000;
  const std::string name = path.string();
  const InputFile file(path);
  if (file.size() > max_bytes)
    throw_error(name, ": has ", grouped(static_cast<double>(file.size())),
                " bytes; a tokenizer has at most ", grouped(max_bytes));
  std::string content(file.size(), '\0');
  file.read(0, content.data(), content.size());
  Bytes bytes(name, content);
  bytes.number<std::int32_t>(0);  // the length of the longest token
  std::string text;
  std::size_t tokens = 0;
  for (; !bytes.is_empty(); ++tokens) text += next_line(name, bytes, tokens);
  if (tokens != vocab_size)
    throw_error(name, ": has ", counted(tokens, "token"), ", but the model's vocabulary has ",
                vocab_size, "; give the tokenizer of this model");
  return text;
}

}  // namespace HEED_NAMESPACE
