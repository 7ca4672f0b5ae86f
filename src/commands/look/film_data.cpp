// film_data.cpp: a training step, node by node, as JSON for heed look --film.

#include "commands/look/film_data.hpp"

#include <algorithm>
#include <cmath>

#include "commands/look/page_data.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

constexpr std::size_t largest_side = 64;  // rows or columns of a picture

// The smallest and largest finite element, the L2 norm, and the number of NaN and infinities.
Json statistics(const Array& x) {
  double smallest = 0, largest = 0, squares = 0;
  std::size_t not_finite = 0;
  bool first = true;
  for (const Real element : x) {
    const double value = static_cast<double>(element);
    if (!std::isfinite(value)) {
      ++not_finite;
      continue;
    }
    smallest = first ? value : std::min(smallest, value);
    largest = first ? value : std::max(largest, value);
    squares += value * value;
    first = false;
  }
  return {{"min", smallest},
          {"max", largest},
          {"norm", std::sqrt(squares)},
          {"not_finite", not_finite}};
}

std::vector<std::size_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

Json picture(const Array& x) {
  const std::size_t rank = x.dimension();
  const std::size_t columns = rank == 0 ? 1 : x.shape(rank - 1);
  const std::size_t rows = x.size() == 0 ? 0 : rank < 2 ? 1 : x.shape(rank - 2);
  const std::size_t row_step = (rows + largest_side - 1) / largest_side;
  const std::size_t column_step = (columns + largest_side - 1) / largest_side;
  std::vector<Real> shown;
  for (std::size_t r = 0; r < rows; r += row_step)
    for (std::size_t c = 0; c < columns; c += column_step)
      shown.push_back(x.data()[r * columns + c]);
  double limit = 0;
  for (const Real value : shown)
    if (std::isfinite(value)) limit = std::max(limit, std::abs(static_cast<double>(value)));
  const int decimals = decimals_for(limit);
  return {{"shape", sizes(x.shape())},
          {"row_step", row_step},
          {"column_step", column_step},
          {"limit", limit},
          {"decimals", decimals},
          {"codes", coded_numbers(shown.data(), shown.size(), -limit, limit, decimals).codes},
          {"all", statistics(x)}};
}

void FilmRecorder::begin_pass(const NodeList& nodes) {
  if (pass_ended_) return;
  for (const auto& node : nodes) index_.emplace(node.get(), index_.size());
  for (const auto& node : nodes) {
    Json::List inputs;
    for (const auto& input : node->inputs) {
      const auto found = index_.find(input.get());
      inputs.push_back(found == index_.end() ? Json(nullptr) : Json(found->second));
    }
    nodes_.push_back({{"op", std::string(node->op)},
                      {"name", node->name},
                      {"place", node->depth == 0 ? "" : str(node->location)},
                      {"value", picture(node->value)},
                      {"inputs", inputs},
                      {"parts", Json::List(inputs.size())}});
    if (node->depth == 0) leaves_.emplace_back(node, node->value);
  }
}

void FilmRecorder::visit(const Node& node) {
  if (!pass_ended_) nodes_[index_.at(&node)]["gradient"] = picture(node.grad);
}

void FilmRecorder::add(const Node& from, std::size_t i, const Array& part) {
  if (!pass_ended_) nodes_[index_.at(&from)]["parts"].get<Json::List>()[i] = picture(part);
}

Json::List FilmRecorder::nodes() const {
  Json::List nodes = nodes_;
  for (const auto& [leaf, before] : leaves_)
    nodes[index_.at(leaf.get())]["update"] = picture(leaf->value - before);
  return nodes;
}

}  // namespace heed::app
