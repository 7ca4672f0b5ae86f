// 07 attention_head: one attention head, trained to copy the previous token.
//
// Before this lesson: 06_backward_through_attention, which trained three matrices on one sentence.
// After it: 10_multi_head, several heads in parallel.
// A useful breakpoint: logits_of, the forward pass of the model. Step with `next`.

#include <map>

#include "by_hand.hpp"

using namespace heed;
const Names words = {"the", "cat", "sat"};

Tensor logits_of(const nn::AttentionHead& head, const CopyBatch& batch) {
  const Tensor outputs = head(batch.x, earlier_positions());  // (B, T, D)
  return matmul(outputs, transpose(batch.vectors, 0, 1));     // (B, T, V)
}

Tensor loss_of(const nn::AttentionHead& head, const CopyBatch& batch) {
  return cross_entropy(logits_of(head, batch), batch.previous);
}

void attention_as_a_module(Generator& g) {
  section("Attention as a module");
  say("A model has many ATTENTION HEADS: attention operations, each with its own query,",
      "key and value projections. So we need a module: a class that has parameters and",
      "computes an output. A LINEAR LAYER is a module that computes x W^T + b from its",
      "input x; b is the BIAS, one number for each output. nn::AttentionHead has three",
      "linear layers without b. Here it maps width 5 to width 4:", "");
  const Array tokens = g.randn({3, 5});
  const Array W_K = g.randn({5, 4}), W_Q = g.randn({5, 4}), W_V = g.randn({5, 4});
  Parameters parameters;
  nn::AttentionHead head({parameters, g}, 5, 4);
  for (const Tensor& p : parameters) say("  " + pad_right(p.name(), 14) + str(p.shape()));
  say("", "As in PyTorch, the weight of a linear layer is stored transposed: (out, in). We",
      "set the weights to lesson 04's matrices. The input is a batch of one sentence.");
  set_weights(head, xt::transpose(W_Q), xt::transpose(W_K), xt::transpose(W_V));
  const nn::AttentionMask causal{true, {}};
  const Tensor batch = unsqueeze(Tensor(tokens), 0), O = head(batch, causal);  // (1, 3, 4)
  show("attention weights", head.weights(batch, causal), words, words);
  show("O, the output", O, words);
  const Array by_hand = outputs_by_hand(tokens, W_Q, W_K, W_V);
  check("the output of lesson 04 by hand = output of the module", by_hand, select(O, 0, 0));
  const Array others = dog_sees_dog(g);  // (3, 5): the embeddings of another sentence
  const Tensor two = head(stack({Tensor(tokens), Tensor(others)}, 0), causal);  // (2, 3, 4)
  check("in a batch of two, the first sentence has the same output", by_hand, select(two, 0, 0));
  check("the second sentence does not depend on the first", outputs_by_hand(others, W_Q, W_K, W_V),
        select(two, 0, 1));
  say("", "The rows of O are CONTEXTUALISED VECTORS (contextual embeddings): the row of a",
      "token can depend on other tokens of its sentence. In the second sentence the",
      "token 'dog' occurs twice, with the same embedding. The two outputs differ,",
      "because the second 'dog' also attends to 'sees':");
  show("output of the second sentence", select(two, 0, 1), {"dog", "sees", "dog"});
}

