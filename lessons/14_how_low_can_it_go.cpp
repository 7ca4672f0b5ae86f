// 14 how_low_can_it_go: a text whose entropy is known, a model that nears it, a leak below it.
//
// Before this lesson: 13_transformer_block, the block of which this lesson's model has two.
// After it: 15_your_text, in which the text is your own and nobody knows its entropy.
// Worth a breakpoint: Student::scores. Go on with `next`, and print x after each block.

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/study/markov_source.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/generate.hpp"
#include "lesson.hpp"

using namespace heed;
using Table = std::map<std::string, double>;  // pieces of text, and how likely each is

const std::string lesson = "14_how_low_can_it_go";
const std::size_t T = 48;     // letters in a window
const std::size_t late = 24;  // so many letters read tell all that can be known: see below

struct Animal {
  std::string name, often, seldom;
};
const std::vector<Animal> animals = {{"cat", "purr", "sleep"},
                                     {"dog", "bark", "run"},
                                     {"owl", "hoot", "hunt"},
                                     {"frog", "croak", "jump"}};

// `check` for two numbers.
void same(const std::string& what, double a, double b) {
  check(what, scalar(Real(a)), scalar(Real(b)));
}

double entropy(const Table& table) {
  double nats = 0;
  for (const auto& [text, p] : table) {
    nats -= p * std::log(p);
  }
  return nats;
}

Table all_sentences() {
  Table sentences;
  for (const Animal& animal : animals)
    for (const bool one : {true, false})
      for (const std::string where : {"in", "on", "by", "near"})
        for (const std::string what : {"barn", "hill", "river", "garden"}) {
          const std::string subject = "the " + animal.name + (one ? " " : "s ");
          const std::string place = where + " the " + what + " ", end = one ? "s\n" : "\n";
          const double p = 1.0 / 4 / 2 / 4 / 4;
          sentences[subject + place + animal.often + end] = p * 3 / 4;
          sentences[subject + place + animal.seldom + end] = p / 4;
        }
  return sentences;
}

double mean_length(const Table& sentences) {
  double letters = 0;
  for (const auto& [sentence, p] : sentences) letters += p * double(sentence.size());
  return letters;
}

// How likely each stretch of one letter, or two, is anywhere in a long text.
Table stretches(const Table& sentences, std::size_t size) {
  Table found;
  for (const auto& [sentence, p] : sentences) {
    const std::string text = sentence + "the";  // so begins the next one
    for (std::size_t i = 0; i < sentence.size(); ++i)
      found[text.substr(i, size)] += p / mean_length(sentences);
  }
  return found;
}

// A model, and what each place of a window may see of the others.
struct Student {
  Student(const nn::GptConfig& config, const nn::AttentionMask& seen)
      : model(Scope(parameters, random), config), visible(seen) {}
  Tensor scores(const Indices& tokens) const {
    Tensor x = model.embed(tokens, 0);  // (B, T, C)
    for (const nn::Block& block : model.blocks) x = block(x, visible);
    return linear(model.norm(x), model.head);  // (B, T, V)
  }

  Generator random{14};
  Parameters parameters;
  nn::Gpt model;
  nn::AttentionMask visible;
};

// A text nobody has trained on, cut into windows, and what it costs who knows the source.
struct Fresh {
  Batch windows;      // (W, T)
  Array source_cost;  // (W, T), -ln p of each target
};

Fresh fresh_text(const MarkovSource& source, const Vocabulary& letters, std::size_t W,
                 std::uint64_t seed) {
  Generator random(seed);
  const std::string text = source.draw(W * T + 1, random);
  const std::vector<std::int64_t> ids = letters.encode(text);
  const std::vector<double> negative_log_likelihoods = source.negative_log_likelihoods(text);
  Fresh fresh{{Indices::from_shape({W, T}), Indices::from_shape({W, T})}, zeros({W, T})};
  for (std::size_t i = 0; i < W * T; ++i) {
    fresh.windows.inputs.data()[i] = ids[i];
    fresh.windows.targets.data()[i] = ids[i + 1];
    fresh.source_cost.data()[i] = Real(negative_log_likelihoods[i + 1]);
  }
  return fresh;
}

