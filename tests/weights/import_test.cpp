// import_test.cpp: tests of imported GPT-2 and BERT models.

#include "weights/golden_weights.hpp"

using namespace heed_test;

TEST_CASE("an imported GPT-2 computes what PyTorch computes from the same file", "[weights]") {
  for (const char* folder : {"gpt2", "gpt2_prefix", "gpt2_bf16"})
    check_against_torch(folder, 1e-5);
}

TEST_CASE("an imported BERT computes what PyTorch computes from the same file", "[weights]") {
  for (const char* folder : {"bert", "bert_old", "bert_f16"}) check_against_torch(folder, 1e-5);
}