void logits_and_loss(const nn::AttentionHead& head, const CopyBatch& batch) {
  section("The task, the logits and the loss");
  say("The task is to predict the previous word. Language models have heads for it",
      "(lesson 16), and its lowest mean loss is known. A sentence has eight positions;",
      "each holds one of eight words, drawn at random. At position 0 the target is one",
      "more random word, which the input does not contain. A word is a random vector of",
      "16 numbers and length one. Each batch has eight new words, so the head cannot",
      "learn words by heart: it must copy. Eight more numbers of the input are the",
      "position, one-hot (lesson 11 says why). A query attends to earlier positions.", "",
      "The dot products of the output with the eight word vectors are the LOGITS: the",
      "scores that softmax turns into probabilities. The CROSS-ENTROPY of a prediction",
      "is -ln p (lesson 01), where p is the probability of the correct word. Its unit",
      "with the natural logarithm is the nat. The loss is here the mean cross-entropy.", "");
  const Array logits = logits_of(head, batch).value();  // (2, 8, 8)
  say("x " + str(batch.x.shape()) + ", logits " + str(shape_of(logits)));
  check("mean cross-entropy by hand = cross_entropy",
        scalar(cross_entropy_by_hand(logits, batch.previous)), loss_of(head, batch));
  check("the logits at position 0 = zeros", Array(xt::view(logits, xt::all(), 0)), zeros({2, V}),
        0);
}

void lower_bound(const CopyBatch& batch, Generator& g) {
  section("The lower bound on the loss");
  say("Position 0 has no key, so its logits are zeros and its cross-entropy is ln 8. No",
      "prediction has a lower mean cross-entropy there, because all eight words are",
      "equally likely. The cross-entropy at the other seven positions can come close to",
      "0. So the lower bound is (ln 8 + 7 * 0) / 8 = 0.2599. We set a head by hand: the",
      "query of position t is the key of position t - 1, the value is the word vector.",
      "The scale multiplies queries (sharper weights) and values (larger logits):", "",
      "   scale    loss");
  for (double scale : {0, 3, 10, 30, 100}) {
    const double loss = loss_of(previous_token_head(scale, g), batch).item();
    say(pad_left(decimal(scale, 0), 8) + pad_left(decimal(loss, 4), 8));
  }
}

std::map<int, Array> train(const nn::AttentionHead& head, const Parameters& parameters,
                           const CopyBatch& validation, Generator& g) {
  section("Training");
  say("TRAINING repeats: draw a batch, compute the loss and the gradients, change the",
      "parameters. VALIDATION measures the loss on data that is not used for training:",
      "here 64 sentences of eight new words. OVERFITTING means to fit what only the",
      "training data have. Its sign is a validation loss that rises again. For each",
      "query position we take the mean attention weight on the previous position",
      "over the validation sentences. The column 'weight' has the smallest of them. (~",
      "marks results of training: they depend on the machine.)", "",
      "step  validation loss  weight");
  optim::AdamW optimizer(parameters.tensors(), {0.05, 0.9, 0.999, 1e-8, 0});
  std::map<int, Array> weights;  // by step
  Series training, losses;       // losses: of validation
  for (int step = 0; step <= 2000; ++step) {
    if (step <= 20 ? step % 5 == 0 : step == 100 || step == 500 || step == 2000) {
      weights[step] = mean_weights(head, validation);
      losses.append(step, loss_of(head, validation).item());
      say(pad_left(std::to_string(step), 4) + pad_left(trained(losses.y.back()), 17) +
          pad_left(trained(smallest_on_previous(weights[step])), 8));
    }
    const CopyBatch batch = new_copy_batch(g, 16);
    const Tensor loss = loss_of(head, batch);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.step();
    training.append(step, loss.item());
  }
  const double bound = std::log(8.0) / 8, rest = loss_of(head, validation).item() - bound;
  picture_of_losses(training, losses, bound);
  say("", "validation loss minus lower bound  " + trained(rest, 3));
  claim("the loss is 0 to 0.01 above the lower bound", rest > 0 && rest <= 0.01, decimal(rest, 4));
  return weights;
}

void read_attention_weights(const std::map<int, Array>& weights) {
  section("The attention weights during training");
  say("After 2000 steps nearly all weight is on the previous position.");
  const std::vector<Array> panels = {weights.at(0), weights.at(15), weights.at(2000)};
  const Names titles = {"after 0 steps", "after 15 steps", "after 2000 steps"};
  HeatmapOptions options{"mean attention weights during training", positions, positions};
  options.row_title = "query position", options.column_title = "key position";
  options.low = 0, options.high = 1;
  say("");
  quote(heatmap_sheet_text(panels, titles, options, 3));
  picture("07_attention_head", "weights", panels, titles, options, 3);
  const double least = smallest_on_previous(weights.at(2000));
  claim("each mean weight on the previous position is above 0.98", least > 0.98, decimal(least, 4));
}

