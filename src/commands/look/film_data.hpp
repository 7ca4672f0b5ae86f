// film_data.hpp: a training step, node by node, as JSON for heed look --film.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "heed/autograd/observer.hpp"

namespace heed::app {

// An array as the film shows it: its last two axes at index 0 of the others, at most 64 rows and 64
// columns of them, evenly spaced; and the smallest and largest element and the L2 norm of all.
Json picture(const Array& x);

// Records the first backward pass that runs on this thread while it is in scope: each node's value
// before the pass, its gradient, and the part of each input's gradient that its backward computes.
class FilmRecorder : public Observer {
 public:
  void begin_pass(const NodeList& nodes) override;
  void visit(const Node& node) override;
  void add(const Node& from, std::size_t i, const Array& part) override;
  void end_pass() override { pass_ended_ = true; }

  // The nodes in the order of the forward pass, the parameters first. Call it after the optimizer's
  // step, by which each parameter's picture "update" differs from its value.
  Json::List nodes() const;

 private:
  Json::List nodes_;
  std::unordered_map<const Node*, std::size_t> index_;
  std::vector<std::pair<std::shared_ptr<Node>, Array>> leaves_;  // and their values before the step
  bool pass_ended_ = false;
};

}  // namespace heed::app
