// golden_weights_test.cpp: tests of imported models of GPT-2, of BERT and of Llama's family.

#include "weights/golden_weights.hpp"

#include "heed/train/generate.hpp"

using namespace heed_test;

TEST_CASE("an imported GPT-2 computes what PyTorch computes from the same file", "[weights]") {
  for (const char* folder : {"gpt2", "gpt2_prefix", "gpt2_bf16"}) check_against_torch(folder, 1e-5);
}

TEST_CASE("an imported Llama computes what PyTorch computes from the same file", "[weights]") {
  for (const char* folder : {"llama", "llama_bf16", "qwen2", "llama2_c", "llama2_c_untied"})
    check_against_torch(folder, 1e-5);
}

TEST_CASE("an imported model generates PyTorch's most probable tokens, one after the other",
          "[weights]") {
  for (const char* folder : {"gpt2", "gpt2_prefix", "gpt2_bf16", "llama", "llama_bf16", "qwen2",
                             "llama2_c", "llama2_c_untied"}) {
    INFO(folder);
    const hd::ImportedModel imported = imported_from(folder);
    const hd::SafetensorsFile expected =
        hd::read_safetensors(weights_folder(folder) / "expected.safetensors");
    const auto tokens_of = [&](const char* name) {
      const Indices tokens = indices_of(expected.array(name));
      return std::vector<std::int64_t>(tokens.begin(), tokens.end());
    };
    const std::vector<std::int64_t> greedy = tokens_of("greedy");
    hd::GenerateOptions options;
    options.tokens = greedy.size();
    options.temperature = 0;
    hd::Generator generator(0);
    CHECK(hd::generate(imported.model, tokens_of("prompt"), options, generator) == greedy);
    options.cache = false;
    CHECK(hd::generate(imported.model, tokens_of("prompt"), options, generator) == greedy);
  }
}

TEST_CASE("an imported BERT computes what PyTorch computes from the same file", "[weights]") {
  for (const char* folder : {"bert", "bert_old", "bert_f16"}) check_against_torch(folder, 1e-5);
}

TEST_CASE("an import allocates little more memory than the model's parameters need", "[weights]") {
  const std::size_t before = hd::allocated_bytes();
  hd::reset_peak_bytes();
  const hd::ImportedModel imported(weights_folder("gpt2"));
  const double needed = static_cast<double>(imported.parameters.count() * sizeof(hd::Real));
  CHECK(static_cast<double>(hd::peak_allocated_bytes() - before) < 1.15 * needed);
}
