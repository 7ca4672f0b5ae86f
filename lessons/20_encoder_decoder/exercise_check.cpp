// Tests exercise 20 teacher_forcing: compares each loss and the gradients with those of each pair
// alone, without padding: one forward pass for each prefix of the target. Counts the attention
// operations of the result.

#include <bitset>
#include <cmath>
#include <set>

#include "exercise.hpp"
#include "teacher_forcing.hpp"

using namespace heed;

Tensor token_losses(const Model& model, const std::vector<Tokens>& sources,
                    const std::vector<Tokens>& targets);

namespace {

struct Problem {
  std::string name;
  std::vector<Tokens> sources, targets;
  std::size_t layers, heads;
};

Indices row_of(const Tokens& tokens) {  // (1, T)
  Indices row = indices({1, tokens.size()});
  std::copy(tokens.begin(), tokens.end(), row.begin());
  return row;
}

// The logits (1, V) of the token after the prefix, which begins with `start`.
Tensor next_logits(const Model& model, const Tokens& source, const Tokens& prefix) {
  const Tensor memory = model.encoder(model.embed(row_of(source)));
  // Earlier positions of the prefix must not attend to later ones either: with several layers this
  // would change the last output.
  const std::size_t T = prefix.size();
  nn::AttentionMask earlier;
  earlier.mask = mask({T, T});
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t s = 0; s <= t; ++s) (*earlier.mask)(t, s) = true;
  return model.head(
      select(model.decoder(model.embed(row_of(prefix)), memory, earlier), 1, std::int64_t(T) - 1));
}

// -ln p(token), in double.
double loss_of(const Array& logits, std::int64_t token) {
  double largest = -INFINITY, sum = 0;
  for (std::size_t v = 0; v < V; ++v) largest = std::max(largest, double(logits(0, v)));
  for (std::size_t v = 0; v < V; ++v) sum += std::exp(double(logits(0, v)) - largest);
  return largest + std::log(sum) - double(logits(0, std::size_t(token)));
}

// The expected losses (B, T). Adds their gradients, each multiplied by its element of `upstream`.
Array expected_losses(const Model& model, const Problem& p, const Array& upstream) {
  Array losses = zeros(shape_of(upstream));
  for (std::size_t b = 0; b < p.sources.size(); ++b) {
    Tokens prefix = {start};
    for (std::size_t t = 0; t <= p.targets[b].size(); ++t) {
      const std::int64_t token = t < p.targets[b].size() ? p.targets[b][t] : stop;
      const Tensor logits = next_logits(model, p.sources[b], prefix);
      losses(b, t) = Real(loss_of(logits.value(), token));
      backward(cross_entropy(logits, indices({1}, token)) * double(upstream(b, t)));
      prefix.push_back(token);
    }
  }
  return losses;
}

std::vector<Array> take_gradients(const Parameters& parameters) {
  std::vector<Array> gradients;
  for (const Tensor& p : parameters)
    gradients.push_back(p.has_grad() ? p.grad() : zeros(p.shape()));
  optim::zero_grad(parameters.tensors());
  return gradients;
}

// The parameter whose gradient differs most, and by how much, as text; "" if none differs.
std::string wrong_gradient(const Parameters& parameters, const std::vector<Array>& got,
                           const std::vector<Array>& expected) {
  std::string wrong;
  double most = 1e-4;
  for (std::size_t i = 0; i < got.size(); ++i)
    for (std::size_t n = 0; n < got[i].size(); ++n) {
      const double g = got[i].data()[n], e = expected[i].data()[n];
      if (!(std::abs(g - e) <= most)) {
        most = std::isnan(g) ? INFINITY : std::abs(g - e);
        wrong = "that of " + parameters.tensors()[i].name() + " is " + decimal(g, 4) +
                " at element " + std::to_string(n) + ", expected " + decimal(e, 4);
      }
    }
  return wrong;
}

// The number of attention operations in the graph of `node`, without those of the nodes in
// `visited`.
std::size_t attentions(const std::shared_ptr<Node>& node, std::set<const Node*>& visited) {
  if (node == nullptr || !visited.insert(node.get()).second) return 0;
  std::size_t count = node->op == "Attention" || node->op == "Softmax";
  for (const std::shared_ptr<Node>& input : node->inputs) count += attentions(input, visited);
  return count;
}

void count_attentions(const Problem& p, const Tensor& losses) {
  std::set<const Node*> visited;
  const std::size_t count = attentions(losses.node(), visited), expected = 3 * p.layers;
  expect(p.name + ": one call of the encoder and of the decoder", count == expected,
         "the losses come from " + std::to_string(count) +
             " attentions, and one call of each has " + std::to_string(expected) +
             ": call them once, on padded batches of all pairs");
}

