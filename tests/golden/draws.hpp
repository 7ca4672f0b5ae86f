// draws.hpp: runs random calls written as JSON, such as ["rand",[3,5]], with heed's Generator.
//
//   rand shape             randint low high shape     multinomial weights count replacement
//   randn shape            randperm n                 linear in out bias
//   uniform low high shape bernoulli p shape          embedding tokens size
//   normal mean std shape  dropout p shape
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "heed/array/random.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/mask.hpp"

namespace golden {

using heed::Array;
using heed::Generator;
using heed::Indices;
using heed::Shape;
using Json = nlohmann::json;

using Drawn = std::variant<Array, Indices>;

inline double number(const Json& json) {  // also "inf", "-inf" and "nan", which JSON lacks
  return json.is_string() ? std::strtod(json.get<std::string>().c_str(), nullptr)
                          : json.get<double>();
}

inline Shape shape_from(const Json& sizes) {
  const auto list = sizes.get<std::vector<std::size_t>>();
  return Shape(list.begin(), list.end());
}

inline Array weights_of(const Json& list) {  // (V) or (N, V)
  const bool rows = !list.empty() && list[0].is_array();
  Array weights = heed::uninitialized(rows ? Shape{list.size(), list[0].size()}  //
                                           : Shape{list.size()});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Json& weight = rows ? list[i / list[0].size()].at(i % list[0].size()) : list[i];
    weights.data()[i] = static_cast<heed::Real>(number(weight));
  }
  return weights;
}

// The arrays of one call: linear has two if it has a bias.
inline std::vector<Drawn> drawn(Generator& generator, const Json& call) {
  const std::string kind = call.at(0);
  const auto real = [&](std::size_t i) { return number(call.at(i)); };
  const auto size = [&](std::size_t i) { return call.at(i).get<std::size_t>(); };
  const auto shape = [&](std::size_t i) { return shape_from(call.at(i)); };
  if (kind == "rand") return {generator.rand(shape(1))};
  if (kind == "randn") return {generator.randn(shape(1))};
  if (kind == "uniform") return {generator.uniform(shape(3), real(1), real(2))};
  if (kind == "normal") return {generator.normal(shape(3), real(1), real(2))};
  if (kind == "randint") return {generator.randint(call.at(1), call.at(2), shape(3))};
  if (kind == "randperm") return {generator.randperm(size(1))};
  if (kind == "bernoulli") return {generator.bernoulli(shape(2), real(1))};
  if (kind == "dropout") return {dropout_mask(shape(2), real(1), generator)};
  if (kind == "embedding") return {generator.randn({size(1), size(2)})};
  if (kind == "multinomial")
    return {generator.multinomial(weights_of(call.at(1)), size(2), call.at(3).get<bool>())};
  if (kind != "linear") throw std::runtime_error("unknown call " + kind);
  std::vector<Drawn> weight_and_bias{heed::nn::init::linear_weight(generator, size(1), size(2))};
  if (call.at(3))
    weight_and_bias.push_back(heed::nn::init::linear_bias(generator, size(1), size(2)));
  return weight_and_bias;
}

}  // namespace golden
