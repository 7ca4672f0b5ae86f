// model.hpp: a small BERT for lesson 26: its vocabulary, its training, and its files.
#pragma once

#include <filesystem>
#include <set>

#include "fill_in_the_blank.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/files/safetensors.hpp"
#include "heed/text/word_piece.hpp"

namespace heed {

// The vocabulary: the special tokens, the words of lesson 18's grammar, with verbs in two pieces
// ("watch", "##ing"), and the letters, of which any other English word can be made.
inline std::string small_vocab_txt() {
  std::set<std::string> pieces = {"##ing"};
  const Vocabulary words = sentence_vocabulary();
  for (const std::string& word : words.words()) {
    if (word == "[MASK]") continue;
    const bool verb = word.size() > 3 && word.substr(word.size() - 3) == "ing";
    pieces.insert(verb ? word.substr(0, word.size() - 3) : word);
  }
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    pieces.insert(std::string(1, letter));
    pieces.insert(std::string("##") + letter);
  }
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const std::string& piece : pieces) text += piece + "\n";
  return text;
}

// BERT's layers, with sizes of our own.
inline nn::GptConfig small_bert_config(std::size_t vocab_size) {
  nn::GptConfig c;
  c.vocab_size = vocab_size, c.block_size = 16;
  c.layers = 2, c.heads = 4, c.embed_dim = 32;
  c.bias = true, c.causal = false, c.norm_eps = 1e-12;
  c.post_norm = true, c.token_types = 2, c.masked_lm_head = true;
  return c;
}

struct SmallBert {
  explicit SmallBert(std::uint64_t seed)
      : generator(seed), gpt(Scope(parameters, generator), small_bert_config(pieces.size())) {
    for (Tensor weight : parameters) {
      if (weight.dim() < 2) continue;
      Array larger = weight.value() * Real(8);  // as in lesson 18: 0.02 is for large widths
      weight.mutable_value() = larger;
    }
  }

  WordPiece pieces = WordPiece::from_contents(small_vocab_txt());
  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

// The token ids of texts with the same number of tokens, between [CLS] and [SEP]: (N, T).
inline Indices ids_of(const WordPiece& pieces, const Names& texts) {
  Indices ids;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const std::vector<std::size_t> row = pieces.encode_sequence(texts[n]);
    if (n == 0) ids = xt::zeros<std::int64_t>({texts.size(), row.size()});
    std::copy(row.begin(), row.end(), ids.data() + n * row.size());
  }
  return ids;
}

// Trains on batches of 64 training sentences, masked as in lesson 18.
inline std::vector<double> train(const SmallBert& bert, std::int64_t steps, Generator generator) {
  const WordPiece& pieces = bert.pieces;
  const Masking masking = {std::int64_t(pieces.mask()), std::int64_t(pieces.find(".").value()), 5,
                           std::int64_t(pieces.size())};
  return train(bert.gpt, bert.parameters, {0.005, 0.0001, 100, steps}, [&] {
    Names texts;
    for (const Names& words : training_texts(generator)) texts.push_back(text_of(words));
    return masked(ids_of(pieces, texts), masking, generator);
  });
}

// The name that a parameter of heed has in BERT's file, as in Hugging Face's BertForMaskedLM.
inline std::string bert_name(std::string name) {
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"embedding_norm", "embeddings.LayerNorm"},
      {"token_type.", "embeddings.token_type_embeddings."},
      {"token.", "embeddings.word_embeddings."},
      {"position.", "embeddings.position_embeddings."},
      {"attention.out.", "attention.output.dense."},
      {"attention.query", "attention.self.query"},
      {"attention.key", "attention.self.key"},
      {"attention.value", "attention.self.value"},
      {"mlp.up", "intermediate.dense"},
      {"mlp.down", "output.dense"},
      {"norm1", "attention.output.LayerNorm"},
      {"norm2", "output.LayerNorm"},
      {"blocks.", "encoder.layer."},
      {"masked_lm.transform", "predictions.transform.dense"},
      {"masked_lm.norm", "predictions.transform.LayerNorm"},
      {"masked_lm.bias", "predictions.bias"}};
  for (const auto& [ours, theirs] : parts)
    if (const std::size_t at = name.find(ours); at != name.npos)
      name.replace(at, ours.size(), theirs);
  return (name.rfind("predictions", 0) == 0 ? "cls." : "bert.") + name;
}

// Writes the three files of a BERT into the folder.
inline void write_bert(const SmallBert& bert, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const nn::GptConfig& c = bert.gpt.config;
  std::vector<StoredTensor> tensors;
  for (const Tensor& p : bert.parameters)
    tensors.push_back(stored_tensor(bert_name(p.name()), p.value()));
  write_safetensors(folder / "model.safetensors", {{"format", "pt"}}, tensors);
  const auto line = [](const std::string& key, const std::string& value) {
    return " \"" + key + "\": " + value + ",\n";
  };
  write_file_atomically(folder / "config.json",
                        "{\n" + line("model_type", "\"bert\"") +
                            line("hidden_size", std::to_string(c.embed_dim)) +
                            line("num_hidden_layers", std::to_string(c.layers)) +
                            line("num_attention_heads", std::to_string(c.heads)) +
                            line("intermediate_size", std::to_string(4 * c.embed_dim)) +
                            line("max_position_embeddings", std::to_string(c.block_size)) +
                            line("type_vocab_size", std::to_string(c.token_types)) +
                            line("vocab_size", std::to_string(c.vocab_size)) +
                            line("layer_norm_eps", "1e-12") + " \"hidden_act\": \"gelu\"\n}\n");
  write_file_atomically(folder / "vocab.txt", small_vocab_txt());
}

}  // namespace heed
