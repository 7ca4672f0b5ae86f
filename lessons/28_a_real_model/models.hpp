// models.hpp: reads the models of lesson 28 and their merges, samples texts from them, and plots
// attention weights.
#pragma once

#include <array>
#include <fstream>
#include <map>

#include "estimate.hpp"
#include "exercises.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/files/hugging_face.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/text/corpus.hpp"

namespace heed {

// The byte-pair encoding of a vocabulary, with token ids as in exercise 24.
struct BytePairMerges {
  std::vector<std::int64_t> id_of_byte;  // token id of each byte, 0 to 255
  std::vector<Merge> merges;             // merges[m] makes the token 256 + m
};

// GPT-2's byte-level BPE writes each byte as a printable character: bytes 33 to 126, 161 to 172 and
// 174 to 255 as themselves, the others as the characters from 256 on. Its first 256 tokens are the
// bytes in this order, and merges.txt has a line "left right" for each merge.
inline BytePairMerges merges_of_gpt2(const std::string& merges_txt) {
  BytePairMerges result{std::vector<std::int64_t>(256), {}};
  std::map<std::string, std::int64_t> id_of;  // id of each token, by its text in the file
  const auto add_bytes = [&](bool printable) {
    for (std::uint32_t byte = 0, other = 256; byte < 256; ++byte) {
      const bool itself = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
      const std::uint32_t character = itself ? byte : other++;
      if (itself != printable) continue;
      const auto id = std::int64_t(id_of.size());
      result.id_of_byte[byte] = id;
      std::string written;
      append_utf8(written, character);
      id_of[written] = id;
    }
  };
  add_bytes(true);
  add_bytes(false);
  for (const std::string& line : lines_of(merges_txt)) {
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.rfind("#version", 0) == 0) continue;
    const std::string left = line.substr(0, space), right = line.substr(space + 1);
    result.merges.emplace_back(id_of.at(left), id_of.at(right));
    id_of[left + right] = 255 + std::int64_t(result.merges.size());
  }
  return result;
}

// No merges if the vocabulary has no byte pairs, or has them in a tokenizer.json, as Llama 3 does.
inline BytePairMerges merges_of(const Vocabulary& vocabulary) {
  const std::vector<std::string>& files = vocabulary.files();  // vocab.json, merges.txt
  if (vocabulary.unit() == Unit::byte_level_bpe && files.size() < 2) return {};
  if (vocabulary.unit() == Unit::byte_level_bpe) return merges_of_gpt2(files[1]);
  BytePairMerges result{std::vector<std::int64_t>(256), {}};
  for (std::size_t byte = 0; byte < 256; ++byte) result.id_of_byte[byte] = std::int64_t(byte);
  if (vocabulary.unit() == Unit::byte_pair) result.merges = vocabulary.byte_pairs()->merges();
  return result;
}

// The next floats of a file. A vector, or the rows of a matrix, fill the beginning of the
// parameter, whose other elements become 0.
inline void read_floats(std::istream& in, Tensor parameter, std::size_t rows) {
  Array& x = parameter.mutable_value();
  const std::size_t width = x.shape().back();
  x.fill(0);
  for (std::size_t i = 0; i < rows * width; ++i) {
    float number = 0;
    in.read(reinterpret_cast<char*>(&number), sizeof number);
    x.data()[i] = number;
  }
}

