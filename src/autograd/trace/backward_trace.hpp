// backward_trace.hpp: the HEED_TRACE options of a backward pass: backward, nan and provenance.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/autograd/trace/timing.hpp"
#include "heed/autograd/trace/trace.hpp"

namespace HEED_NAMESPACE {

class BackwardTracer;

// While a ProvenanceGuard(true) exists, record_contribution records on this thread.
class ProvenanceGuard {
 public:
  explicit ProvenanceGuard(bool record);
  ~ProvenanceGuard();
  ProvenanceGuard(const ProvenanceGuard&) = delete;
  ProvenanceGuard& operator=(const ProvenanceGuard&) = delete;

 private:
  bool previous_;
};
void record_contribution(const Node& from, std::size_t i, const Array& part);

// Traces one backward pass through these nodes, the last of which is the output. It writes a node's
// line when the pass reaches the next node or ends, also by an exception.
class BackwardTrace {
 public:
  BackwardTrace(const std::vector<std::shared_ptr<Node>>& nodes, bool provenance);
  ~BackwardTrace();
  BackwardTrace(const BackwardTrace&) = delete;
  BackwardTrace& operator=(const BackwardTrace&) = delete;

  // The gradient of `node` is complete, and its backward is about to run. Times it.
  OperationTimer visit(const Node& node);

 private:
  ProvenanceGuard provenance_;
  std::unique_ptr<BackwardTracer> tracer_;  // null without the options backward and nan
  BackwardTracer* outer_ = nullptr;         // of the enclosing backward pass, if any
};

// The backward of `from` has computed `part` of the gradient of its input i.
void trace_contribution(const Node& from, std::size_t i, const Array& part);

// Throw NonFinite when the gradient is not finite, even if TraceOption::nan is off.
void check_contribution(const Node& from, std::size_t i, const Array& part);
void check_gradient(const Node& node, bool is_output);

void trace_line(const std::string& line);

// "V (3, 4)", or "MatMul (3, 4)" for a node without a name.
std::string short_label(const Node& node);

double l2_norm(const Array& x);

}  // namespace HEED_NAMESPACE
