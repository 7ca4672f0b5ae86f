// tensors.cpp: the names and layouts of the tensors of GPT-2, nanoGPT, BERT and Llama.

#include "files/hugging_face/tensors.hpp"

#include <algorithm>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

using Tensors = std::vector<ForeignTensor>;

// Adds weight and, if the model has biases, bias of a layer that holds several of heed's layers.
void add_layer(Tensors& tensors, const std::string& name, const std::vector<std::string>& layers,
               bool with_bias, bool transposed = false) {
  for (const std::string kind : {".weight", ".bias"}) {
    if (kind == ".bias" && !with_bias) continue;
    std::vector<std::string> parameters;
    for (const std::string& layer : layers) parameters.push_back(layer + kind);
    tensors.push_back({name + kind, parameters, transposed && kind == ".weight"});
  }
}

// GPT-2 of Hugging Face has matrices (in, out), nanoGPT (out, in); their names are equal.
Tensors gpt2_tensors(const nn::GptConfig& c, bool transposed) {
  Tensors tensors = {{"wte.weight", {"token.weight"}}, {"wpe.weight", {"position.weight"}}};
  for (std::size_t i = 0; i < c.layers; ++i) {
    const std::string h = "h." + std::to_string(i) + ".";
    const std::string block = "blocks." + std::to_string(i) + ".", a = block + "attention.";
    add_layer(tensors, h + "ln_1", {block + "norm1"}, c.bias);
    add_layer(tensors, h + "attn.c_attn", {a + "query", a + "key", a + "value"}, c.bias,
              transposed);
    add_layer(tensors, h + "attn.c_proj", {a + "out"}, c.bias, transposed);
    add_layer(tensors, h + "ln_2", {block + "norm2"}, c.bias);
    add_layer(tensors, h + "mlp.c_fc", {block + "mlp.up"}, c.bias, transposed);
    add_layer(tensors, h + "mlp.c_proj", {block + "mlp.down"}, c.bias, transposed);
  }
  add_layer(tensors, "ln_f", {"norm"}, c.bias);
  tensors.push_back({"lm_head.weight", {c.tied ? "token.weight" : "head.weight"}});
  return tensors;
}

Tensors bert_tensors(const nn::GptConfig& c) {
  Tensors tensors = {{"embeddings.word_embeddings.weight", {"token.weight"}},
                     {"embeddings.position_embeddings.weight", {"position.weight"}},
                     {"embeddings.token_type_embeddings.weight", {"token_type.weight"}}};
  add_layer(tensors, "embeddings.LayerNorm", {"embedding_norm"}, true);
  for (std::size_t i = 0; i < c.layers; ++i) {
    const std::string layer = "encoder.layer." + std::to_string(i) + ".";
    const std::string block = "blocks." + std::to_string(i) + ".", a = block + "attention.";
    for (const std::string part : {"query", "key", "value"})
      add_layer(tensors, layer + "attention.self." + part, {a + part}, true);
    add_layer(tensors, layer + "attention.output.dense", {a + "out"}, true);
    add_layer(tensors, layer + "attention.output.LayerNorm", {block + "norm1"}, true);
    add_layer(tensors, layer + "intermediate.dense", {block + "mlp.up"}, true);
    add_layer(tensors, layer + "output.dense", {block + "mlp.down"}, true);
    add_layer(tensors, layer + "output.LayerNorm", {block + "norm2"}, true);
  }
  add_layer(tensors, "cls.predictions.transform.dense", {"masked_lm.transform"}, true);
  add_layer(tensors, "cls.predictions.transform.LayerNorm", {"masked_lm.norm"}, true);
  tensors.push_back({"cls.predictions.bias", {"masked_lm.bias"}});
  tensors.push_back({"cls.predictions.decoder.bias", {"masked_lm.bias"}});
  tensors.push_back({"cls.predictions.decoder.weight", {c.tied ? "token.weight" : "head.weight"}});
  return tensors;
}

Tensors llama_tensors(const nn::GptConfig& c) {
  Tensors tensors = {{"embed_tokens.weight", {"token.weight"}}};
  for (std::size_t i = 0; i < c.layers; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    const std::string block = "blocks." + std::to_string(i) + ".", a = block + "attention.";
    add_layer(tensors, layer + "input_layernorm", {block + "norm1"}, false);
    const std::size_t first = tensors.size();
    for (const auto& [theirs, part] : {std::pair("q", "query"), {"k", "key"}})
      add_layer(tensors, layer + "self_attn." + theirs + "_proj", {a + part}, c.bias || c.qkv_bias);
    if (c.rotary_pairs == RotaryPairs::interleaved)
      for (std::size_t t = first; t < tensors.size(); ++t)
        tensors[t].rotated_width = c.head_width();
    add_layer(tensors, layer + "self_attn.v_proj", {a + "value"}, c.bias || c.qkv_bias);
    add_layer(tensors, layer + "self_attn.o_proj", {a + "out"}, c.bias);
    add_layer(tensors, layer + "post_attention_layernorm", {block + "norm2"}, false);
    for (const std::string part : {"gate", "up", "down"})
      add_layer(tensors, layer + "mlp." + part + "_proj", {block + "mlp." + part}, c.bias);
  }
  add_layer(tensors, "norm", {"norm"}, false);
  tensors.push_back({"lm_head.weight", {c.tied ? "token.weight" : "head.weight"}});
  return tensors;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Whether the name is that of a buffer of a layer: START, a number and the suffix.
bool is_buffer(std::string_view name, std::string_view start, std::string_view suffix) {
  if (!begins_with(name, start) || !ends_with(name, suffix) ||
      name.size() < start.size() + suffix.size())
    return false;
  const std::string_view number =
      name.substr(start.size(), name.size() - start.size() - suffix.size());
  return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

}  // namespace

Tensors tensors_of(Source source, const nn::GptConfig& config) {
  if (source == Source::bert) return bert_tensors(config);
  if (source == Source::llama) return llama_tensors(config);
  return gpt2_tensors(config, source == Source::gpt2);
}

std::string_view prefix_of(Source source) {
  if (source == Source::llama) return "model.";
  return source == Source::heed ? "" : source == Source::bert ? "bert." : "transformer.";
}

std::string canonical_name(Source source, std::string_view name) {
  if (begins_with(name, prefix_of(source))) name.remove_prefix(prefix_of(source).size());
  std::string canonical(name);
  if (source != Source::bert) return canonical;
  for (const auto& [old_name, new_name] : {std::pair(".gamma", ".weight"), {".beta", ".bias"}})
    if (ends_with(canonical, old_name))
      canonical.replace(canonical.size() - std::string_view(old_name).size(), std::string::npos,
                        new_name);
  return canonical;
}

bool is_ignorable(Source source, std::string_view name) {
  if (source == Source::bert)
    return begins_with(name, "pooler.") || begins_with(name, "cls.seq_relationship.") ||
           name == "embeddings.position_ids";
  if (source == Source::llama) return is_buffer(name, "layers.", ".self_attn.rotary_emb.inv_freq");
  return source != Source::heed &&
         (is_buffer(name, "h.", ".attn.bias") || is_buffer(name, "h.", ".attn.masked_bias"));
}

}  // namespace HEED_NAMESPACE::hugging_face
