// runner.hpp: runs golden cases forward and backward, and describes differences.
#pragma once

#include "golden/policy.hpp"

namespace golden {

// ---- conversion between the file's numbers and heed's arrays

inline Value value_of(const Numbers& in) {
  const Shape shape(in.shape.begin(), in.shape.end());
  if (in.dtype == "bool") {
    Mask mask = Mask::from_shape(Mask::shape_type(shape.begin(), shape.end()));
    std::transform(in.values.begin(), in.values.end(), mask.data(),
                   [](double v) { return v != 0; });
    return mask;
  }
  if (in.dtype == "i64") {
    Indices indices = Indices::from_shape(Indices::shape_type(shape.begin(), shape.end()));
    std::transform(in.values.begin(), in.values.end(), indices.data(),
                   [](double v) { return static_cast<std::int64_t>(v); });
    return indices;
  }
  Array x = heed::uninitialized(shape);
  std::transform(in.values.begin(), in.values.end(), x.data(),
                 [](double v) { return static_cast<heed::Real>(v); });
  return Tensor(x, in.grad).set_name(in.name);
}

template <class Container>
Numbers numbers_of(const Container& x, const std::string& name) {
  Numbers result;
  result.name = name;
  result.shape.assign(x.shape().begin(), x.shape().end());
  for (std::size_t i = 0; i < x.size(); ++i)
    result.values.push_back(static_cast<double>(x.data()[i]));
  return result;
}

inline Numbers numbers_of(const Value& value, const std::string& name) {
  if (const Tensor* const x = std::get_if<Tensor>(&value)) return numbers_of(x->value(), name);
  if (const Indices* const x = std::get_if<Indices>(&value)) return numbers_of(*x, name);
  return numbers_of(std::get<Mask>(value), name);
}

// ---- running

struct Run {
  std::vector<Numbers> outputs, gradients;  // gradients of the inputs that have one
};

// Runs backward with the upstream gradients of the outputs: one pass from sum(output * upstream).
// With the attribute "passes", "twice" runs it twice, and "each" runs a pass for each output.
inline void run_backward(const Case& c, const Values& outputs) {
  const std::string passes = c.attrs.value("passes", "one");
  heed::BackwardOptions keep_graph;
  keep_graph.keep_graph = true;
  Tensor total;
  for (std::size_t k = 0; k < outputs.size() && k < c.out.size(); ++k) {
    const Numbers* const up = find(c.up, c.out[k].name);
    if (up == nullptr) continue;
    const Tensor part = heed::sum(std::get<Tensor>(outputs[k]) * std::get<Tensor>(value_of(*up)));
    if (passes == "each")
      heed::backward(part, keep_graph);
    else
      total = total.defined() ? total + part : part;
  }
  if (!total.defined()) return;
  if (passes == "twice") heed::backward(total, keep_graph);
  heed::backward(total);
}

inline Run run(const Case& c) {
  Values inputs;
  for (const Numbers& in : c.in) inputs.push_back(value_of(in));
  const Result result = table().at(c.op)({inputs, c.attrs});
  Run run;
  for (std::size_t k = 0; k < result.values.size(); ++k)
    run.outputs.push_back(
        numbers_of(result.values[k], k < c.out.size() ? c.out[k].name : "extra output"));
  run_backward(c, result.values);
  if (!c.up.empty()) result.gather_gradients();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const x = std::get_if<Tensor>(&inputs[i]);
    if (x != nullptr && x->has_grad()) run.gradients.push_back(numbers_of(x->grad(), c.in[i].name));
  }
  return run;
}

inline std::vector<Numbers> outputs_of(const Case& c) { return run(c).outputs; }
inline std::vector<Numbers> gradients_of(const Case& c) { return run(c).gradients; }

// ---- comparing

inline bool close(double got, double expected, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) == std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

inline std::string shape_text(const Numbers& x) {
  return heed::str(Shape(x.shape.begin(), x.shape.end()));
}

