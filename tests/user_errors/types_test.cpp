// types_test.cpp: calls that would turn a number or a bool into an array, or a number into a bool,
// do not compile.

#include <type_traits>
#include <utility>

#include "catch.hpp"
#include "heed/heed.hpp"
#include "near.hpp"

namespace heed::test {

namespace {

// compiles<Type...>(call) is whether `call`, a generic lambda, accepts arguments of these types.
template <class... Arguments, class Call>
constexpr bool compiles(const Call&) {
  return std::is_invocable_v<Call, Arguments...>;
}

#define CALL(...) \
  [](auto&& x, auto argument) -> std::void_t<decltype(__VA_ARGS__)> { (void)(__VA_ARGS__); }

// Whether the call compiles with an argument of the right type, but with no bool, int or double.
template <class Right, class X, class Call>
constexpr bool only(const Call& call) {
  return compiles<X, Right>(call) && !compiles<X, double>(call) && !compiles<X, int>(call) &&
         (std::is_same_v<Right, bool> || !compiles<X, bool>(call));
}

}  // namespace

TEST_CASE("a function that takes an array takes no number in its place", "[user_errors]") {
  const auto upstream = CALL(backward(x, argument));
  STATIC_REQUIRE(only<Array, Tensor&>(upstream));
  const auto classes = CALL(cross_entropy(x, argument));
  STATIC_REQUIRE(only<Indices, Tensor&>(classes));
  STATIC_REQUIRE(compiles<Tensor&, Array>(classes));
  const auto rows = CALL(embedding(argument, x));
  STATIC_REQUIRE(only<Indices, Tensor&>(rows));
  const auto gathered = CALL(gather(x, 0, argument));
  STATIC_REQUIRE(only<Indices, Tensor&>(gathered));
  const auto filled_in = CALL(masked_fill(x, argument, 0.0));
  STATIC_REQUIRE(only<Mask, Tensor&>(filled_in));
  const auto chosen = CALL(where(argument, x, x));
  STATIC_REQUIRE(only<Mask, Tensor&>(chosen));
  const auto masked = CALL(x.mask = argument);
  STATIC_REQUIRE(only<Mask, AttentionOptions&>(masked));
  STATIC_REQUIRE(only<Mask, nn::AttentionMask&>(masked));
  const auto padded = CALL(x.key_padding = argument);
  STATIC_REQUIRE(only<Mask, AttentionOptions&>(padded));
  const auto logits = CALL(x(argument));
  STATIC_REQUIRE(only<Indices, nn::Gpt&>(logits));
  STATIC_REQUIRE(only<Indices, nn::Embedding&>(logits));
}

TEST_CASE("a parameter that is true or false takes no number", "[user_errors]") {
  STATIC_REQUIRE(only<bool, Tensor&>(CALL(sum(x, 0, argument))));
  STATIC_REQUIRE(only<bool, Tensor&>(CALL(mean(x, 0, argument))));
  STATIC_REQUIRE(only<bool, Tensor&>(CALL(max(x, 0, argument))));
  STATIC_REQUIRE(only<bool, Tensor&>(CALL(variance(x, 0, argument))));
  STATIC_REQUIRE(only<bool, Tensor&>(CALL(logsumexp(x, 0, argument))));
  STATIC_REQUIRE(only<bool, Array&>(CALL(Tensor(x, argument))));
  STATIC_REQUIRE(only<bool, Array&>(CALL(std::declval<Generator&>().multinomial(x, 2, argument))));
  STATIC_REQUIRE(only<bool, Scope&>(CALL(nn::Linear(x, 4, 4, argument))));
  STATIC_REQUIRE(only<bool, Scope&>(CALL(nn::LayerNorm(x, 4, argument))));
  STATIC_REQUIRE(only<bool, Scope&>(CALL(nn::Norm(x, 4, argument))));
  STATIC_REQUIRE(only<bool, Scope&>(CALL(nn::Mlp(x, 4, argument))));
  STATIC_REQUIRE(only<bool, Scope&>(CALL(nn::MultiHeadAttention(x, 4, 2, argument))));
  STATIC_REQUIRE(only<bool, Scope&>(CALL(nn::Block(x, 4, 2, argument))));
  STATIC_REQUIRE(only<bool, Scope&>(CALL(nn::Encoder(x, 1, 4, 2, argument))));
}

TEST_CASE("{true} is the first option: keep_graph of backward, causal of attention",
          "[user_errors]") {
  const Tensor x(ones({2}), true);
  const Tensor loss = sum(x * x);
  backward(loss, {true});
  backward(loss, {true});
  CHECK(difference(x.grad(), array_of({2}, {4, 4})) == "");

  Parameters parameters;
  Generator random(0);
  const nn::MultiHeadAttention attention(Scope(parameters, random), 4, 2);
  const Tensor sentence(random_array({1, 3, 4}, 1));
  nn::AttentionMask causal;
  causal.causal = true;
  CHECK((attention(sentence, {true}).value() == attention(sentence, causal).value()));
}

}  // namespace heed::test
