// condition.cpp: parses and evaluates a Condition.

#include "commands/first/condition.hpp"

#include <cctype>
#include <charconv>
#include <map>
#include <utility>

#include "heed/base/text.hpp"

namespace heed::app {

// A number ('n'), a measurement ('m'), a negation ('~') or one of + - * / with two operands.
struct Expression {
  char kind;
  double number = 0;
  std::size_t measurement = 0;
  std::unique_ptr<Expression> left = {}, right = {};

  double value(const std::vector<Measurement>& measured) const {
    switch (kind) {
      case 'n':
        return number;
      case 'm':
        return measured[measurement].value;
      case '~':
        return -left->value(measured);
      case '+':
        return left->value(measured) + right->value(measured);
      case '-':
        return left->value(measured) - right->value(measured);
      case '*':
        return left->value(measured) * right->value(measured);
      default:
        return left->value(measured) / right->value(measured);
    }
  }
};

namespace {

using Kind = Measurement::Kind;
using Reduction = Measurement::Reduction;

const std::map<std::string, Kind> scalars = {{"train_loss", Kind::train_loss},
                                             {"grad_norm", Kind::grad_norm},
                                             {"lr", Kind::lr},
                                             {"median", Kind::median}};
const std::map<std::string, Reduction> reductions = {{"norm", Reduction::norm},
                                                     {"max", Reduction::max},
                                                     {"min", Reduction::min},
                                                     {"mean", Reduction::mean}};

constexpr std::size_t most_nested = 100;  // parentheses and signs, so that the stack suffices

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

}  // namespace

class ConditionParser {
 public:
  ConditionParser(const std::string& text, Condition& condition)
      : text_(text), condition_(condition) {}

  void parse() {
    if (take_word("not")) {
      if (!take_word("finite")) fail("expected 'finite'");
    } else {
      condition_.left_ = sum();
      condition_.comparison_ = comparison();
      condition_.right_ = sum();
    }
    if (skip_spaces(); at_ < text_.size()) fail("expected the end");
  }

 private:
  using Node = std::unique_ptr<Expression>;

  [[noreturn]] void fail(const std::string& message) const { throw ConditionError(message, at_); }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  std::string peeked_name() {
    skip_spaces();
    std::size_t end = at_;
    while (end < text_.size() && is_of_name(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string name() {
    const std::string found = peeked_name();
    at_ += found.size();
    return found;
  }
  bool take_word(const std::string& word) {
    if (peeked_name() != word) return false;
    at_ += word.size();
    return true;
  }

  std::string comparison() {
    for (const char c : {'>', '<'})
      if (take(c))
        return at_ < text_.size() && text_[at_] == '=' ? (++at_, c + std::string("="))
                                                       : std::string(1, c);
    fail("expected >, >=, < or <=");
  }

  Node binary(char kind, Node left, Node right) {
    return std::make_unique<Expression>(Expression{kind, 0, 0, std::move(left), std::move(right)});
  }
  Node sum() { return chain('+', '-', &ConditionParser::product); }
  Node product() { return chain('*', '/', &ConditionParser::factor); }
  // Operands with one of two operators of the same rank between them.
  Node chain(char first, char second, Node (ConditionParser::*operand)()) {
    Node node = (this->*operand)();
    for (;;) {
      const char kind = take(first) ? first : take(second) ? second : '\0';
      if (kind == '\0') return node;
      node = binary(kind, std::move(node), (this->*operand)());
    }
  }
  Node factor() {
    if (++nested_ > most_nested) fail("too many parentheses and signs");
    Node node;
    if (take('-')) {
      node = binary('~', factor(), nullptr);
    } else if (take('(')) {
      node = sum();
      expect(')');
    } else {
      node = is_number() ? number() : measurement();
    }
    --nested_;
    return node;
  }
  bool is_number() {
    skip_spaces();
    return at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
  }
  Node number() {
    Expression node{'n'};
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
    if (read.ec != std::errc()) fail("expected a number that a double can hold");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return std::make_unique<Expression>(std::move(node));
  }

  Node measurement() {
    skip_spaces();
    const std::size_t begin = at_;
    Measurement m;
    if (const std::string word = peeked_name(); scalars.count(word) != 0) {
      m.kind = scalars.at(name());
    } else if (word == "entropy") {
      name();
      parse_entropy(m);
    } else if (reductions.count(word) != 0) {
      m.reduction = reductions.at(name());
      expect('(');
      parse_array(m);
      expect(')');
    } else {
      fail(
          "expected a number, train_loss, grad_norm, lr, median, norm(...), max(...), min(...), "
          "mean(...) or entropy(...)");
    }
    m.text = text_.substr(begin, at_ - begin);
    condition_.measurements_.push_back(m);
    return std::make_unique<Expression>(
        Expression{'m', 0, condition_.measurements_.size() - 1, {}, {}});
  }

  void parse_entropy(Measurement& m) {
    m.kind = Kind::entropy;
    expect('(');
    if (!take_word("attention")) fail("expected 'attention', as in entropy(attention 1.2)");
    skip_spaces();
    m.position = at_;
    const std::vector<std::string> parts = split(name(), '.');
    if (parts.size() != 2 || !read_index(parts[0], m.layer) || !read_index(parts[1], m.head))
      throw ConditionError("expected LAYER.HEAD, such as 1.2", m.position);
    expect(')');
  }
  static bool read_index(const std::string& digits, std::size_t& index) {
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, index);
    return read.ec == std::errc() && read.ptr == end;
  }

  void parse_array(Measurement& m) {
    if (m.reduction == Reduction::max && take_word("abs")) {
      m.reduction = Reduction::max_abs;
      expect('(');
      parse_array(m);
      expect(')');
      return;
    }
    m.kind = take_word("grad")     ? Kind::gradient
             : take_word("update") ? Kind::update
                                   : Kind::weights;
    skip_spaces();
    m.position = at_;
    if (m.kind == Kind::weights && take_word("weights")) return;
    m.parameter = name();
    if (m.parameter.empty() && m.kind == Kind::weights)
      fail("expected weights, grad, or the name of a parameter");
  }

  const std::string& text_;
  Condition& condition_;
  std::size_t at_ = 0, nested_ = 0;
};

Condition::Condition(const std::string& text) { ConditionParser(text, *this).parse(); }
Condition::Condition(Condition&&) noexcept = default;
Condition::~Condition() = default;

void Condition::check(const Parameters& parameters, const nn::GptConfig& config) const {
  for (const Measurement& m : measurements_) {
    if (!m.parameter.empty() && parameters.find(m.parameter) == nullptr)
      throw ConditionError(
          "the model has no parameter '" + m.parameter + "'; ./heed inspect RUN lists them",
          m.position);
    if (m.kind == Kind::entropy && (m.layer >= config.layers || m.head >= config.heads))
      throw ConditionError("the model has layers 0 to " + std::to_string(config.layers - 1) +
                               " and heads 0 to " + std::to_string(config.heads - 1),
                           m.position);
  }
}

double Condition::left() const { return left_->value(measurements_); }
double Condition::right() const { return right_->value(measurements_); }

bool Condition::holds() const {
  if (is_not_finite()) return false;
  if (comparison_ == ">") return left() > right();
  if (comparison_ == ">=") return left() >= right();
  return comparison_ == "<" ? left() < right() : left() <= right();
}

}  // namespace heed::app