// What each letter costs the student: (W, T).
Array costs(const Student& student, const Batch& windows) {
  const NoGrad no_grad;
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  return cross_entropy(student.scores(windows.inputs), windows.targets, each).value();
}

struct Mean {
  double value, error;
};

// Of the late places of all windows, with its standard error: how far off such a mean is, by
// chance, typically. It is windows that are drawn, so windows are counted.
Mean late_mean(const Array& cost) {
  Array late_ones = xt::view(cost, xt::all(), xt::range(late - 1, T));
  Array each = xt::mean(late_ones, {1});  // (W), a window's mean
  const double mean = double(xt::mean(each)()), W = double(each.size());
  return {mean, double(xt::stddev(each)()) / std::sqrt(W)};
}

Series train(Student& student, const Corpus& corpus, const Batch& fresh, std::int64_t steps,
             const std::string& name) {
  optim::AdamWOptions options;
  options.beta2 = 0.99;
  options.decay_vectors = false;
  optim::AdamW optimizer(student.parameters.tensors(), options);
  const optim::WarmupCosine rate{0.01, 0.0005, 50, steps};
  Generator places(1);
  Series curve{name, {}, {}, /*points=*/true};
  for (std::int64_t step = 0;; ++step) {
    if (step % (steps / 20) == 0)
      curve.append(double(step), late_mean(costs(student, fresh)).value);
    if (step % (steps / 5) == 0)
      quote("step " + pad_left(std::to_string(step), 4) + "  loss " + decimal(curve.y.back(), 4));
    if (step == steps) return curve;
    const Batch batch = random_batch(corpus.training(), 8, T, places);  // (B, T)
    optim::zero_grad(student.parameters.tensors());
    backward(cross_entropy(student.scores(batch.inputs), batch.targets));
    optim::clip_grad_norm(student.parameters.tensors(), 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
}

// What the student writes, with / for the end of a line.
std::string written(const Student& student, const Vocabulary& letters) {
  Generator random(5);
  GenerateOptions options;
  options.tokens = 71;
  std::string text = letters.decode(generate(student.model, {0}, options, random));
  std::replace(text.begin(), text.end(), '\n', '/');
  return text;
}

// For the brief form: eight letters, each by chance that depends on the one before.
MarkovSource simple_source() {
  std::vector<MarkovSource::State> states(8);
  for (std::size_t s = 0; s < 8; ++s) {
    const auto to = [s](std::size_t step, double p) {
      return MarkovSource::Letter{char('a' + (s + step) % 8), p, (s + step) % 8};
    };
    states[s].letters = {to(1, 0.5), to(3, 0.25), to(4, 0.25)};
  }
  return MarkovSource(states);
}

int main() {
  set_num_threads(1);  // so small a model is not worth sharing

  section("What a guess costs");
  say("A model's loss is what its guesses cost, in nats: -ln of the share it gave to",
      "the letter that came. (A letter here is any symbol: blanks and line ends count.)",
      "Is 0.25 good? Is 1.9? For a play or a novel nobody can say, for nobody knows how",
      "much of it can be guessed at all. So here is a text made by chance, of which all",
      "is known: `heed corpus` writes such texts.", "");
  const MarkovSource grammar = grammar_source();
  Generator beginning(1);
  say(grammar.draw(141, beginning));
  say("Somebody draws an animal, one of it or several, a place, and what it does there.",
      "Each has two verbs of its own, and does the first three times in four. And a cat",
      "'purrs', but cats 'purr': the last word hangs on letters far back.");

  section("256 sentences");
  say("How much of a sentence can't be guessed, even by somebody who knows all this?",
      "Each has a probability p, and costs -ln p. The mean of that over all sentences",
      "is the entropy, the sum of -p ln p. By hand, a loop over all of them. In one",
      "line, choice by choice: a subject of 8, a little word of 4, a place of 4, and",
      "the verb, which is one of two.");
  const Table sentences = all_sentences();
  const double nats =
      std::log(8) + std::log(4) + std::log(4) - 0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  const double each_letter = nats / mean_length(sentences);
  say("", "sentences           " + std::to_string(sentences.size()),
      "nats a sentence       " + decimal(nats, 4),
      "letters a sentence   " + decimal(mean_length(sentences), 4),
      "nats a letter         " + decimal(each_letter, 4), "");
  same("nats a sentence: all sentences = choice by choice", entropy(sentences), nats);
  say("", "Shannon (1948) has another way, for any source that is always in one of some",
      "states and draws its next letter by that state's chances, provided state and",
      "letter give the next state: the entropy of each choice, times the share of time",
      "spent in the state. heed's Source does that. It has " +
          std::to_string(grammar.states().size()) + " states, for it",
      "remembers the subject until the verb has come.", "");
  same("nats a letter: by sentence = by state", each_letter, grammar.entropy_rate());

  section("Floors for those who see less");
  say("Less than that nobody can pay in the long run: it is the true floor. Who sees",
      "less never pays less. Who only knows how often each letter comes pays the",
      "entropy of single letters: the unigram floor. Who sees the letter before as",
      "well pays the entropy of pairs, less that of the first of the pair: the bigram", "floor.",
      "");
  const double one = entropy(stretches(sentences, 1)), two = entropy(stretches(sentences, 2));
  same("unigram floor: by hand = Source's", one, grammar.unigram_entropy());
  same("bigram floor: by hand = Source's", two - one, grammar.bigram_entropy());
  const std::vector<double> floors = grammar.conditional_entropies(T);
  same("floor of who sees 24 letters = the true floor", floors[late], grammar.entropy_rate());
  say("", "letters seen    floor");
  for (const std::size_t seen : {0u, 1u, 2u, 3u, 5u, 9u, 13u, 15u, 17u, 19u, 21u, 24u})
    say(pad_left(std::to_string(seen), 12) + "   " + decimal(floors[seen], 4));
  say("", "Look at 5 to 13: eight letters more, and nothing gained. They say where, and",
      "the verb does not care for that. From 14 on the subject comes into sight.",
      "Nobody gets below " + decimal(floors[13], 4) + " who does not look that far back.");

  section("A model that looks back");
  const MarkovSource source = brief() ? simple_source() : grammar;
  Generator random(1);
  const std::string text = source.draw(200'000, random);
  const Vocabulary letters = Vocabulary::of_text(text);
  const Corpus corpus(text, letters);
  nn::GptConfig config;
  config.vocab_size = letters.size();
  config.block_size = T;
  config.layers = 2;
  config.heads = 2;
  config.embed_dim = 32;
  nn::AttentionMask past;
  past.causal = true;
  Student honest(config, past);
  const Fresh some = fresh_text(source, letters, std::size_t(in_brief(512, 64)), 2);
  say("Two blocks of lesson 13, two heads each, width 32, and 200,000 letters to learn",
      "from. What counts is what it pays for a fresh text, drawn with another seed.", "");
  const Series curve = train(honest, corpus, some.windows, in_brief(2500, 300), "the model");

  section("Windows begin in the middle of nowhere");
  say("A window is cut from anywhere. Its first letters have little before them, and",
      "must cost more. How much is known too: who has seen k letters pays the floor",
      "for k, or more.", "",
      "A fresh text is a sample, and its letters may be cheap by luck, for anybody. So",
      "ask what the very same letters cost who knows the source: -ln p, by its states.",
      "Luck hits both alike. What the model pays more, plus the true floor, is its loss",
      "with most of that luck taken out:");
  const Fresh fresh = fresh_text(source, letters, std::size_t(in_brief(4096, 256)), 3);
  const Array cost = costs(honest, fresh.windows);  // (W, T)
  const Array beyond = cost - fresh.source_cost;    // (W, T)
  const Array by_place = xt::mean(beyond, {0});     // (T)
  const std::vector<double> least = source.conditional_entropies(T);
  Series paid{"the model", {}, {}, true}, floor{"floor of who has seen so many", {}, {}};
  say("", "letters seen    floor   the model");
  for (std::size_t t = 0; t < T; ++t) {
    const double its = source.entropy_rate() + double(by_place(t));
    if (t >= 4) {  // the first four are so high that they would flatten the rest
      paid.append(double(t + 1), its);
      floor.append(double(t + 1), least[t + 1]);
    }
    if ((t < 4 || t % 4 == 0) && t <= late)
      say(pad_left(std::to_string(t + 1), 12) + "   " + decimal(least[t + 1], 4) + "   " +
          trained(its));
  }
  picture(lesson, "places", {paid, floor},
          {"the later in a window, the cheaper", "letters seen, from 5 on", "nats per letter"});
  say("", "It does look back as far as it should. (Among the first places a dot may be",
      "below its floor: that is luck which was left in.) The mean of these floors is",
      "all that whole windows of 48 can reach: " + decimal(source.window_entropy(T), 4) +
          ". (heed corpus says it for",
      "64, which heed train takes.) But who has seen 24 letters has seen all that",
      "matters. So the losses in training, and below, are of the letters after those,",
      "and theirs is the true floor.");

  section("Near the floor, and not below");
  const Mean known = late_mean(fresh.source_cost), its = late_mean(cost), more = late_mean(beyond);
  say("(Standard error: how far off, by chance, such a mean typically is.)", "",
      "                           nats a letter   standard error",
      "true floor                 " + decimal(source.entropy_rate(), 4),
      "who knows the source       " + decimal(known.value, 4) + "          " +
          decimal(known.error, 4),
      "the model                 " + trained(its.value, 3), "");
  claim("the model comes within 3 % of the true floor",
        source.entropy_rate() + more.value < 1.03 * source.entropy_rate(), decimal(its.value, 4));
  claim("it pays no less than who knows the source, but for 3 standard errors",
        more.value > -3 * more.error, decimal(more.value, 5));

  section("A leak");
  say("Now the mistake of lesson 07: the mask is off by one place. Each letter also",
      "sees the next, which it should guess. Nothing else is changed.", "");
  nn::AttentionMask off_by_one;
  off_by_one.mask = xt::equal(tril(Tensor(ones({T, T})), 1).value(), 1);
  Student leaking(config, off_by_one);
  const Series leak = train(leaking, corpus, some.windows, in_brief(2500, 300), "with a leak");
  const Array leaked = costs(leaking, fresh.windows);
  const Mean its_loss = late_mean(leaked), less = late_mean(Array(fresh.source_cost - leaked));
  say("");
  claim("with a leak, the loss is below the true floor",
        its_loss.value < 0.9 * source.entropy_rate(), decimal(its_loss.value, 4));
  claim("and that is no chance: it is by 10 standard errors and more", less.value > 10 * less.error,
        decimal(less.value, 5));
  picture(lesson, "loss", {curve, leak},
          {"loss on fresh text",
           "step",
           "loss (nats per letter)",
           {{"unigram", source.unigram_entropy()},
            {"bigram", source.bigram_entropy()},
            {"true", source.entropy_rate()}}});
  say("", "By its curve the second model is the better one, and fresh text does not help:",
      "the answers leak there as well. But nobody can be that good. Below the true",
      "floor means: it sees what it should guess. That is how you know. Now let both",
      "write, with nothing to see but what they wrote. First the honest one, / for a",
      "line's end:", "");
  quote(written(honest, letters));
  quote(written(leaking, letters));
  say("", "The other never learned to guess. Where no answer stands, it has nothing to", "say.");

  section("Before and after");
  say("                before     after    true floor",
      "the model       " + trained(curve.y.front()) + "     " + trained(its.value) + "     " +
          decimal(source.entropy_rate(), 4),
      "with a leak     " + trained(leak.y.front()) + "     " + trained(its_loss.value) + "     " +
          decimal(source.entropy_rate(), 4),
      "", "To try the code of a model of yours for leaks, let it learn what heed corpus",
      "writes, and read its losses beside the floors that it says.", "",
      "A text of your own has no floor that anybody knows. How do you know there that a",
      "model has learned it well? That is the next lesson: 15_your_text.", "",
      "To watch a window pass through the blocks: start gdb with ./heed debug 14, and",
      "in it: break Student::scores, continue, next, print x, and so on, a few times.");
}
