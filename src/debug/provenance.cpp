// provenance.cpp: records the contributions to each gradient (HEED_TRACE=provenance).

#include "heed/debug/provenance.hpp"

#include "debug/labels.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

void Provenance::add(const Node& from, std::size_t i, const Array& part) {
  // With HEED_TRACE=provenance, a pass may have a Provenance of its own: only that one records.
  if (observer_of_pass != this && dynamic_cast<Provenance*>(observer_of_pass) != nullptr) return;
  from.inputs[i]->contributions.push_back(
      {std::string(from.op), from.name, from.location, l2_norm(part)});
}

std::vector<Contribution> contributions(const Tensor& x, SourceLocation location) {
  const CallSite site(location);
  if (!x.defined()) throw_error("contributions: the tensor is undefined");
  return x.node()->contributions;
}

}  // namespace HEED_NAMESPACE
