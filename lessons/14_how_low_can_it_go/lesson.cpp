// 14 how_low_can_it_go: a text of known entropy, the lower bounds on its loss, and a leak.
//
// Before this lesson: 12_transformer_block, of which this lesson's model has two.
// After it: 15_your_text, a model of your own text, whose entropy nobody knows.
// Worth a breakpoint: Learner::logits (in learner.hpp). Continue with `next` and print x after
// each block.

#include <cmath>

#include "heed/array/parallel.hpp"
#include "heed/ops/mask.hpp"
#include "known_text.hpp"
#include "learner.hpp"

using namespace heed;

double entropy(const Distribution& distribution) {
  double nats = 0;
  for (const auto& [text, p] : distribution) nats -= p * std::log(p);
  return nats;
}

void text_with_known_probabilities(const MarkovSource& grammar) {
  section("A text with known probabilities");
  say("Is a loss of 0.25 low? For a play or a novel nobody knows how low the loss can",
      "be. So this lesson generates a text whose probabilities are all known. (`./heed",
      "corpus` writes such texts.) The loss is the mean of -ln p, where p is the",
      "probability that the model gave to the letter that came next. A letter is here",
      "any character, also a space or a newline.", "");
  Generator first(1);
  const auto [to_verb, to_ending] = shortest_distances(all_sentences());
  say(grammar.draw(141, first), "",
      "A sentence has 8 possible subjects (4 animals, singular or plural), 4",
      "prepositions, 4 nouns for the place and 2 verbs for each animal; the first verb",
      "has probability 3/4. The verb depends on the subject, whose last letter is " +
          std::to_string(to_verb),
      "letters or more before it. The ending of the verb depends on the number ('cat",
      "purrs', 'cats purr'), that is, on the same letter, " + std::to_string(to_ending) +
          " letters or more before it.");
}

void entropy_of_a_sentence(const MarkovSource& source) {
  section("The entropy of 256 sentences");
  say("The ENTROPY of a random choice is the mean of -ln p, where p is the probability",
      "of the outcome: the sum of -p ln p over all outcomes, in nats. For a sentence we",
      "can take this sum over all 256 sentences. Or we add the entropies of its four",
      "choices, because they are independent: subject, preposition, noun and verb",
      "(first or second). The ENTROPY RATE is the entropy per letter. Here it is the",
      "entropy of a sentence divided by the mean length of a sentence, because the",
      "sentences are independent and a newline ends each of them. Divided by ln 2, it",
      "is in bits. PERPLEXITY is exp(loss): the number of equally likely letters whose",
      "entropy equals the loss.");
  const Distribution sentences = all_sentences();
  const double nats =
      std::log(8) + std::log(4) + std::log(4) - 0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  const double rate = nats / mean_length(sentences);
  say("", "sentences                       " + std::to_string(sentences.size()),
      "entropy of a sentence, in nats    " + decimal(nats, 4),
      "mean length, in letters          " + decimal(mean_length(sentences), 4),
      "entropy rate, in nats per letter  " + decimal(rate, 4),
      "the same in bits per letter       " + decimal(rate / std::log(2.0), 4),
      "perplexity at this loss           " + decimal(std::exp(rate), 4), "");
  check_number("entropy: sum over the sentences = sum over the choices", entropy(sentences), nats);
  say("", "The next section needs the probability of each next letter. A MARKOV SOURCE",
      "(Shannon 1948, section 4) gives it: it has a finite number of states, the state",
      "gives the probability of each next letter, and the letter gives the next state.",
      "Ours has " + std::to_string(source.states().size()) +
          " states, for example: the subject is 'cats', the place begins with",
      "'ba'. The entropy rate is also the mean entropy of the next letter, where each",
      "state counts as often as it occurs (section 7).", "");
  check_number("entropy rate: from sentences = from states", rate, source.entropy_rate());
}

