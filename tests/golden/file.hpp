// file.hpp: reads golden files (operations with PyTorch's results) and reports malformed lines.
//
//   CASE id op attributes-as-json
//   TOL out_rtol out_atol grad_rtol grad_atol   | or ERROR and PyTorch's message
//   IN name dtype [grad] rank sizes... : values | OUT, UP (upstream gradient) and GRAD likewise
//   GRAD name none                              | the outputs do not depend on the input
//   END
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace golden {

using Json = nlohmann::json;

struct Numbers {
  std::string name, dtype;
  bool grad = false;  // an input that requires a gradient
  bool none = false;  // an input without a gradient
  std::vector<std::size_t> shape;
  std::vector<double> values;  // row-major
};

struct Tolerance {
  double relative = 0, absolute = 0;
};

struct Case {
  std::string id, op;
  Json attrs;
  std::optional<std::string> error;
  Tolerance out_tolerance, grad_tolerance;
  std::vector<Numbers> in, out, up, grad;
};

inline const Numbers* find(const std::vector<Numbers>& list, const std::string& name) {
  for (const Numbers& numbers : list)
    if (numbers.name == name) return &numbers;
  return nullptr;
}

class Reader {
 public:
  Reader(std::istream& in, std::string file) : in_(in), file_(std::move(file)) {}

  std::vector<Case> read() {
    std::vector<Case> cases;
    std::set<std::string> ids;
    while (next_line()) {
      if (line_.empty() || line_[0] == '#') continue;
      cases.push_back(read_case());
      if (!ids.insert(cases.back().id).second) malformed("a second case " + cases.back().id);
    }
    if (cases.empty()) malformed("no cases");
    return cases;
  }

 private:
  [[noreturn]] void malformed(const std::string& why) const {
    throw std::runtime_error(file_ + ":" + std::to_string(number_) + ": " + why);
  }

  bool next_line() {
    ++number_;
    if (!std::getline(in_, line_)) return false;
    words_.clear();
    words_.str(line_);
    return true;
  }

  std::string word(const char* what) {
    std::string text;
    if (!(words_ >> text)) malformed(std::string("expected ") + what);
    return text;
  }

  Case read_case() {
    Case result;
    if (word("CASE") != "CASE") malformed("expected CASE, got: " + line_.substr(0, 40));
    result.id = word("an id");
    result.op = word("an operation");
    result.attrs = attributes();
    bool tolerances = false;
    while (true) {
      if (!next_line()) malformed("the file ends inside case " + result.id);
      const std::string kind = word("a keyword");
      if (kind == "END") break;
      if (kind == "TOL") tolerances = true;
      read_entry(result, kind);
    }
    if (tolerances == result.error.has_value()) malformed("a case has either TOL or ERROR");
    check(result);
    return result;
  }

  Json attributes() {
    std::string text;
    std::getline(words_, text);
    Json attrs = Json::parse(text, nullptr, false);
    if (!attrs.is_object()) malformed("the attributes are not a JSON object:" + text);
    return attrs;
  }

  void read_entry(Case& result, const std::string& kind) {
    if (kind == "ERROR") return static_cast<void>(result.error = line_.substr(kind.size()));
    if (kind == "TOL") {
      for (Tolerance* entry : {&result.out_tolerance, &result.grad_tolerance})
        *entry = {tolerance("a relative tolerance"), tolerance("an absolute tolerance")};
      return words_ >> std::ws, end_of_line();
    }
    auto* const list = kind == "IN"     ? &result.in
                       : kind == "OUT"  ? &result.out
                       : kind == "UP"   ? &result.up
                       : kind == "GRAD" ? &result.grad
                                        : nullptr;
    if (list == nullptr) malformed("unknown keyword " + kind);
    list->push_back(numbers());
    if (find(*list, list->back().name) != &list->back())
      malformed("a second " + kind + " " + list->back().name);
  }

  Numbers numbers() {
    Numbers result;
    result.name = word("a name");
    result.dtype = word("a dtype");
    result.none = result.dtype == "none";
    if (result.none) return end_of_line(), result;
    static const std::set<std::string> dtypes{"f32", "f64", "i64", "bool"};
    if (dtypes.count(result.dtype) == 0) malformed("unknown dtype " + result.dtype);
    std::string rank = word("a rank");
    result.grad = rank == "grad";
    if (result.grad) rank = word("a rank");
    std::size_t count = 1;
    for (std::size_t axes = size(rank); axes > 0; --axes) {
      result.shape.push_back(size(word("a size")));
      count *= result.shape.back();
    }
    if (word("a colon") != ":") malformed("expected a colon after the sizes of " + result.name);
    for (; count > 0; --count) result.values.push_back(value(word("a value"), result.dtype));
    return end_of_line(), result;
  }

  void end_of_line() {
    std::string more;
    if (words_ >> more) malformed("too many values: " + more);
  }

  std::size_t size(const std::string& text) const {
    if (text.size() > 9 || text.find_first_not_of("0123456789") != text.npos)
      malformed("not a size: " + text);
    return static_cast<std::size_t>(std::stoul(text));
  }

  double value(const std::string& text, const std::string& dtype) const {
    char* end = nullptr;  // f32 is parsed as float, so that it is rounded once
    const double number = dtype == "f32" ? static_cast<double>(std::strtof(text.c_str(), &end))
                                         : std::strtod(text.c_str(), &end);
    if (*end != '\0') malformed("not a number: " + text);
    if (dtype == "bool" && number != 0 && number != 1) malformed("not a bool: " + text);
    if (dtype == "i64" && text.find_first_not_of("-0123456789") != text.npos)
      malformed("not an integer: " + text);
    return number;
  }

  double tolerance(const char* what) {
    const std::string text = word(what);
    const double number = value(text, "f64");
    if (!(number >= 0)) malformed("not a tolerance: " + text);
    return number;
  }

  void check(const Case& c) const {
    if (!c.error && c.out.empty()) malformed("case " + c.id + " has no OUT");
    for (const Numbers& up : c.up) {
      const Numbers* const out = find(c.out, up.name);
      if (out == nullptr || out->shape != up.shape) malformed("UP " + up.name + " matches no OUT");
    }
    for (const Numbers& grad : c.grad) {
      const Numbers* const in = find(c.in, grad.name);
      if (in == nullptr || !in->grad || (!grad.none && in->shape != grad.shape))
        malformed("GRAD " + grad.name + " matches no IN with grad");
    }
    for (const Numbers& in : c.in)
      if (in.grad && !c.error && find(c.grad, in.name) == nullptr)
        malformed("IN " + in.name + " has no GRAD");
  }

  std::istream& in_;
  std::string file_, line_;
  std::istringstream words_;
  std::size_t number_ = 0;
};

inline std::vector<Case> read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be opened");
  return Reader(in, path).read();
}

}  // namespace golden