// Empty if equal within the tolerance, else a description of the difference.
inline std::string difference(const Numbers& got, const Numbers& expected,
                              const Tolerance& tolerance, const char* what) {
  std::ostringstream text;
  text.precision(9);
  text << what << " " << expected.name << ": ";
  if (got.shape != expected.shape)
    return text << "shape " << shape_text(got) << ", not " << shape_text(expected), text.str();
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = expected.values.size(); i-- > 0;)
    if (!close(got.values[i], expected.values[i], tolerance)) ++wrong, first = i;
  if (wrong == 0) return "";
  text << wrong << " of " << expected.values.size() << " differ, element " << first << " is "
       << got.values[first] << ", not " << expected.values[first];
  return text.str();
}

inline std::string compare_outputs(const Case& c, const Run& run) {
  if (run.outputs.size() != c.out.size())
    return std::to_string(run.outputs.size()) + " outputs, not " + std::to_string(c.out.size());
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    const std::string text = difference(run.outputs[k], c.out[k], c.out_tolerance, "output");
    if (!text.empty()) return text;
  }
  return "";
}

inline std::string compare_gradients(const Case& c, const Run& run) {
  for (const Numbers& expected : c.grad) {
    const Numbers* const got = find(run.gradients, expected.name);
    if ((got == nullptr) != expected.none)
      return "gradient of " + expected.name + (expected.none ? ": there should be none" : ": none");
    if (expected.none) continue;
    const std::string text = difference(*got, expected, c.grad_tolerance, "gradient of");
    if (!text.empty()) return text;
  }
  return "";
}

// heed's name for an operation of the file, in its error messages.
inline std::string name_in_messages(const Case& c) {
  static const std::map<std::string, std::string> others{
      {"sub", "subtract"},       {"mul", "multiply"},
      {"div", "divide"},         {"cat", "concat"},
      {"amax", "max"},           {"max_all", "max"},
      {"sdpa", "attention"},     {"weighted_cross_entropy", "cross_entropy"},
      {"expand_kept", "expand"}, {"index", "select"}};
  if (c.op == "compare") return c.attrs.at("name");
  if (c.op == "init") return c.attrs.at("function");
  if (c.op == "rng") return c.attrs.at("calls").at(0).at(0);
  if (c.op == "optimizer") return c.attrs.at("name") == "sgd" ? "Sgd" : "AdamW";
  if (c.op == "torch_schedule") return c.attrs.at("cls");
  const auto other = others.find(c.op);
  return other == others.end() ? c.op : other->second;
}

// Whether the error may omit this input of cat or stack, because input 0 has the same shape.
inline bool same_as_first(const Case& c, const Numbers& in) {
  return (c.op == "cat" || c.op == "stack") && &in != &c.in[0] && in.shape == c.in[0].shape;
}

// Checks that an error names the operation and every tensor with its shape. (Optimizers throw for
// their options, before any tensor exists.)
inline std::string check_error(const Case& c, const std::string& message) {
  const auto contains = [&](const std::string& part) { return message.find(part) != message.npos; };
  if (message.rfind(name_in_messages(c) + ":", 0) != 0)
    return "the error does not begin with " + name_in_messages(c) + ": " + message;
  if (c.op == "optimizer") return "";
  for (const Numbers& in : c.in) {
    if (same_as_first(c, in)) continue;
    const bool tensor = in.dtype != "bool" && in.dtype != "i64";
    const std::string part = (tensor ? in.name + " " : "") + shape_text(in);
    if (!contains(part)) return "the error does not contain \"" + part + "\": " + message;
  }
  return "";
}

// Empty if heed gives the results of the case, else the problem.
inline std::string problem(const Case& c) {
  if (table().count(c.op) == 0) return "no such operation: " + c.op;
  try {
    if (c.error) return run(c), "no error, but PyTorch's is" + *c.error;
    const Case expected = expected_from_heed(c);
    const Run got = run(expected);
    const std::string text = compare_outputs(expected, got);
    return text.empty() ? compare_gradients(expected, got) : text;
  } catch (const heed::Error& error) {
    return c.error ? check_error(c, error.what()) : std::string("error: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("failed: ") + error.what();
  }
}

}  // namespace golden