void bounds_for_a_short_context(const MarkovSource& source) {
  section("Lower bounds on the loss");
  say("The entropy rate is a LOWER BOUND on the expected loss of every model that",
      "predicts the next letter from the letters before it. Proof (Gibbs' inequality):",
      "after some context, let p be the true probabilities of the next letter, q those",
      "of the model. We sum over the letters with p > 0. As ln x <= x - 1,", "",
      "  entropy - expected loss = sum p ln(q / p) <= sum p (q / p - 1)",
      "                          = sum q - sum p <= 1 - 1 = 0", "",
      "This holds after each context, so also for the means over all contexts. The",
      "difference, sum p ln(p / q), is the KL DIVERGENCE (Kullback and Leibler 1951) of",
      "p and q: the expected cross-entropy is the entropy plus the KL divergence.", "",
      "A model with a shorter context has a higher or an equal bound: a predictor that",
      "reads k letters is also one that reads k + 1 and ignores the first of them. With",
      "no context the bound is the entropy of single letters, the unigram entropy. With",
      "one letter it is the bigram entropy. As p(b | a) = p(ab) / p(a), this is the",
      "entropy of pairs minus the entropy of single letters.", "");
  const Distribution sentences = all_sentences();
  const double one = entropy(n_grams(sentences, 1)), two = entropy(n_grams(sentences, 2));
  const std::vector<double> bounds = source.conditional_entropies(T);
  check_number("unigram entropy by hand = MarkovSource's", one, source.unigram_entropy());
  check_number("bigram entropy by hand = MarkovSource's", two - one, source.bigram_entropy());
  check_number("bound with 24 letters of context = entropy rate", bounds[context],
               source.entropy_rate());
  say("", "letters of context    lower bound");
  for (const std::size_t letters : {0u, 1u, 2u, 3u, 4u, 5u, 13u, 14u, 15u, 16u, 17u, 19u, 21u, 24u})
    say(pad_left(std::to_string(letters), 18) + "    " + decimal(bounds[letters], 4));
  say("", "The fifth letter tells whether an animal or a place follows 'the ', and whether",
      "'n' or 'k' follows ' bar'. From 5 to 13 letters the bound does not change: these",
      "letters contain the noun, but the verb does not depend on the noun. With 14 or",
      "more they contain a part of the subject. Without it the bound stays " +
          decimal(bounds[13], 4) + ".");
}

