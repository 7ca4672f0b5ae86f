// by_hand.hpp: masking, the loss and the training loop of lesson 18 by hand, and four sections:
// the grammar, bidirectional attention, the accuracy and the reverse task.
#pragma once

#include <cmath>
#include <set>

#include "fill_in_the_blank.hpp"

namespace heed {

inline const std::string one_door = "i was watching the door when [MASK] opened .";

// Chooses each token except full stops with probability 15 %. Of the chosen tokens 80 % become
// [MASK], 10 % become a random word, and 10 % stay. Tokens that are not chosen have the target
// -100.
inline Masked mask_by_hand(const Indices& tokens, const Vocabulary& vocabulary,
                           Generator& generator) {
  const Shape shape = {tokens.shape(0), tokens.shape(1)};  // (N, T)
  const Array choices = generator.rand(shape), actions = generator.rand(shape);
  const Indices random_words = generator.randint(0, std::int64_t(vocabulary.size()), shape);
  Masked m{tokens, tokens};
  for (std::size_t i = 0; i < shape[0]; ++i)
    for (std::size_t t = 0; t < shape[1]; ++t) {
      const Real choice = choices(i, t), action = actions(i, t);  // from 0 to 1
      const bool chosen = tokens(i, t) != vocabulary.find(".") && choice < Real(0.15);
      if (!chosen) m.targets(i, t) = -100;
      if (chosen && action < Real(0.8)) m.seen(i, t) = vocabulary.find("[MASK]");
      if (chosen && action >= Real(0.8) && action < Real(0.9)) m.seen(i, t) = random_words(i, t);
    }
  return m;
}

// The mean of -ln p(target) over the chosen positions.
inline Real loss_by_hand(const Array& p, const Indices& targets) {  // (N, T, V) and (N, T)
  Real sum = 0, count = 0;
  for (std::size_t i = 0; i < targets.shape(0); ++i)
    for (std::size_t t = 0; t < targets.shape(1); ++t)
      if (targets(i, t) != -100) sum -= std::log(p(i, t, std::size_t(targets(i, t)))), count += 1;
  return sum / count;
}

// The loop of train() in fill_in_the_blank.cpp. Returns the losses of the first `count` of `steps`
// steps.
inline std::vector<double> train_by_hand(BlankModel& model, std::int64_t count,
                                         std::int64_t steps) {
  optim::AdamWOptions options;
  options.beta2 = 0.99;
  optim::AdamW optimizer(model.parameters.tensors(), options);
  const optim::WarmupCosine rate{0.007, 0.0001, 50, steps};
  Generator generator(19);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < count; ++step) {
    const Masked batch = next_batch(model, generator);                        // (64, T)
    const Tensor loss = cross_entropy(model.gpt(batch.seen), batch.targets);  // of (64, T, V)
    optim::zero_grad(model.parameters.tensors());
    backward(loss);
    optim::clip_grad_norm(model.parameters.tensors(), 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    losses.push_back(double(loss.item()));
  }
  return losses;
}

inline void show_grammar(const Vocabulary& vocabulary, const std::vector<Sentence>& held_out) {
  section("Sentences with a pronoun");
  say("Pictures of attention often show a pronoun that attends to its noun. Does such a",
      "picture explain a prediction? We test it on sentences of a small grammar. The",
      "verb after the pronoun, here called the ending, decides: if people do it",
      "('sneezed', 'laughed', 'spoke'), the pronoun repeats the subject; otherwise it",
      "stands for the object, 'it' for a singular noun, 'they' for a plural one:", "",
      "  " + text_of(door_sentence().words));
  for (std::size_t i = 0; i < 5; ++i) say("  " + text_of(held_out[58 * i].words));
  say("", "words, and the token [MASK] for a hidden word   " + std::to_string(vocabulary.size()),
      "combinations for training                     " +
          std::to_string(combinations(From::training)),
      "combinations held out                          " +
          std::to_string(combinations(From::held_out)),
      "", "A combination is a choice of subject, verb, object and ending. Each was held out",
      "with probability 1/10, and those are in no training sentence. The six sentences",
      "above are held out. So the model is tested on new sentences of known parts:");
  std::set<std::string> pairs;
  Generator generator(20);
  for (const Sentence& s : draw_sentences(generator, 5000, From::training))
    pairs.insert(s.word(Part::object) + " " + s.word(Part::ending));
  const std::size_t nouns = 2 * 2 * kinds().size(), endings = subject_endings().size() + 1;
  claim("each of the " + std::to_string(nouns * endings) +
            " pairs of a noun and an ending occurs in training",
        pairs.size() == nouns * endings, std::to_string(pairs.size()));
  say("", "The task is to predict the pronoun:", "", "  " + one_door, "",
      "'opened' excludes 'i', because people do not open in this grammar, and 'door'",
      "excludes 'they'. A model needs both words, and one of them comes after [MASK].");
}

inline void compare_directions() {
  section("Bidirectional attention");
  say("In the language models so far a query attended to its own and earlier positions.",
      "BIDIRECTIONAL ATTENTION has no causal mask: each query attends to all positions.",
      "A model of such blocks is an encoder, as BERT is. It gives no p(next token | the",
      "tokens before), so it cannot generate text from left to right as in lesson 15.",
      "Do the logits at [MASK] change if 'rang' replaces 'opened'? We take two models",
      "without training that differ only in GptConfig::causal:");
  const BlankModel causal(1, true), bidirectional(1, false);
  const std::string rang = "i was watching the door when [MASK] rang .";
  check("causal: the same logits at [MASK]", logits_at_mask(causal, one_door),
        logits_at_mask(causal, rang), 0);
  Array change =
      xt::abs(logits_at_mask(bidirectional, one_door) - logits_at_mask(bidirectional, rang));
  claim("bidirectional: other logits at [MASK]", xt::amax(change)() > 0.001, "the same logits");
}

inline void measure_accuracy(const BlankModel& model, const std::vector<Sentence>& each,
                             const std::vector<Sentence>& about) {
  section("Accuracy");
  say("We take each held-out combination once and replace one word by [MASK]. The",
      "ACCURACY is the fraction of sentences in which the model's most probable word",
      "fits the grammar. 'constant' always predicts the word that fits most often,",
      "'uniform' draws a word from the vocabulary. (In " +
          std::to_string(each.size() - about.size()) + " of " + std::to_string(each.size()) +
          " sentences the pronoun",
      "refers to the subject, and then each noun fits as the object.)");
  const Names parts = {"object", "pronoun", "ending"}, columns = {"model", "constant", "uniform"};
  const Array all = accuracies(model, each), hard = accuracies(model, about);  // (3, 3)
  show_trained("all " + std::to_string(each.size()) + " held-out sentences", all, parts, columns);
  show_trained("the " + std::to_string(about.size()) + " whose pronoun refers to the object", hard,
               parts, columns);
  say("");
  claim_less("accuracy on the pronoun, all sentences: above 0.9", 0.9, all(1, 0));
  claim_less("accuracy on the pronoun of the object: above 0.9", 0.9, hard(1, 0));
  claim_less("accuracy on the object of such a pronoun: above 0.8", 0.8, hard(0, 0));
  say("", "On new sentences the most probable word fits in nearly all cases. No constant",
      "word fits in more than half of the hard cases.");
}

inline void predict_the_noun(const BlankModel& model) {
  section("The reverse task: predict the noun");
  say("In 'i was watching the [MASK] when it opened .' the words that tell which noun",
      "it is come after [MASK]. A causal model cannot use them. Our model predicts:");
  const Names texts = {"i was watching the [MASK] when it opened .",
                       "i was watching the [MASK] when they opened .",
                       "i was watching the [MASK] when it barked ."};
  const Names nouns = {"door gate", "doors gates", "dog wolf"};
  const Array p = probabilities_of(model, texts, nouns);  // (3, 3), a column for each pair
  show_trained("probability of a pair", p, {"it opened", "they opened", "it barked"},
               {"door or gate", "doors or gates", "dog or wolf"});
  claim_less("in each row, the pair that fits has over 0.7", 0.7, xt::amin(xt::diagonal(p))());
  const BlankModel causal(1, true);
  check("causal: the same logits at [MASK] in rows 0 and 1", logits_at_mask(causal, texts[0]),
        logits_at_mask(causal, texts[1]), 0);
}

}  // namespace heed
