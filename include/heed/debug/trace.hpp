// trace.hpp: tracing of the autograd engine, controlled by the environment variable HEED_TRACE.
//
// The value of HEED_TRACE is a list of options separated by commas, such as backward,nan.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The options of HEED_TRACE.
enum class TraceOption : unsigned {
  backward,    // prints a line for every node of every backward pass
  nan,         // throws NonFinite at the first value or gradient that is not finite
  provenance,  // records the contributions to every gradient: see provenance.hpp
  time,        // prints time_table() when the program ends
  check,       // throws Error at the first node whose backward differs from central differences
};

// Replaces the options of HEED_TRACE by `options` ("" turns all off). Throws Error, and changes
// nothing, for an unknown option. Do not call set_trace while another thread computes.
void set_trace(std::string_view options);

// The trace options that are on, in the format of set_trace.
std::string trace_options();

// Whether a trace option is on. Throws Error if HEED_TRACE contains an unknown option.
bool trace_enabled(TraceOption option);

// Sends trace lines, without newlines, to `output` instead of stderr. `output` must not throw.
void set_trace_output(std::function<void(const std::string& line)> output);

// Writes a trace line to stderr, or calls the function of set_trace_output.
void trace_line(const std::string& line);

}  // namespace HEED_NAMESPACE
