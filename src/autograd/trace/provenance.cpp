// provenance.cpp: HEED_TRACE=provenance, which records the parts of each gradient.

#include <cmath>

#include "autograd/trace/backward_trace.hpp"
#include "heed/array/lines.hpp"

namespace HEED_NAMESPACE {

static thread_local bool recording = false;

ProvenanceGuard::ProvenanceGuard(bool record) : previous_(recording) { recording = record; }
ProvenanceGuard::~ProvenanceGuard() { recording = previous_; }

double l2_norm(const Array& x) { return std::sqrt(dot_of(x.data(), x.data(), x.size())); }

void record_contribution(const Node& from, std::size_t i, const Array& part) {
  if (!recording) return;
  from.inputs[i]->contributions.push_back(
      {std::string(from.op), from.name, from.location, l2_norm(part)});
}

}  // namespace HEED_NAMESPACE
