// golden_weights_test.cpp: imported models in double precision against PyTorch's.

#include "weights/golden_weights.hpp"

TEST_CASE("imported models equal PyTorch's to 1e-9 in double precision", "[double][weights]") {
  for (const char* folder : {"gpt2", "gpt2_prefix", "gpt2_bf16", "bert", "bert_old", "bert_f16",
                             "llama", "llama_bf16", "qwen2", "llama2_c", "llama2_c_untied"})
    heed_test::check_against_torch(folder, 1e-9);
}
