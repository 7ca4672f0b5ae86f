// files.hpp: the vocabulary and the three files of a small BERT, for lesson 26.
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

// Writes config.json, vocab.txt and model.safetensors of a BERT into the folder.
inline void write_bert(const nn::GptConfig& c, const Parameters& parameters,
                       const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<StoredTensor> tensors;
  for (const Tensor& p : parameters)
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
