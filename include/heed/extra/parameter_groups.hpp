// parameter_groups.hpp: ParameterGroups, one optimizer for groups of parameters with options of
// their own.
#pragma once

#include <memory>
#include <vector>

#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE::optim {

// One optimizer for several groups of parameters, as PyTorch's AdamW([{"params": weights, "lr":
// 1e-3}, {"params": biases, "weight_decay": 0}]). Each group is an optimizer:
//   optim::ParameterGroups optimizer(optim::AdamW(weights, {1e-3}), optim::AdamW(biases,
//   no_decay));
class ParameterGroups final : public Optimizer {
 public:
  // Throws Error if a parameter is in two groups, and the errors of Optimizer's constructor.
  template <class... Group, class = std::enable_if_t<(std::is_base_of_v<Optimizer, Group> && ...)>>
  explicit ParameterGroups(Group... groups)
      : ParameterGroups(std::vector<std::shared_ptr<Optimizer>>{
            std::make_shared<Group>(std::move(groups))...}) {}
  // The same with groups in a list.
  explicit ParameterGroups(std::vector<std::shared_ptr<Optimizer>> groups,
                           SourceLocation location = SourceLocation::current());
  ParameterGroups(const ParameterGroups&) = delete;  // a copy would share the groups
  ParameterGroups& operator=(const ParameterGroups&) = delete;

  void step(SourceLocation location = SourceLocation::current()) override;
  double lr() const override { return groups_[0]->lr(); }  // the learning rate of group 0
  // Sets the learning rate of group 0, and multiplies the initial rates of the other groups by the
  // same factor, as PyTorch's schedules do. Throws Error if it is negative, or if the initial rate
  // of group 0 was 0.
  void set_lr(double lr, SourceLocation location = SourceLocation::current()) override;

  std::size_t size() const { return groups_.size(); }            // the number of groups
  Optimizer& group(std::size_t i) const { return *groups_[i]; }  // group i: set_lr() of its own

  // The arrays of all groups, and the step count of group 0.
  State state(SourceLocation location = SourceLocation::current()) const override;
  void set_state(const State& state, SourceLocation location = SourceLocation::current()) override;

 private:
  std::vector<std::shared_ptr<Optimizer>> groups_;
  std::vector<double> initial_lr_;  // of each group
};

}  // namespace HEED_NAMESPACE::optim
