// parameter_groups.cpp: one optimizer for groups of parameters with options of their own.

#include "heed/extra/parameter_groups.hpp"

#include <set>
#include <string>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE::optim {

static std::vector<Tensor> all_parameters(const std::vector<std::shared_ptr<Optimizer>>& groups) {
  std::vector<Tensor> all;
  for (const auto& group : groups)
    all.insert(all.end(), group->parameters().begin(), group->parameters().end());
  return all;
}

ParameterGroups::ParameterGroups(std::vector<std::shared_ptr<Optimizer>> groups,
                                 SourceLocation location)
    : Optimizer("ParameterGroups", all_parameters(groups), location), groups_(std::move(groups)) {
  for (const auto& group : groups_) initial_lr_.push_back(group->lr());
}

void ParameterGroups::step(SourceLocation location) {
  for (const auto& group : groups_) group->step(location);
}

void ParameterGroups::set_lr(double lr, SourceLocation location) {
  const CallSite site(location);
  if (initial_lr_[0] == 0)
    throw_error("ParameterGroups: the initial lr of group 0 is 0, so that ", lr,
                " is no multiple of it; call set_lr of each group");
  for (std::size_t i = 0; i < groups_.size(); ++i)
    groups_[i]->set_lr(i == 0 ? lr : initial_lr_[i] * (lr / initial_lr_[0]), location);
}

State ParameterGroups::state(SourceLocation location) const {
  State all{{}, groups_[0]->state(location).step};
  for (const auto& group : groups_)
    for (auto& array : group->state(location).arrays) all.arrays.push_back(std::move(array));
  return all;
}

// Whether an array "NAME.kind" belongs to one of the parameters.
static bool belongs_to(const std::vector<Tensor>& parameters, const std::string& array) {
  const std::string name = array.substr(0, array.rfind('.'));
  for (const Tensor& parameter : parameters)
    if (parameter.name() == name) return true;
  return false;
}

void ParameterGroups::set_state(const State& state, SourceLocation location) {
  const CallSite site(location);
  for (const auto& [name, array] : state.arrays)
    if (!belongs_to(parameters_, name))
      throw_error("optimizer state: '", name, "' belongs to no parameter");
  for (const auto& group : groups_) {
    State part{{}, state.step};
    for (const auto& array : state.arrays)
      if (belongs_to(group->parameters(), array.first)) part.arrays.push_back(array);
    group->set_state(part, location);
  }
}

}  // namespace HEED_NAMESPACE::optim
