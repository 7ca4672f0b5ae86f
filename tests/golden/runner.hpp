// runner.hpp: runs golden cases forward and backward, and says what is not as it should be.
#pragma once

#include "golden/policy.hpp"

namespace golden {

// ---- between the file's numbers and heed's

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
  return Tensor(x, in.grad).named(in.name);
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
  std::vector<Numbers> outputs, gradients;  // of the inputs that have one
};

// Sends the upstream gradients in at the outputs: one pass, from the sum of all products.
inline void send_back(const Case& c, const Values& outputs) {
  Tensor total;
  for (std::size_t k = 0; k < outputs.size() && k < c.out.size(); ++k) {
    const Numbers* const up = find(c.up, c.out[k].name);
    if (up == nullptr) continue;
    const Tensor part = heed::sum(std::get<Tensor>(outputs[k]) * std::get<Tensor>(value_of(*up)));
    total = total.defined() ? total + part : part;
  }
  if (total.defined()) heed::backward(total);
}

inline Run run(const Case& c) {
  Values inputs;
  for (const Numbers& in : c.in) inputs.push_back(value_of(in));
  const Result result = table().at(c.op)({inputs, c.attrs});
  Run run;
  for (std::size_t k = 0; k < result.values.size(); ++k)
    run.outputs.push_back(
        numbers_of(result.values[k], k < c.out.size() ? c.out[k].name : "one too many"));
  send_back(c, result.values);
  if (!c.up.empty()) result.gather_gradients();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const x = std::get_if<Tensor>(&inputs[i]);
    if (x != nullptr && x->has_grad()) run.gradients.push_back(numbers_of(x->grad(), c.in[i].name));
  }
  return run;
}

inline std::vector<Numbers> outputs_of(const Case& c) { return run(c).outputs; }
inline std::vector<Numbers> gradients_of(const Case& c) { return run(c).gradients; }

// ---- judging

inline bool close(double got, double wanted, const Tolerance& tolerance) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) == std::isnan(got);
  if (std::isinf(wanted) || std::isinf(got)) return got == wanted;
  return std::abs(got - wanted) <= tolerance.absolute + tolerance.relative * std::abs(wanted);
}

inline std::string shape_text(const Numbers& x) {
  return heed::str(Shape(x.shape.begin(), x.shape.end()));
}

// Empty when all is well, else what differs.
inline std::string difference(const Numbers& got, const Numbers& wanted, const Tolerance& tolerance,
                              const char* what) {
  std::ostringstream text;
  text.precision(9);
  text << what << " " << wanted.name << ": ";
  if (got.shape != wanted.shape)
    return text << "shape " << shape_text(got) << ", not " << shape_text(wanted), text.str();
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = wanted.values.size(); i-- > 0;)
    if (!close(got.values[i], wanted.values[i], tolerance)) ++wrong, first = i;
  if (wrong == 0) return "";
  text << wrong << " of " << wanted.values.size() << " differ, element " << first << " is "
       << got.values[first] << ", not " << wanted.values[first];
  return text.str();
}

inline std::string judge_outputs(const Case& c, const Run& run) {
  if (run.outputs.size() != c.out.size())
    return std::to_string(run.outputs.size()) + " outputs, not " + std::to_string(c.out.size());
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    const std::string text = difference(run.outputs[k], c.out[k], c.out_tolerance, "output");
    if (!text.empty()) return text;
  }
  return "";
}

inline std::string judge_gradients(const Case& c, const Run& run) {
  for (const Numbers& wanted : c.grad) {
    const Numbers* const got = find(run.gradients, wanted.name);
    if ((got == nullptr) != wanted.none)
      return "gradient of " + wanted.name + (wanted.none ? ": there should be none" : ": none");
    if (wanted.none) continue;
    const std::string text = difference(*got, wanted, c.grad_tolerance, "gradient of");
    if (!text.empty()) return text;
  }
  return "";
}

// What heed calls an operation of the file, in its error messages.
inline std::string name_in_messages(const Case& c) {
  static const std::map<std::string, std::string> others{
      {"sub", "subtract"}, {"mul", "multiply"}, {"div", "divide"},    {"cat", "concat"},
      {"amax", "max"},     {"max_all", "max"},  {"sdpa", "attention"}};
  if (c.op == "rng") return c.attrs.at("calls").at(0).at(0);
  if (c.op == "optimizer") return c.attrs.at("name") == "sgd" ? "Sgd" : "AdamW";
  if (c.op == "torch_schedule") return c.attrs.at("cls");
  const auto other = others.find(c.op);
  return other == others.end() ? c.op : other->second;
}

// Whether an earlier part of the same shape stands for this one.
inline bool stands_for(const Case& c, const Numbers& in) {
  return (c.op == "cat" || c.op == "stack") && &in != &c.in[0] && in.shape == c.in[0].shape;
}

// A refusal names the operation and every tensor with its shape. (Optimizers are refused for their
// options, before there is a tensor to name.)
inline std::string judge_refusal(const Case& c, const std::string& message) {
  const auto says = [&](const std::string& part) { return message.find(part) != message.npos; };
  if (message.rfind(name_in_messages(c) + ":", 0) != 0)
    return "the refusal does not begin with " + name_in_messages(c) + ": " + message;
  if (c.op == "optimizer") return "";
  for (const Numbers& in : c.in) {
    if (stands_for(c, in)) continue;
    const bool tensor = in.dtype != "bool" && in.dtype != "i64";
    const std::string part = (tensor ? in.name + " " : "") + shape_text(in);
    if (!says(part)) return "the refusal does not say \"" + part + "\": " + message;
  }
  return "";
}

// Empty when heed does what the case wants, else why not.
inline std::string problem(const Case& c) {
  if (table().count(c.op) == 0) return "no such operation: " + c.op;
  try {
    if (c.error) return run(c), "accepted, where PyTorch says" + *c.error;
    const Case wanted = promised(c);
    const Run got = run(wanted);
    const std::string text = judge_outputs(wanted, got);
    return text.empty() ? judge_gradients(wanted, got) : text;
  } catch (const heed::Error& error) {
    return c.error ? judge_refusal(c, error.what()) : std::string("refused: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("failed: ") + error.what();
  }
}

}  // namespace golden
