// golden_weights.hpp: compares imported models with what PyTorch computed (make_models.py and
// make_llamas.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/files/hugging_face.hpp"
#include "heed/files/safetensors.hpp"
#include "heed/ops/loss.hpp"
#include "heed/study/heads.hpp"
#include "study/forward_record.hpp"

namespace heed_test {

namespace hd = HEED_NAMESPACE;
using hd::Array;
using hd::Indices;

inline std::filesystem::path weights_folder(const std::string& name) {
  return std::filesystem::path(HEED_TESTS_DIR) / "weights" / name;
}

// The largest difference, as a part of the largest expected number (at least 1).
inline double difference(const Array& actual, const Array& expected) {
  REQUIRE(actual.size() == expected.size());
  double largest = 1, worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double x = actual.data()[i], y = expected.data()[i];
    largest = std::max(largest, std::abs(y));
    worst = std::isfinite(x) ? std::max(worst, std::abs(x - y)) : INFINITY;
  }
  return worst / largest;
}

// A row of a matrix, or the matrix itself as Indices.
inline Indices indices_of(const Array& x) { return xt::cast<std::int64_t>(x); }
inline Indices row_of(const Indices& tokens, std::size_t b) {
  return xt::view(tokens, xt::range(b, b + 1), xt::all());
}

// Row b of an array (B, ...), as an array (1, ...).
inline Array row_of(const Array& x, std::size_t b) {
  hd::Shape shape = hd::shape_of(x);
  shape[0] = 1;
  Array row = hd::uninitialized(shape);
  std::copy_n(x.data() + b * row.size(), row.size(), row.data());
  return row;
}

// Where the gradient of a parameter is in PyTorch's file: a part of a tensor, perhaps transposed.
struct Place {
  std::string name;
  std::size_t part = 0, parts = 1;
  bool transposed = false;
};

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

inline Place gpt2_place(std::string name) {
  for (std::size_t part = 0; part < 3; ++part) {
    const std::string layer = std::string("attention.") + (part == 0   ? "query"
                                                           : part == 1 ? "key"
                                                                       : "value");
    if (name.find(layer) == name.npos) continue;
    name = replaced(replaced(name, "blocks.", "h."), layer, "attn.c_attn");
    return {name, part, 3, name.find("weight") != name.npos};
  }
  const bool is_matrix = name.find("attention.out.weight") != name.npos ||
                         name.find("up.weight") != name.npos ||
                         name.find("down.weight") != name.npos;
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"blocks.", "h."},
                                                        {"attention.out", "attn.c_proj"},
                                                        {"mlp.up", "mlp.c_fc"},
                                                        {"mlp.down", "mlp.c_proj"},
                                                        {"norm1", "ln_1"},
                                                        {"norm2", "ln_2"},
                                                        {"norm.", "ln_f."},
                                                        {"token.", "wte."},
                                                        {"position.", "wpe."}})
    name = replaced(name, from, to);
  return {name, 0, 1, is_matrix};
}

inline Place bert_place(std::string name) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"masked_lm.transform", "cls.predictions.transform.dense"},
           {"masked_lm.norm", "cls.predictions.transform.LayerNorm"},
           {"masked_lm.bias", "cls.predictions.bias"},
           {"embedding_norm", "embeddings.LayerNorm"},
           {"token_type.", "embeddings.token_type_embeddings."},
           {"token.", "embeddings.word_embeddings."},
           {"position.", "embeddings.position_embeddings."},
           {"blocks.", "encoder.layer."},
           {"attention.out.", "attention.output.dense."},
           {"attention.query", "attention.self.query"},
           {"attention.key", "attention.self.key"},
           {"attention.value", "attention.self.value"},
           {"norm1", "attention.output.LayerNorm"},
           {"norm2", "output.LayerNorm"},
           {"mlp.up", "intermediate.dense"},
           {"mlp.down", "output.dense"}})
    name = replaced(name, from, to);
  return {name};
}

inline Place llama_place(std::string name) {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"blocks.", "model.layers."},
                                                        {"attention.query", "self_attn.q_proj"},
                                                        {"attention.key", "self_attn.k_proj"},
                                                        {"attention.value", "self_attn.v_proj"},
                                                        {"attention.out", "self_attn.o_proj"},
                                                        {"mlp.gate", "mlp.gate_proj"},
                                                        {"mlp.up", "mlp.up_proj"},
                                                        {"mlp.down", "mlp.down_proj"},
                                                        {"norm1", "input_layernorm"},
                                                        {"norm2", "post_attention_layernorm"},
                                                        {"token.", "model.embed_tokens."},
                                                        {"head.", "lm_head."}})
    name = replaced(name, from, to);
  return {name.rfind("norm.", 0) == 0 ? "model." + name : name};
}

