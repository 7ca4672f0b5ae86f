// exercises.hpp: the reader's functions of exercises 14, 17, 23 and 24, and heed's solutions of
// these exercises, which CMakeLists.txt compiles under other names.
#pragma once

#include <functional>

#include "../23_what_attention_costs/online_softmax.hpp"
#include "lesson.hpp"

using Model = std::function<heed::Array(const heed::Indices&)>;  // tokens (T) to logits (T, V)
using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

std::size_t first_leak(const Model& model, const heed::Indices& tokens, std::size_t V);
heed::Array induction_scores(const heed::Array& weights, const std::vector<int>& tokens);
void update(heed::Row& row, const heed::Array& scores, const heed::Array& values);
Ids encode(const std::vector<Merge>& merges, Ids ids);

std::size_t heeds_first_leak(const Model& model, const heed::Indices& tokens, std::size_t V);
heed::Array heeds_induction_scores(const heed::Array& weights, const std::vector<int>& tokens);
void heeds_update(heed::Row& row, const heed::Array& scores, const heed::Array& values);
Ids heeds_encode(const std::vector<Merge>& merges, Ids ids);

namespace heed {

// The functions with which the lesson measures.
struct Tools {
  decltype(&::first_leak) first_leak;
  decltype(&::induction_scores) induction_scores;
  decltype(&::update) update;
  decltype(&::encode) encode;
};

// The reader's function if its result in a small test is that of heed's function, otherwise heed's.
template <class Function, class Test>
Function* yours_or_ours(const std::string& name, const std::string& exercise, Function* yours,
                        Function* ours, const Test& test) {
  bool is_right = false;
  try {
    const Array a = test(yours), b = test(ours);
    is_right = shape_of(a) == shape_of(b) && xt::allclose(a, b, 1e-4, 1e-5);
  } catch (const std::exception&) {  // an unfinished function may throw
  }
  quote(pad_right(name, 18) + (is_right
                                   ? "yours, of exercise " + exercise
                                   : "heed's, until yours is right: ./heed exercise " + exercise));
  return is_right ? yours : ours;
}

// A model with one leak: logits of row 1 depend on whether token 3 is 2.
inline Array leak_test(decltype(&::first_leak) find) {
  const Model model = [](const Indices& tokens) {
    Array logits = zeros({6, 3});
    logits(1, 2) = tokens(3) == 2 ? 1e-6F : 0;
    return logits;
  };
  const Indices tokens = {0, 1, 2, 0, 1, 2};
  return scalar(Real(find(model, tokens, 3)));
}

inline Array induction_test(decltype(&::induction_scores) scores) {
  return scores(Generator(1).uniform({2, 6, 6}, 0, 1), {4, 2, 4, 4, 2, 1});
}

// Two blocks: the first has a masked key, the second a larger maximum.
inline Array update_test(decltype(&::update) add) {
  Row row(2);
  const Real masked = -std::numeric_limits<Real>::infinity();
  const Array first = {1, masked, 3}, second = {200, 199};
  add(row, first, array2d({{1, 2}, {3, 4}, {5, 6}}));
  add(row, second, array2d({{1, -1}, {2, 0}}));
  return row.output / row.sum;
}

// 'abcab' with the merges bc, ab, ab + c: the earliest merge comes first, not the leftmost pair.
inline Array encode_test(decltype(&::encode) apply) {
  const Ids ids = apply({{98, 99}, {97, 98}, {257, 99}}, {97, 98, 99, 97, 98});
  Array result = zeros({ids.size()});
  std::copy(ids.begin(), ids.end(), result.begin());
  return result;
}

}  // namespace heed