void read_projections(const nn::AttentionHead& head, const CopyBatch& batch) {
  section("What the projections have learned");
  say("The score of the query of token x and the key of token y is x W_QK y^T / 4, with",
      "W_QK = W_Q^T W_K (24, 24). With the embeddings of all tokens on both sides it is",
      "the QK CIRCUIT (Elhage et al. 2021): the scores of all pairs of tokens. The last",
      "8 rows and columns of W_QK belong to the positions. Among the allowed columns 0",
      "to t - 1, row t is largest in column t - 1.");
  const Array all = query_key(head),
              block = xt::where(*earlier_positions().mask,
                                xt::view(all, xt::range(D, D + T), xt::range(D, D + T)), -INFINITY);
  HeatmapOptions options{"positions in W_QK / 4", positions, positions,
                         "position of the query token", "position of the key token"};
  options.diverging = true, options.low = -15, options.high = 15;
  picture_trained("07_attention_head", "query_key", block, options);
  const CopyRule rule = rule_of(head, batch);
  say("", "W_V copies the word vector and scales it. (With the word vectors on both sides,",
      "W_V is here the OV CIRCUIT: the logits that a token adds if it is attended to.)",
      "The entries of W_QK / 4 for words hardly matter: zeros instead change no weight",
      "of the validation sentences by more than 0.05.", "",
      "largest absolute value for a word   " + trained(rule.word, 1),
      "mean of W_V's diagonal              " + trained(rule.diagonal, 1),
      "largest absolute value of the rest  " + trained(rule.rest, 1),
      "largest change of a weight          " + trained(rule.change));
  claim("t >= 2: entry t - 1 exceeds the other allowed ones by 5 or more", rule.lead > 5,
        decimal(rule.lead, 2));
  claim("no entry for a word vector is above 3", rule.word < 3, decimal(rule.word, 2));
  claim("no weight changes by more than 0.05", rule.change < 0.05, decimal(rule.change, 4));
  claim("W_V's diagonal is more than ten times the rest", rule.diagonal > 10 * rule.rest,
        decimal(rule.rest, 2));
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening({"to build an attention head, train it with Adam and read its weights",
           "O = softmax(X W_Q^T W_K X^T / sqrt(d)) X W_V^T\n"
           "X (T, C), W_Q and W_K and W_V (d, C), O (T, d)",
           "Attention Is All You Need, section 3.2 (Vaswani et al. 2017);\n"
           "Adam: A Method for Stochastic Optimization (Kingma and Ba 2015)",
           "torch.nn.Linear, torch.nn.functional.cross_entropy, torch.optim.Adam"});
  Generator g(42);
  attention_as_a_module(g);
  const CopyBatch two_sentences = new_copy_batch(g, 2);
  Parameters parameters;
  const nn::AttentionHead head({parameters, g}, D + T, D);  // (B, 8, 24) -> (B, 8, 16)
  logits_and_loss(head, two_sentences);
  const CopyBatch validation = new_copy_batch(g, 64);
  lower_bound(validation, g);
  adam_on_one_number();
  read_attention_weights(train(head, parameters, validation, g));
  read_projections(head, validation);
  say("", "One head copies one earlier word. For two, we take two heads: 10_multi_head.");
  questions(
      "In train, write `static` before `const CopyBatch batch`: all steps then use\n"
      "the same batch. What is the validation loss after 2000 steps?",
      "In input_of (copy_task.hpp), write zeros({T, width - D}) in place of xt::eye:\n"
      "the input then has no positions. How low does the loss get?",
      "In train, change the learning rate 0.05 to 0.001. How low does the loss get?");
}
