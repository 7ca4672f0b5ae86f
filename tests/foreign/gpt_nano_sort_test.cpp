// gpt_nano_sort_test.cpp: a small GPT that sorts digits, and the intermediate results that PyTorch
// computed with it (README.md of this folder).

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "files/hugging_face/tensors.hpp"
#include "foreign/folder.hpp"
#include "heed/heed.hpp"
#include "heed/train/generate.hpp"
#include "scratch_folder.hpp"

using namespace heed;
using heed_test::content;
using nlohmann::json;

namespace {

std::string from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::size_t value = 0, bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    value = (value << 6 | digits.find(c)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(value >> bits & 0xff);
  }
  return bytes;
}

// A tensor of the two files: its shape, and its elements as float in base64.
Array array_in(const json& tensor) {
  Array x = uninitialized(tensor.at("shape").get<Shape>());
  const std::string bytes = from_base64(tensor.at("data"));
  REQUIRE(bytes.size() == x.size() * sizeof(float));
  std::memcpy(x.data(), bytes.data(), bytes.size());
  return x;
}

nn::GptConfig config() {
  nn::GptConfig c;
  c.vocab_size = 3;
  c.block_size = 11;
  c.layers = 3;
  c.heads = 3;
  c.embed_dim = 48;
  c.bias = true;
  c.tied = false;
  c.gelu = Gelu::tanh;
  return c;
}

// The model with the published weights, whose names and layouts are nanoGPT's.
struct Sorter {
  explicit Sorter(const std::filesystem::path& folder) {
    using namespace hugging_face;
    const json file = json::parse(content(folder / "gpt-nano-sort-model.json"));
    for (const ForeignTensor& tensor : tensors_of(Source::nanogpt, config())) {
      const std::string prefix = file.contains(tensor.name) ? "" : "transformer.";
      const Array all = array_in(file.at(prefix + tensor.name));
      const Real* next = all.data();
      for (const std::string& name : tensor.parameters) {
        Array& values = parameters.at(name).mutable_value();
        std::copy_n(next, values.size(), values.data());
        next += values.size();
      }
      REQUIRE(next == all.data() + all.size());
    }
  }

  Parameters parameters;
  nn::Gpt model = nn::without_values(parameters, config());
};

using Results = std::map<std::string, Tensor>;

// The steps of the first block, by the names of the file.
void add_first_block(const nn::Block& block, const Tensor& x, Results& r) {
  AttentionOptions options;
  options.causal = true;
  options.num_heads = 3;
  r["ln1"] = block.norm1(x);
  const nn::Projections p = block.attention.project(r["ln1"], r["ln1"]);
  r["qkv"] = concat({p.query, p.key, p.value}, -1);
  r["q"] = split_heads(p.query, 3);
  r["k"] = split_heads(p.key, 3);
  r["v"] = split_heads(p.value, 3);
  r["att"] = masked_fill(matmul(r["q"], transpose(r["k"], -2, -1)) / 4, future_mask(11, 11),
                         -std::numeric_limits<double>::infinity());
  r["attSm"] = attention_weights(p.query, p.key, options);
  r["y"] = scaled_dot_product_attention(p.query, p.key, p.value, options);
  r["yProj"] = block.attention(r["ln1"], options);
  r["attnResid"] = x + r["yProj"];
  r["ln2"] = block.norm2(r["attnResid"]);
  r["fc"] = block.mlp.up(r["ln2"]);
  r["gelu"] = gelu(r["fc"], Gelu::tanh);
  r["mlp"] = block.mlp(r["ln2"]);
  r["mlpResid"] = r["attnResid"] + r["mlp"];
}

Results results_of(const nn::Gpt& model, const Indices& tokens) {
  Results r;
  r["tok_emb"] = model.token(tokens);
  r["pos_emb"] = unsqueeze(model.position->weight, 0);
  Tensor x = r["x"] = model.embed(tokens);
  add_first_block(model.blocks[0], x, r);
  for (std::size_t i = 0; i < 3; ++i)
    x = r["block" + std::to_string(i)] = model.blocks[i](x, model.attention_mask());
  r["ln_f"] = model.norm(x);
  r["lm_head"] = model(tokens);
  r["probs"] = softmax(r["lm_head"], -1);
  return r;
}

// With the tolerances of CS336's tests.
bool matches(const Array& got, double factor, const Array& expected) {
  if (got.shape() != expected.shape()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double a = factor * static_cast<double>(got.data()[i]);
    const auto b = static_cast<double>(expected.data()[i]);
    if (a != b && !(std::abs(a - b) <= 1e-6 + 1e-4 * std::abs(b))) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the intermediate results of gpt-nano-sort are those of PyTorch",
          "[foreign][gpt_nano_sort]") {
  const std::filesystem::path folder = heed_test::foreign("gpt-nano-sort", "gpt-nano-sort");
  if (folder.empty()) return;
  const NoGrad no_grad;
  const Sorter sorter(folder);
  const json published = json::parse(content(folder / "gpt-nano-sort-t0-partials.json"));
  const Indices tokens = xt::cast<std::int64_t>(array_in(published.at("idx")));
  std::size_t equal = 0, still_equal = 0;
  const Results results = results_of(sorter.model, tokens);
  for (const auto& [name, result] : results) {
    INFO(name);
    const Array expected = array_in(published.at(name));
    CHECK(matches(result.value(), 1, expected));
    equal += matches(result.value(), 1, expected);
    still_equal += matches(result.value(), 1.0015, expected);
  }
  std::cout << "gpt-nano-sort: " << equal << " of " << published.size() - 2
            << " intermediate results are equal, and " << still_equal << " times 1.0015\n";
  CHECK(results.size() == published.size() - 2);  // all but `config` and `idx`
  CHECK(still_equal == 0);
}

TEST_CASE("gpt-nano-sort sorts every sequence of six digits", "[foreign][gpt_nano_sort]") {
  const std::filesystem::path folder = heed_test::foreign("gpt-nano-sort", "gpt-nano-sort");
  if (folder.empty()) return;
  const Sorter sorter(folder);
  GenerateOptions greedy;
  greedy.tokens = 6;
  greedy.temperature = 0;
  Generator unused(0);
  int sorted = 0;
  for (int number = 0; number < 729; ++number) {  // 3^6
    std::vector<std::int64_t> digits;
    for (int rest = number; digits.size() < 6; rest /= 3) digits.push_back(rest % 3);
    const auto output = generate(sorter.model, digits, greedy, unused);
    std::sort(digits.begin(), digits.end());
    sorted += output == digits;
  }
  std::cout << "gpt-nano-sort: " << sorted << " of 729 sequences are sorted\n";
  CHECK(sorted == 729);
}
