// export.cpp: writes a model for nanoGPT, GPT2LMHeadModel, LlamaForCausalLM or any PyTorch program.

#include <algorithm>

#include "files/hugging_face/load_script.hpp"
#include "files/hugging_face/tensors.hpp"
#include "files/hugging_face/vocabulary.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/files/hugging_face.hpp"
#include "heed/files/model_file.hpp"

namespace HEED_NAMESPACE {
namespace {

using hugging_face::ForeignTensor;
using hugging_face::Source;

[[noreturn]] void throw_unsupported(ExportFormat format, const std::string& what) {
  const char* const name = format == ExportFormat::nanogpt ? "nanoGPT"
                           : format == ExportFormat::llama ? "LlamaForCausalLM"
                                                           : "GPT2LMHeadModel";
  throw_error(name, " has no ", what, "; --to pytorch exports every model");
}

Source source_of(ExportFormat format) {
  return format == ExportFormat::nanogpt ? Source::nanogpt
         : format == ExportFormat::gpt2  ? Source::gpt2
         : format == ExportFormat::llama ? Source::llama
                                         : Source::heed;
}

// The row of the parameters that is row r of the tensor.
std::size_t row_of(const ForeignTensor& tensor, std::size_t r) {
  const std::size_t D = tensor.rotated_width;
  if (D == 0) return r;
  const std::size_t i = r % D;
  return r - i + (i < D / 2 ? 2 * i : 2 * (i - D / 2) + 1);
}

// Concatenates the parameters of a tensor along axis 0, and transposes them if the tensor is.
Array joined_values(const ForeignTensor& tensor, const Parameters& parameters) {
  Shape shape = parameters.at(tensor.parameters[0]).shape();
  const std::size_t rows_each = shape[0], rows = rows_each * tensor.parameters.size();
  const std::size_t columns = shape.size() == 2 ? shape[1] : 1;
  shape[0] = rows;
  if (tensor.transposed) std::swap(shape[0], shape[1]);
  Array joined = uninitialized(shape);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t from = row_of(tensor, r);
    const Tensor& part = parameters.at(tensor.parameters[from / rows_each]);
    const Real* const row = part.value().data() + from % rows_each * columns;
    for (std::size_t c = 0; c < columns; ++c)
      joined.data()[tensor.transposed ? c * rows + r : r * columns + c] = row[c];
  }
  return joined;
}

// The tensors in the order of the file. GPT2LMHeadModel always has biases: a model without biases
// gets zeros. `arrays` holds the values to which the result points.
std::vector<StoredTensor> stored_tensors(const Parameters& parameters, nn::GptConfig config,
                                         ExportFormat format, std::vector<Array>& arrays) {
  const Source source = source_of(format);
  const bool add_biases = format == ExportFormat::gpt2 && !config.bias;
  config.bias = config.bias || add_biases;
  std::vector<std::string> names;
  for (const ForeignTensor& tensor : hugging_face::tensors_of(source, config)) {
    const bool is_head = tensor.name == "lm_head.weight";
    if (is_head && config.tied && format != ExportFormat::nanogpt) continue;
    names.push_back((is_head ? "" : std::string(prefix_of(source))) + tensor.name);
    const std::string& first = tensor.parameters[0];
    if (add_biases && parameters.find(first) == nullptr) {
      const std::string weight = first.substr(0, first.rfind('.')) + ".weight";
      arrays.push_back(zeros({parameters.at(weight).shape()[0] * tensor.parameters.size()}));
    } else {
      arrays.push_back(joined_values(tensor, parameters));
    }
  }
  std::vector<StoredTensor> tensors;
  for (std::size_t i = 0; i < names.size(); ++i)
    tensors.push_back(stored_tensor(names[i], arrays[i]));
  return tensors;
}

}  // namespace

void check_export(const nn::GptConfig& c, ExportFormat format, SourceLocation location) {
  const CallSite site(location);
  if (format == ExportFormat::pytorch) return;
  const auto reject_if = [&](bool condition, const char* what) {
    if (condition) throw_unsupported(format, what);
  };
  reject_if(!c.causal, "bidirectional attention");
  reject_if(c.post_norm, "post-norm blocks");
  reject_if(c.masked_lm_head, "masked-LM head");
  reject_if(c.token_types != 0, "token types");
  if (format == ExportFormat::llama) {
    reject_if(c.norm != nn::NormKind::rms, "LayerNorm");
    reject_if(c.positions != nn::PositionKind::rotary, "learned positions");
    reject_if(c.mlp != nn::MlpKind::swiglu, "MLPs with GELU");
    reject_if(c.rotary_dim != 0 && c.rotary_dim != c.head_width(), "heads rotated in part");
    return;
  }
  reject_if(c.norm == nn::NormKind::rms, "RMSNorm");
  reject_if(c.positions == nn::PositionKind::rotary, "rotary positions");
  reject_if(c.mlp == nn::MlpKind::swiglu, "SwiGLU");
  reject_if(c.kv_width() != c.embed_dim, "grouped queries");
  if (format != ExportFormat::nanogpt) return;
  reject_if(c.gelu == Gelu::tanh, "tanh approximation of GELU");
  reject_if(c.norm_eps != nn::GptConfig().norm_eps, "epsilon of norms except 1e-5");
  reject_if(!c.tied, "output layer of its own weights");
}

void export_model(const std::filesystem::path& folder, const Parameters& parameters,
                  const nn::GptConfig& config, const Vocabulary& vocabulary, ExportFormat format) {
  check_export(config, format);
  check_complete("export_model", parameters, config, vocabulary);
  std::vector<Array> arrays;
  std::vector<StoredTensor> tensors;
  if (format == ExportFormat::pytorch)
    for (const Tensor& parameter : parameters)
      tensors.push_back(stored_tensor(parameter.name(), parameter.value()));
  else
    tensors = stored_tensors(parameters, config, format, arrays);
  write_safetensors(folder / "model.safetensors", {{"format", "pt"}}, tensors);
  if (format != ExportFormat::pytorch)
    for (const auto& [name, text] : hugging_face::vocabulary_files(vocabulary))
      write_file_atomically(folder / name, text);
  write_file_atomically(folder / "load.py", hugging_face::load_script(format));
  write_file_atomically(folder / "config.json",
                        hugging_face::config_text(source_of(format), config, vocabulary));
}

}  // namespace HEED_NAMESPACE
