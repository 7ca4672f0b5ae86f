// tensors.hpp: the names and layouts of the tensors of GPT-2, nanoGPT, BERT and Llama.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "files/hugging_face/config.hpp"

namespace HEED_NAMESPACE::hugging_face {

// A tensor of the folder: the parameters that it holds, concatenated along axis 0. A transposed
// matrix is (in, out), as in the Conv1D of GPT-2, where Linear has (out, in).
struct ForeignTensor {
  std::string name;                     // name without prefix, such as "h.0.attn.c_attn.weight"
  std::vector<std::string> parameters;  // names in heed, such as "blocks.0.attention.query.weight"
  bool transposed = false;
  // Not 0: heads of this width, of whose rows a model rotates 2i and 2i + 1 together, as Meta's
  // Llama, and the file i and half the width later, as Hugging Face's.
  std::size_t rotated_width = 0;
};
// All tensors of a model, in the order of the file.
std::vector<ForeignTensor> tensors_of(Source source, const nn::GptConfig& config);
// The prefix that names of tensors may have: "transformer.", "bert." or "model."; "" if there is
// none.
std::string_view prefix_of(Source source);
// The name without the prefix, with LayerNorm's gamma and beta renamed to weight and bias
// (TensorFlow's names in BERT).
std::string canonical_name(Source source, std::string_view name);
// Whether a tensor of this name is no parameter, such as a buffer with a mask.
bool is_ignorable(Source source, std::string_view canonical);

}  // namespace HEED_NAMESPACE::hugging_face
