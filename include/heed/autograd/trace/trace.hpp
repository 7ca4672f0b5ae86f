// trace.hpp: watching the engine at work in any program, by the environment variable HEED_TRACE.
//
// HEED_TRACE=backward,nan and so on: words with commas between. It is read when first needed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace heed {

enum class TraceOption : unsigned {
  backward,    // a line for every node of every backward pass, as the pass comes by
  nan,         // Error at the first value or gradient that is not finite, with its origin
  provenance,  // every backward keeps contributions()
  time,        // where the time went, by operation, when the program ends (timing.hpp)
};

// Traces what these words say, in place of what HEED_TRACE says; "" traces nothing. Throws Error,
// and changes nothing, when a word is unknown. For the whole program: not to be called while
// another thread computes.
void set_trace(std::string_view words);

// What set_trace would be given to trace what is traced now.
std::string trace_options();

// Whether a word was given. Throws Error when HEED_TRACE holds an unknown one.
bool trace_enabled(TraceOption word);

// Where lines go, each without its line break. Without a function they go to stderr. The function
// must not throw.
void set_trace_output(std::function<void(const std::string& line)> output);

// Called by record() when an operation has made `value` from these inputs. With TraceOption::nan it
// throws Error at NaN and at plus infinity; at minus infinity, the mark of a hidden score, only
// when neither masked_fill wrote it nor an input held one. (In a gradient all three count.)
void trace_value(std::string_view op, SourceLocation location, const Array& value,
                 const std::vector<std::shared_ptr<Node>>& inputs);

}  // namespace heed
