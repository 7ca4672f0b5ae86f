// observer.hpp: Observer, whose functions are called for every operation and for every node of a
// backward pass.
//
// Tracing, gradient checks and data-parallel training are observers. The engine itself has none: as
// a rule, no observer exists.
#pragma once

#include <atomic>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The phase of training in which an operation runs.
enum class Phase {
  forward,   // the forward computation of an operation that the graph records, or an optimizer step
  backward,  // the backward of an operation
  no_grad    // the forward computation of any other operation, as in evaluation and generation
};

// The base class of observers. The functions do nothing unless a derived class overrides them. An
// exception that begin, computed, visit, add or visited throws ends the operation or the pass.
class Observer {
 public:
  virtual ~Observer() = default;

  // Called before and after an operation, or the backward of an operation. `op` stays valid.
  virtual void begin(std::string_view /*op*/, Phase) {}
  virtual void end() {}
  // Called after the forward of an operation, with its result. `writes_infinity` says that the
  // operation may write minus infinity, as masked_fill does.
  virtual void computed(std::string_view /*op*/, bool /*writes_infinity*/, SourceLocation,
                        const Array& /*value*/, const NodeList& /*inputs*/) {}

  // Called before a backward pass through the nodes, the last of which is the output, and after the
  // pass, even if an exception ended it.
  virtual void begin_pass(const NodeList&) {}
  virtual void end_pass() {}
  // Called before and after the backward of a node.
  virtual void visit(const Node&) {}
  virtual void visited(const Node&) {}
  // Called before the backward of `from` adds `part` to the gradient of input i of `from`.
  virtual void add(const Node& /*from*/, std::size_t /*i*/, const Array& /*part*/) {}

  Observer* next = nullptr;  // the next observer in a list
};

// The lists of observers: the one that backward() got for the pass that runs on this thread, those
// of this thread (ObserverScope), and those of all threads (set_trace). The last list must not
// change while another thread computes.
inline thread_local Observer* observer_of_pass = nullptr;
inline thread_local Observer* observers_of_thread = nullptr;
inline std::atomic<Observer*> observers_of_all_threads{nullptr};

// Calls a function of each observer, such as observe(&Observer::visit, node).
template <class... Parameters, class... Arguments>
void observe(void (Observer::*event)(Parameters...), const Arguments&... arguments) {
  for (Observer* each : {observer_of_pass, observers_of_thread, observers_of_all_threads.load()})
    for (; each != nullptr; each = each->next) (each->*event)(arguments...);
}

// Adds an observer to those of this thread until the scope ends.
class ObserverScope {
 public:
  // Adds the observer, which must outlive the scope.
  explicit ObserverScope(Observer& observer) {
    observer.next = observers_of_thread;
    observers_of_thread = &observer;
  }
  ~ObserverScope() { observers_of_thread = observers_of_thread->next; }
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;
};

// Tells the observers that an operation begins and, when it is destroyed, that it has ended.
class ObservedOperation {
 public:
  // An operation that is no node's backward.
  ObservedOperation(std::string_view op, Phase phase) { observe(&Observer::begin, op, phase); }
  // The backward of a node.
  explicit ObservedOperation(const Node& node) {
    observe(&Observer::visit, node);
    observe(&Observer::begin, node.op, Phase::backward);
  }
  ~ObservedOperation() { observe(&Observer::end); }
  ObservedOperation(const ObservedOperation&) = delete;
  ObservedOperation& operator=(const ObservedOperation&) = delete;
};

}  // namespace HEED_NAMESPACE