// A Llama in the format of Karpathy's llama2.c: seven int32 (width, hidden width, layers, heads,
// heads of keys, tokens, context), then the weights as float32. Its hidden width may be smaller
// than that of nn::Mlp: the missing hidden units get weights of 0. Throws Error if the file is no
// such file.
inline nn::Gpt read_llama2c(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<std::int32_t, 7> sizes{};
  in.read(reinterpret_cast<char*>(sizes.data()), sizeof sizes);
  nn::GptConfig c;
  c.embed_dim = std::size_t(sizes[0]), c.layers = std::size_t(sizes[2]);
  c.heads = std::size_t(sizes[3]), c.kv_heads = std::size_t(sizes[4]);
  c.vocab_size = std::size_t(sizes[5]), c.block_size = std::size_t(sizes[6]);
  c.norm = nn::NormKind::rms, c.positions = nn::PositionKind::rotary;
  c.mlp = nn::MlpKind::swiglu;
  const auto hidden = std::size_t(sizes[1]);
  if (!in || sizes[5] <= 0 || hidden > nn::mlp_width(c.embed_dim, c.mlp))
    throw_error(path, ": is no file of llama2.c with tied weights that heed can read");
  Parameters parameters;
  Generator g(1);
  nn::Gpt model(Scope(parameters, g), c);
  const auto read = [&](auto part, std::size_t rows) {  // reads a parameter of all blocks
    for (const nn::Block& block : model.blocks) read_floats(in, part(block), rows);
  };
  read_floats(in, model.token.weight, c.vocab_size);
  read([](const auto& b) { return b.norm1.weight; }, 1);
  read([](const auto& b) { return b.attention.query.weight; }, c.embed_dim);
  read([](const auto& b) { return b.attention.key.weight; }, c.kv_width());
  read([](const auto& b) { return b.attention.value.weight; }, c.kv_width());
  read([](const auto& b) { return b.attention.out.weight; }, c.embed_dim);
  read([](const auto& b) { return b.norm2.weight; }, 1);
  read([](const auto& b) { return b.mlp.gate->weight; }, hidden);
  for (const nn::Block& block : model.blocks) {  // (C, hidden): by columns of the wider matrix
    Parameters narrow;
    Tensor down = narrow.add("down", zeros({c.embed_dim, hidden}));
    read_floats(in, down, c.embed_dim);
    Tensor wide = block.mlp.down.weight;
    wide.mutable_value().fill(0);
    xt::view(wide.mutable_value(), xt::all(), xt::range(0, hidden)) = down.value();
  }
  read([](const auto& b) { return b.mlp.up.weight; }, hidden);
  read_floats(in, model.norm.weight, 1);
  if (!in) throw_error(path, ": the file ends too early");
  return model;
}

// Models with the same tokens: five of our own (seeds 1 to 5), or one that was trained elsewhere.
struct Models {
  std::vector<nn::Gpt> models;
  std::int64_t first_token;  // the token before a text
  std::string text;          // a text on which none of them was trained
  Ids ids;                   // token ids of `text`, by the models' tokenizer
  BytePairMerges pairs;      // no merges if the model has no byte pairs
  const nn::GptConfig& config() const { return models[0].config; }
  std::size_t window() const { return std::min<std::size_t>(64, config().block_size); }
  Names names() const {
    if (models.size() == 1) return {"the model"};
    return {"seed 1", "seed 2", "seed 3", "seed 4", "seed 5"};
  }
};

inline Models with_text(const std::vector<nn::Gpt>& models, const Vocabulary& tokens,
                        const std::string& text) {
  return {models, tokens.first_token(), text, tokens.encode(text), merges_of(tokens)};
}

// A folder of GPT-2 or BERT, or a file of llama2.c.
inline Models read_model(const std::string& path) {
  if (path.size() > 4 && path.substr(path.size() - 4) == ".bin")
    return {{read_llama2c(path)}, 1, "", {}, {}};
  const ImportedModel imported(path);
  return with_text({imported.model}, imported.vocabulary, "the old man saw the sea and the wind");
}

// "263,872 parameters: 5 layers of 8 heads, width 64, 512 tokens"
inline std::string sizes_of(const nn::GptConfig& c) {
  return grouped(double(nn::parameter_count(c))) + " parameters: " + std::to_string(c.layers) +
         " layers of " + std::to_string(c.heads) + " heads, width " + std::to_string(c.embed_dim) +
         ", " + grouped(double(c.vocab_size)) + " tokens";
}

// The tokens x (B, T / 2), repeated: (B, T).
inline Indices twice(const Indices& x) { return xt::concatenate(xt::xtuple(x, x), 1); }

// Different random tokens: (1, count).
inline Indices random_tokens(const Models& all, std::size_t count) {
  const Indices tokens = Generator(2).randperm(all.config().vocab_size);
  return xt::view(tokens, xt::newaxis(), xt::range(0, count));
}

