// onnx_test.cpp: the cases of ONNX's suite for single operators (README.md of this folder).

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "catch.hpp"
#include "foreign/folder.hpp"
#include "foreign/onnx/operators.hpp"
#include "heed/base/error.hpp"

using namespace heed_test::onnx;

namespace {

namespace fs = std::filesystem;

// Two cases differ by design: the maximum or minimum of no elements is an error, as in PyTorch.
const std::set<std::string> differ_by_design = {
    "test_reduce_max_empty_set", "test_reduce_min_empty_set", "test_reduce_min_empty_set_expanded",
    "test_reduce_max_empty_set_expanded"};

// ONNX's tolerances; 16-bit numbers have 11 bits.
bool is_close(double got, double expected, Type type) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::abs(got - expected) <= 1e-7 + (type == Type::half ? 1e-2 : 1e-3) * std::abs(expected);
}

bool is_close(const Value& got, const Value& expected, double factor) {
  if (got.shape != expected.shape || is_real(got.type) != is_real(expected.type)) return false;
  for (std::size_t i = 0; i < got.elements.size(); ++i)
    if (!is_close(factor * got.elements[i], expected.elements[i], expected.type)) return false;
  return true;
}

Values tensors_of(const fs::path& folder, const std::string& name) {
  Values all;
  for (std::size_t i = 0; fs::exists(folder / (name + std::to_string(i) + ".pb")); ++i)
    all.push_back(read_tensor(folder / (name + std::to_string(i) + ".pb")));
  return all;
}

// Integer arrays are not heed's: an operator that computes with them cannot be expressed.
void check_types(const Graph& graph, const Values& inputs) {
  static const std::set<std::string> arithmetic = {"Add", "Sub",    "Mul",    "Div",  "Pow",
                                                   "Max", "Min",    "Clip",   "Sum",  "Abs",
                                                   "Neg", "MatMul", "CumSum", "Relu", "Gemm"};
  if (graph.nodes.size() == 1 && arithmetic.count(graph.nodes[0].op) != 0 && !inputs.empty() &&
      !is_real(inputs[0].type))
    throw NotExpressible("integer arrays");
}

enum class Verdict { passes, fails, not_expressible };

// Runs one case; `reason` gets why it cannot be expressed or fails.
Verdict verdict_of(const fs::path& folder, double factor, std::string& reason) {
  try {
    const Graph graph = read_model(folder / "model.onnx");
    const fs::path data = folder / "test_data_set_0";
    check_operators(graph);
    const Values inputs = tensors_of(data, "input_"), expected = tensors_of(data, "output_");
    check_types(graph, inputs);
    const Values got = run(graph, inputs);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!is_close(got.at(i), expected[i], factor)) {
        reason = "output " + std::to_string(i);
        return Verdict::fails;
      }
    return Verdict::passes;
  } catch (const NotExpressible& error) {
    reason = error.what();
    return Verdict::not_expressible;
  } catch (const std::exception& error) {
    reason = error.what();
    return Verdict::fails;
  }
}

struct Count {
  int passes = 0, fails = 0, not_expressible = 0;
  std::map<std::string, int> reasons;  // why cases cannot be expressed
  std::vector<std::string> failures;
};

Count count_of(const fs::path& suite, double factor) {
  Count count;
  for (const auto& entry : fs::directory_iterator(suite)) {
    const std::string name = entry.path().filename().string();
    if (!fs::exists(entry.path() / "model.onnx") || differ_by_design.count(name) != 0) continue;
    std::string reason;
    switch (verdict_of(entry.path(), factor, reason)) {
      case Verdict::passes:
        ++count.passes;
        break;
      case Verdict::fails:
        ++count.fails;
        count.failures.push_back(name + ": " + reason);
        break;
      case Verdict::not_expressible:
        ++count.not_expressible;
        ++count.reasons[reason];
    }
  }
  return count;
}

}  // namespace

TEST_CASE("ONNX's cases for single operators have ONNX's results", "[foreign][onnx]") {
  const fs::path suite = heed_test::foreign("ONNX's node tests", "onnx");
  if (suite.empty()) return;
  const Count count = count_of(suite, 1);
  std::cout << "onnx: " << count.passes << " pass, " << count.fails << " fail, "
            << count.not_expressible << " cannot be expressed:\n";
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [reason, cases] : count.reasons) reasons.emplace_back(cases, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (const auto& [cases, reason] : reasons) std::cout << "  " << cases << "  " << reason << '\n';
  for (const std::string& failure : count.failures) UNSCOPED_INFO(failure);
  CHECK(count.fails == 0);
  CHECK(count.passes >= 840);
}

TEST_CASE("if each result is multiplied by 1.0015, nearly all of ONNX's cases fail",
          "[foreign][onnx]") {
  const fs::path suite = heed_test::foreign("the control of ONNX's node tests", "onnx");
  if (suite.empty()) return;
  const Count right = count_of(suite, 1), wrong = count_of(suite, 1.0015);
  std::cout << "onnx: " << wrong.passes << " of " << right.passes
            << " still pass with results times 1.0015\n";
  CHECK(wrong.passes < right.passes / 20);
}