// The mistakes that explanation() recognises.
const Names faults = {"the decoder read the token that it predicts: shift its input",
                      "the decoder attended to later target tokens",
                      "the encoder attended to padding", "the cross-attention attended to padding",
                      "padding were a target: the loss at padding must be 0"};

Indices rows_of(const std::vector<Tokens>& lists, std::size_t T) {  // padded to T tokens
  Indices rows = indices({lists.size(), T}, padding);
  for (std::size_t b = 0; b < lists.size(); ++b)
    std::copy(lists[b].begin(), lists[b].end(), &rows(b, 0));
  return rows;
}

// The losses (B, T) of a batch that is computed with some of the mistakes.
Array faulty_losses(const Model& model, const Problem& p, std::size_t T, std::size_t which) {
  const NoGrad no_grad;
  const auto has = [&](std::size_t fault) { return (which >> fault & 1) == 1; };
  std::size_t S = 0;
  std::vector<Tokens> inputs, outputs = p.targets;
  for (Tokens& output : outputs) output.push_back(stop);
  for (const Tokens& output : outputs) {
    inputs.push_back(output);
    if (!has(0)) inputs.back().pop_back(), inputs.back().insert(inputs.back().begin(), start);
  }
  for (const Tokens& source : p.sources) S = std::max(S, source.size());
  const Indices source = rows_of(p.sources, S);
  nn::AttentionMask decoder_self, encoder_self, cross;
  decoder_self.causal = !has(1);
  if (!has(2)) encoder_self.key_padding = xt::equal(source, padding);
  if (!has(3)) cross.key_padding = xt::equal(source, padding);
  const Tensor memory = model.encoder(model.embed(source), encoder_self);
  const Tensor decoded =
      model.decoder(model.embed(rows_of(inputs, T)), memory, decoder_self, cross);
  CrossEntropyOptions options;
  options.reduction = Reduction::none;
  if (!has(4)) options.ignore_index = padding;
  return cross_entropy(model.head(decoded), rows_of(outputs, T), options).value();
}

// The smallest set of mistakes that explains the losses, as text: "as if ..."; "" if none does.
std::string explanation(const Model& model, const Problem& p, const Array& losses) {
  std::string found;
  std::size_t fewest = faults.size() + 1;
  for (std::size_t which = 1; which < std::size_t(1) << faults.size(); ++which) {
    const std::size_t count = std::bitset<8>(which).count();
    const Array faulty = faulty_losses(model, p, losses.shape(1), which);
    if (count >= fewest || !xt::allclose(faulty, losses, 1e-5, 1e-5)) continue;
    fewest = count;
    for (std::size_t i = faults.size(); i-- > 0;)
      if ((which >> i & 1) == 1) found = "as if " + faults[i];
  }
  return found;
}

void judge(const Problem& p) {
  Parameters parameters;
  Generator g(19);
  const Model model({parameters, g}, p.layers, 8, p.heads);
  std::size_t T = 1;
  for (const Tokens& target : p.targets) T = std::max(T, target.size() + 1);
  const Array upstream = g.uniform({p.sources.size(), T}, 0.5, 1.5);
  const Array expected = expected_losses(model, p, upstream);
  const std::vector<Array> expected_gradients = take_gradients(parameters);
  const Tensor got = token_losses(model, p.sources, p.targets);
  expect(p.name + ": the losses (pair, token)", got.value(), expected, 1e-4);
  if (got.shape() != shape_of(expected)) return;
  if (!xt::allclose(got.value(), expected, 1e-4, 1e-4)) {
    const std::string cause = explanation(model, p, got.value());
    if (!cause.empty()) say("           " + cause);
  }
  if (!got.requires_grad())
    return expect(p.name + ": the gradients", false, "the result has no graph");
  count_attentions(p, got);
  backward(got, upstream);
  const std::string wrong =
      wrong_gradient(parameters, take_gradients(parameters), expected_gradients);
  expect(p.name + ": the gradients of the parameters", wrong.empty(), wrong);
}

}  // namespace

int main() {
  judge({"one pair", {{0, 1, 2}}, {{5, 6}}, 1, 1});
  judge({"equal lengths", {{0, 1, 2}, {3, 3, 5}}, {{5, 6}, {8, 0}}, 1, 2});
  judge({"targets of different lengths",
         {{0, 1}, {3, 5}, {6, 6}},
         {{5}, {8, 0, 1, 2}, {2, 1}},
         1,
         2});
  judge({"sources of different lengths",
         {{0}, {3, 5, 10, 11}, {6, 6}},
         {{5, 1}, {8, 0}, {2, 2}},
         1,
         2});
  judge({"an empty target", {{0, 1, 2}, {3}}, {{}, {6, 6, 6}}, 1, 1});
  judge({"two layers", {{0, 1, 2, 3, 5}, {8}, {10, 2}}, {{5, 0}, {8, 1, 10, 11, 6, 2}, {3}}, 2, 4});
  return verdict();
}
