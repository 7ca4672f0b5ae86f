// sampling.hpp: the last sections of lesson 15: sampling, and overfitting a short text.
#pragma once

#include "heed/ops/arithmetic.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/train/generate.hpp"
#include "text_helpers.hpp"

namespace heed {

// Repeats: the logits of the new tokens, the last row divided by the temperature, softmax, draw.
inline Ids generate_by_hand(const nn::Gpt& model, Ids text, std::size_t count, double temperature,
                            Generator& generator) {
  nn::GptCache cache(model.config);  // stores keys and values, for at most block_size tokens
  while (count-- > 0) {
    Indices tokens = Indices::from_shape({1, text.size() - cache.size()});
    std::copy_n(text.data() + cache.size(), tokens.size(), tokens.data());
    const Array logits = model(tokens, cache).value();      // (1, T, V)
    Array last = xt::view(logits, 0, logits.shape(1) - 1);  // (V)
    const Real maximum = *std::max_element(last.begin(), last.end());
    for (Real& z : last) z = Real(std::exp((double(z) - maximum) / temperature));
    text.push_back(generator.multinomial(last, 1)(0));  // normalises the probabilities
  }
  return text;
}

inline void sampling(const Vocabulary& vocabulary, const Split& validation, const nn::Gpt& model) {
  section("Sampling");
  say("SAMPLING generates text: it draws the next token from the model's probabilities,",
      "appends the token, and repeats. The TEMPERATURE divides the logits before the",
      "softmax. Below 1 it increases the largest probability, above 1 it reduces it. At",
      "0 the most likely token is taken: GREEDY DECODING. TOP-K sampling allows the k",
      "most likely tokens only (Fan et al., \"Hierarchical Neural Story Generation\",",
      "section 5, 2018), NUCLEUS SAMPLING (top-p) the smallest set of likely tokens",
      "with a total probability of p or more (Holtzman et al. 2020). While the text",
      "fits into the window, the keys and values of earlier tokens do not change, so a",
      "KV CACHE stores them (exercise 15b).", "");
  const Ids prompt = {std::max<std::int64_t>(vocabulary.find('\n'), 0)};  // the start of a line
  GenerateOptions options;
  options.tokens = 40, options.temperature = 0.8;
  Generator generator(7), same_generator(7);
  Ids in_one_line = generate(model, prompt, options, generator);
  in_one_line.insert(in_one_line.begin(), prompt[0]);
  check("40 tokens by hand = in one line",
        numbers(generate_by_hand(model, prompt, 40, 0.8, same_generator)), numbers(in_one_line), 0);
  Batches batches(validation, 8, 64, 7);
  const Tensor logits = model(batches.next().inputs);  // (8, 64, V)
  Array largest = zeros({3, 1});
  const std::vector<double> temperatures = {0.5, 1, 1.5};
  options.tokens = std::size_t(in_brief(200, 20));
  for (std::size_t i = 0; i < 3; ++i) {
    Array p = softmax(logits / Real(temperatures[i]), -1).value();  // (8, 64, V)
    Array p_max = xt::amax(p, {2}), mean = xt::mean(p_max);
    largest(i, 0) = mean();
    say("", "temperature " + decimal(temperatures[i], 1));
    options.temperature = temperatures[i];
    Generator draws(1337);
    quote(vocabulary.decode(generate(model, prompt, options, draws)));
  }
  say("", "The largest probability, as a mean over 512 positions of the validation part:");
  show_trained("mean largest probability", largest,
               {"temperature 0.5", "temperature 1.0", "temperature 1.5"});
  claim_of_text("a higher temperature reduces the largest probability",
                largest(0, 0) > largest(1, 0) && largest(1, 0) > largest(2, 0), largest(1, 0));
}

// The mean loss over a batch, without the computation graph.
inline double loss_of(const nn::Gpt& model, const Batch& batch) {
  const NoGrad no_grad;
  return double(model.loss(batch.inputs, batch.targets).item());
}

inline void overfitting(const Ids& ids, const Vocabulary& vocabulary, const Split& validation,
                        nn::GptConfig config, TrainOptions options) {
  section("Overfitting a short text");
  say("Now a new model trains on a thousand characters only. It has one block and",
      "windows of 32. Its validation loss is the mean over 128 windows from the",
      "validation part of the whole text.", "");
  const Corpus corpus(vocabulary.decode({ids.begin(), ids.begin() + in_brief(kilobyte, 500)}),
                      vocabulary);
  config.layers = 1, config.block_size = 32;
  options.steps = in_brief(1000, 350), options.warmup = 50;
  options.lr = 8e-3, options.min_lr = 8e-4;
  options.log_every = 25, options.eval_every = options.steps;
  Trainer trainer(corpus, config, options);
  const Batch new_text = Batches(validation, 128, 32, std::uint64_t{7}).next();
  LogRow best;
  std::vector<LogRow> history;
  std::string rows;
  while (!trainer.done())
    if (auto row = trainer.step()) {
      row->val_loss = loss_of(trainer.model(), new_text);
      history.push_back(*row);
      if (!best.val_loss || *row->val_loss < *best.val_loss) best = *row;
      if (row->step % 100 == 0) rows += in_words(*row) + "\n";
    }
  quote(rows);
  const LogRow last = history.back();
  const std::string minimum = "minimum, step " + std::to_string(best.step);
  say("", "The training loss falls until the end. The validation loss falls first and then",
      "rises: the model overfits. EARLY STOPPING would use the weights of the step with",
      "the lowest of its " + std::to_string(history.size()) + " values:", "");
  quote(minimum + ": validation " + decimal(*best.val_loss, 2));
  claim_of_text("the last validation loss is more than 0.5 above its minimum",
                *last.val_loss > *best.val_loss + 0.5, *last.val_loss);
  double bound = 0;
  const std::size_t positions = corpus.training().size - 32;  // where a window can begin
  for (std::size_t k = 1; k <= 32; ++k) bound += loss_of_counts(ids, k, positions) / 32;
  std::vector<Series> curves = curves_of(history);
  curves.push_back({minimum, {double(best.step)}, {*best.val_loss}, /*points=*/true});
  CurveOptions axes{"overfitting 1000 characters", "step", "loss (nats per token)"};
  axes.lines = {{"uniform: ln V", std::log(double(vocabulary.size()))},
                {"lower bound on training", bound}};
  picture("15_your_text", "by_heart", curves, axes);
  say("", "In the picture ln V is the loss of equal probabilities: above it, the model is",
      "worse than no training.");
  say("", "Can the training loss fall to 0? No: a window begins at a random position. Its",
      "first tokens occur at several positions of the text, with different next tokens.",
      "For each context of k tokens we count in the training text which token follows.",
      "These counts give the entropy of the next token. Its mean over k = 1 to 32 is",
      decimal(bound, 4) + ", the lower bound on the expected training loss. The last training loss",
      "is " + trained(last.train_loss) + ".");
  claim_of_text("the last training loss is less than 0.25 from this bound",
                std::abs(last.train_loss - bound) < 0.25, last.train_loss);
  say("", "At temperature 0 the model continues the first 16 characters like this:", "");
  GenerateOptions greedy;
  greedy.temperature = 0, greedy.tokens = 300;
  Generator unused(0);  // temperature 0 draws no random number
  const Ids prompt(ids.begin(), ids.begin() + 16);
  const Ids recited = generate(trainer.model(), prompt, greedy, unused);
  std::size_t right = 0;
  while (right < 300 && recited[right] == ids[16 + right]) ++right;
  quote(vocabulary.decode(prompt) + vocabulary.decode(recited));
  say("");
  quote("from the beginning " + std::to_string(right) + " of 300 tokens are equal to the text");
  claim_of_text("20 tokens or more are equal to the text", right >= 20, double(right));
}

}  // namespace heed