int main() {
  set_num_threads(1);  // the model is too small for a second thread to save time
  opening({"to compute the lowest possible loss of a text, and to detect a leak",
           "H = -sum p ln p             entropy of a choice, in nats\n"
           "h = sum_s p_s H(letter | s)  entropy rate, s: state of the source\n"
           "expected loss >= h, perplexity = exp(loss)",
           "Shannon, \"A Mathematical Theory of Communication\", 6 and 7 (1948)",
           "torch.distributions.Categorical(p).entropy(), in nats"});
  const MarkovSource grammar = grammar_source();
  text_with_known_probabilities(grammar);
  entropy_of_a_sentence(grammar);
  bounds_for_a_short_context(grammar);

  section("A model that uses the context");
  say("The model has two blocks of lesson 12, without biases, with two heads each, and",
      "width 32. It trains on nine tenths of 200,000 letters, in windows of 48. We",
      "measure the loss on new text from the same source, drawn with another seed, for",
      "letters with a context of 24 or more: there the bound is the entropy rate.", "");
  Generator generator(1), test_generator(2), new_generator(3);
  const MarkovSource source = brief() ? simple_source() : grammar;
  const std::string text = source.draw(200'000, generator);
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(text, vocabulary);
  const Batch test = windows_of(source.draw(std::size_t(in_brief(512, 64)) * T + 1, test_generator),
                                vocabulary, T);
  nn::GptConfig config;
  config.vocab_size = vocabulary.size();
  config.block_size = T, config.layers = 2, config.heads = 2, config.embed_dim = 32;
  Learner learner(config, {true, std::nullopt});  // the causal mask
  const Series curve = train(learner, corpus, test, "causal mask");
  const std::string new_text = source.draw(std::size_t(in_brief(4096, 256)) * T + 1, new_generator);
  const Batch windows = windows_of(new_text, vocabulary, T);
  const Array ideal = ideal_losses(source, new_text, T), losses = learner.losses(windows);
  loss_by_position(source, losses - ideal);

  section("Close to the lower bound");
  const Mean best = mean_with_context(ideal), loss = mean_with_context(losses),
             excess = mean_with_context(Array(losses - ideal));
  const std::string h = decimal(source.entropy_rate(), 4);
  say("The standard error (lesson 05) is here that of the mean over the windows. For",
      "the excess loss it is much smaller, because the same letters are hard for both",
      "predictors. The expected excess loss is 0 or more, so an excess loss below -3",
      "standard errors would be a sign of a leak:", "",
      "                   nats per letter   standard error", "entropy rate       " + h,
      "ideal predictor    " + decimal(best.value, 4) + "            " +
          decimal(best.standard_error, 4),
      "model             " + trained(loss.value, 3), "");
  quote("excess loss " + decimal(excess.value, 4) + ", standard error " +
        decimal(excess.standard_error, 5));
  claim("the excess loss is less than 3 % of the entropy rate",
        excess.value < 0.03 * source.entropy_rate(), decimal(excess.value, 5));
  claim("the excess loss is above -3 standard errors", excess.value > -3 * excess.standard_error,
        decimal(excess.value, 5));

  section("A leak");
  say("Now a mistake from lesson 08: the mask is off by one. Each query position may",
      "also attend to the next position, which holds the token to predict.", "");
  nn::AttentionMask off_by_one;
  off_by_one.mask = xt::equal(tril(Tensor(ones({T, T})), 1).value(), 1);
  Learner leaking(config, off_by_one);
  const Series leak_curve = train(leaking, corpus, test, "mask off by one");
  const Array leaked = leaking.losses(windows);
  const Mean low = mean_with_context(leaked), below = mean_with_context(Array(ideal - leaked));
  say("");
  claim("with a leak, the loss is more than 10 % below the entropy rate",
        low.value < 0.9 * source.entropy_rate(), decimal(low.value, 4));
  claim("it is more than 10 standard errors below the ideal predictor's",
        below.value > 10 * below.standard_error, decimal(below.value, 5));
  picture_of_losses(source, {curve, leak_curve});
  const double last = source.entropy_rate() / double(T - context + 1);
  say("", "The second loss looks better, and new text does not reveal the mistake: the",
      "targets leak there too. But a loss on new text many standard errors below the",
      "lower bound shows that the model sees its targets. Of the " +
          std::to_string(T - context + 1) + " targets that we",
      "measure in a window only the last does not leak: it is outside the window. So",
      "the lowest possible loss is " + h + " / " + std::to_string(T - context + 1) + " = " +
          decimal(last, 4) + ". This model has:",
      "");
  quote("loss with the leak " + decimal(low.value, 4));
  say("", "The mistake also appears when the models generate text (/ is a newline):", "");
  quote(sampled(learner, vocabulary));
  quote(sampled(leaking, vocabulary));
  say("", "The second model copied the targets that it sees. It predicts only the last one.");

  section("Your own model");
  say("To test a model of yours for leaks, train it on a text from `./heed corpus` and",
      "compare its loss with the bounds that the command prints. The next lesson trains",
      "on any text: 15_your_text.", "",
      "To follow a window through the blocks: start gdb with ./heed debug 14, and type:",
      "break Learner::logits, continue, next, print x, and so on.");
  questions("In main set config.layers to 1. How far above the entropy rate is the loss?",
            "In tril(...) in main change 1 to 0. Which claim fails, and why?",
            "In main change 200'000 to 5'000. What happens to the loss on new text?");
}