inline Place place_of(const std::string& name, const hd::nn::GptConfig& config) {
  if (!config.causal) return bert_place(name);
  return config.positions == hd::nn::PositionKind::rotary ? llama_place(name) : gpt2_place(name);
}

// A model of Hugging Face's layout or, with a model.bin, of llama2.c.
inline hd::ImportedModel imported_from(const std::string& name) {
  const std::filesystem::path folder = weights_folder(name);
  return std::filesystem::exists(folder / "model.bin")
             ? hd::ImportedModel(folder / "model.bin", folder / "tokenizer.bin")
             : hd::ImportedModel(folder);
}

// The part of a stored tensor that belongs to a parameter, in the parameter's layout.
inline Array part_of(const Array& stored, const Place& place) {
  Array x = place.transposed ? Array(xt::transpose(stored)) : stored;
  hd::Shape shape = hd::shape_of(x);
  shape[0] /= place.parts;
  Array part = hd::uninitialized(shape);
  std::copy_n(x.data() + place.part * part.size(), part.size(), part.data());
  return part;
}

// Compares hidden states, attention weights, logits, loss and gradients with PyTorch's.
inline void check_against_torch(const std::string& folder, double tolerance) {
  INFO(folder);
  const hd::ImportedModel imported = imported_from(folder);
  const hd::nn::Gpt& model = imported.model;
  const bool bert = !model.config.causal;
  CHECK(hd::nn::parameter_count(model.config) == imported.parameters.count());
  const hd::SafetensorsFile expected =
      hd::read_safetensors(weights_folder(folder) / "expected.safetensors");
  const Indices tokens = indices_of(expected.array("tokens"));
  const auto embedded = [&](const Indices& rows, std::size_t b) {
    if (!bert) return model.embed(rows);
    const Indices types = indices_of(expected.array("types"));
    return model.embed_with_types(rows, rows.shape(0) == 1 ? row_of(types, b) : types);
  };
  const hd::Tensor logits = model.from_embedding(embedded(tokens, 0));
  CHECK(difference(logits.value(), expected.array("logits")) < tolerance);
  hd::CrossEntropyOptions options;
  options.ignore_index = -100;
  const hd::Tensor loss = hd::cross_entropy(logits, indices_of(expected.array("targets")), options);
  CHECK(difference(loss.value(), expected.array("loss")) < tolerance);
  hd::backward(loss);
  for (const hd::Tensor& parameter : imported.parameters) {
    const Place place = place_of(parameter.name(), model.config);
    INFO(parameter.name() << " is " << place.name);
    const Array gradient = part_of(expected.array("gradient." + place.name), place);
    CHECK(difference(parameter.grad(), gradient) < tolerance);
  }
  // Row 0 has no token of type 1, so the functions that look inside a model know its types.
  const hd::ForwardRecord record = hd::record_forward(model, row_of(tokens, 0));
  CHECK(difference(record.logits.value(), row_of(expected.array("logits"), 0)) < tolerance);
  const std::vector<hd::LayerAttention> layers = hd::capture_attention(model, row_of(tokens, 0));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string n = std::to_string(i);
    CHECK(difference(layers[i].weights, row_of(expected.array("attention." + n), 0)) < tolerance);
    CHECK(difference(record.layers[i].residual.value(),
                     row_of(expected.array("hidden." + std::to_string(i + 1)), 0)) < tolerance);
  }
  for (std::size_t b = 0; b < tokens.shape(0); ++b) {
    hd::Tensor x = embedded(row_of(tokens, b), b);
    for (std::size_t i = 0; i <= model.config.layers; ++i) {
      INFO("row " << b << ", layer " << i);
      const std::string n = std::to_string(i);
      CHECK(difference(x.value(), row_of(expected.array("hidden." + n), b)) < tolerance);
      if (i == model.config.layers) break;
      const hd::nn::Block& block = model.blocks[i];
      const hd::Tensor input = block.attention_input(x);
      const hd::Tensor weights = block.attention.weights(input, input, model.attention_mask());
      CHECK(difference(weights.value(), row_of(expected.array("attention." + n), b)) < tolerance);
      x = block(x, model.attention_mask());
    }
  }
}

}  // namespace heed_test