// Rows of P different tokens of V, repeated until there are T tokens: (16, T). P is random, from
// T / 6 to T / 2, so that no fixed distance leads back to the same token.
inline Indices repeats(std::size_t V, std::size_t T, Generator& g) {
  Indices x = Indices::from_shape({16, T});
  for (std::size_t b = 0; b < 16; ++b) {
    const auto P = std::size_t(g.randint(std::int64_t(T / 6), std::int64_t(T / 2 + 1), {1})(0));
    const Indices tokens = g.randperm(V);
    for (std::size_t t = 0; t < T; ++t) x(b, t) = tokens(t % P);
  }
  return x;
}
inline Indices repeats(const Models& all, std::uint64_t seed) {
  Generator g(seed);
  return repeats(all.config().vocab_size, all.window(), g);
}

// Texts that the model writes itself: (16, T / 2).
inline Indices own_texts(const nn::Gpt& model, const Models& all) {
  Generator g(3);
  Indices x = xt::ones<std::int64_t>({16, 1}) * all.first_token;
  while (x.shape(1) < all.window() / 2) {
    const Array p = softmax(model(x), -1).value();  // (16, t, V)
    Indices next = Indices::from_shape({16, 1});
    for (std::size_t b = 0; b < 16; ++b)
      next(b, 0) = g.multinomial(xt::view(p, b, x.shape(1) - 1), 1)(0);
    x = Indices(xt::concatenate(xt::xtuple(x, next), 1));
  }
  return x;
}

// Attention weights (H, T, T) and their tokens (T) give a score for each head, (H).
using HeadScores = std::function<Array(const Array& weights, const std::vector<int>& tokens)>;

// What the sequences x (B, T) would score if each query had equal weights for all keys that it
// sees.
inline double score_of_equal_weights(const Models& all, const Indices& x, const HeadScores& score) {
  const std::size_t T = x.shape(1);
  Array weights = ones({1, T, T}) / Real(T);
  for (std::size_t t = 0; t < T && all.config().causal; ++t)
    for (std::size_t s = 0; s < T; ++s) weights(0, t, s) = s <= t ? 1 / Real(t + 1) : 0;
  double sum = 0;
  for (std::size_t b = 0; b < x.shape(0); ++b) {
    const Indices row = xt::row(x, std::ptrdiff_t(b));
    sum += score(weights, {row.begin(), row.end()})(0);
  }
  return sum / double(x.shape(0));
}

struct Head {
  std::size_t layer, number;
};

inline std::string name_of(const Head& head) {
  return std::to_string(head.layer) + "." + std::to_string(head.number);
}

inline Head best_of(const Array& scores) {  // (L, H)
  const auto best = std::size_t(std::max_element(scores.begin(), scores.end()) - scores.begin());
  return {best / scores.shape(1), best % scores.shape(1)};
}

// The attention weights (T, T) of a perfect induction head on T / 2 tokens, repeated.
inline Array perfect_induction(std::size_t T) {
  Array weights = zeros({T, T});
  for (std::size_t t = 0; t < T; ++t) weights(t, t < T / 2 ? 0 : t - T / 2 + 1) = 1;
  return weights;
}

// Plots the weights (24, 24) of two heads on 12 random tokens, A to L, twice.
inline void draw(const Array& left, const std::string& left_title, const Array& right,
                 const std::string& right_title) {
  Names tokens;
  for (std::size_t t = 0; t < 24; ++t) tokens.push_back(std::string(1, char('A' + t % 12)));
  picture("28_a_real_model", "heads", {left, right}, {left_title, right_title},
          {"attention weights", tokens, tokens, "query", "key", 0, 1}, 2);
}

// A row of numbers with three decimals for the control, and one for each model.
inline std::string table_of(const Models& all, const Names& columns,
                            const std::vector<std::vector<double>>& rows) {
  std::string text = pad_right("", 11);
  for (const std::string& column : columns) text += pad_left(column, 15);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "\n" + pad_right(i == 0 ? "control" : all.names()[i - 1], 11);
    for (const double number : rows[i]) text += pad_left(decimal(number, 3), 15);
  }
  return text;
}

inline std::string numbers(const std::vector<std::size_t>& x) {
  Names texts;
  for (const std::size_t number : x) texts.push_back(std::to_string(number));
  return joined(texts, " ");
}
inline std::size_t smallest(const std::vector<std::size_t>& x) {
  return *std::min_element(x.begin(), x.end());
}

}  // namespace heed
