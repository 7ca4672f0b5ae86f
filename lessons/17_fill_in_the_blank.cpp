// 17 fill_in_the_blank: a model that sees both ways fills in a word, and one head finds the door.
//
// Before this lesson: 16_looking_inside, the heads of a model that writes.
// After it: 18_query_key_space, the queries and keys behind such a row, as a map.
// Worth a breakpoint: mask_by_hand. Two numbers, choice and fate, decide what becomes of a word.

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fill_in_the_blank.hpp"
#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/report/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "heed/train/model_file.hpp"

using namespace heed;

const std::string lesson = "17_fill_in_the_blank";
const std::int64_t steps = in_brief(2000, 800);
const std::string one_door = "i was watching the door when [MASK] opened .";
const std::string two_doors = "i was watching the doors when [MASK] opened .";

// Words are chosen with a chance of 15 %, the full stop never. Of the chosen, 80 % become [MASK],
// 10 % any word, 10 % stay. What is not chosen is no target: -100.
Masked mask_by_hand(const Indices& tokens, const Vocabulary& vocabulary, Generator& generator) {
  const Shape shape = {tokens.shape(0), tokens.shape(1)};  // (N, T)
  const Array choices = generator.rand(shape), fates = generator.rand(shape);
  const Indices any = generator.randint(0, std::int64_t(vocabulary.size()), shape);
  Masked m{tokens, tokens};
  for (std::size_t i = 0; i < shape[0]; ++i)
    for (std::size_t t = 0; t < shape[1]; ++t) {
      const Real choice = choices(i, t), fate = fates(i, t);  // from 0 to 1
      const bool chosen = tokens(i, t) != vocabulary.find(".") && choice < Real(0.15);
      if (!chosen) m.targets(i, t) = -100;
      if (chosen && fate < Real(0.8)) m.seen(i, t) = vocabulary.find("[MASK]");
      if (chosen && fate >= Real(0.8) && fate < Real(0.9)) m.seen(i, t) = any(i, t);
    }
  return m;
}

// The mean of -ln of the share that each chosen place gives to the word that stood there.
Real loss_by_hand(const Array& shares, const Indices& targets) {  // (N, T, V) and (N, T)
  Real sum = 0, count = 0;
  for (std::size_t i = 0; i < targets.shape(0); ++i)
    for (std::size_t t = 0; t < targets.shape(1); ++t) {
      if (targets(i, t) == -100) continue;
      sum -= std::log(shares(i, t, std::size_t(targets(i, t))));
      count += 1;
    }
  return sum / count;
}

// The loop of train(), in fill_in_the_blank.cpp, written out: the losses of the first `few` steps.
std::vector<double> train_by_hand(BlankModel& model, std::int64_t few) {
  set_num_threads(1);  // so little work is done before a second thread has woken up
  const std::vector<Tensor>& parameters = model.parameters.tensors();
  optim::AdamWOptions options;
  options.beta2 = 0.99;
  optim::AdamW optimizer(parameters, options);
  const optim::WarmupCosine rate{0.007, 0.0001, 50, steps};
  Generator generator(19);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < few; ++step) {
    const Masked batch = next_batch(model, generator);                        // (64, T)
    const Tensor loss = cross_entropy(model.gpt(batch.seen), batch.targets);  // of (64, T, V)
    optim::zero_grad(parameters);
    backward(loss);
    optim::clip_grad_norm(parameters, 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    losses.push_back(double(loss.item()));
  }
  return losses;
}

// The scores (V) of the word at place 6.
Array scores_at_6(const nn::Gpt& model, const Indices& tokens) {
  return xt::view(model(tokens).value(), 0, 6, xt::all());
}

// What each head's [MASK] row gives the object when the pronoun is the blank: (layers, heads).
Array shares_on_object(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array mean = zeros({model.gpt.config.layers, model.gpt.config.heads});
  for (const Sentence& s : sentences) {
    const Indices tokens = encoded(model.vocabulary, {with_blank(s, Part::pronoun)});
    const std::vector<LayerAttention> layers = capture_attention(model.gpt, tokens);
    for (std::size_t l = 0; l < mean.shape(0); ++l)
      for (std::size_t h = 0; h < mean.shape(1); ++h)
        mean(l, h) += layers[l].weights(0, h, s.place(Part::pronoun), s.place(Part::object)) /
                      Real(sentences.size());
  }
  return mean;
}

// The accuracy on the pronoun with one head removed, for each head: (layers, heads).
Array without_each(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array left = zeros({model.gpt.config.layers, model.gpt.config.heads});
  for (std::size_t l = 0; l < left.shape(0); ++l)
    for (std::size_t h = 0; h < left.shape(1); ++h) {
      const AblatedHead removed(model.gpt, l, h);  // until the end of this round
      left(l, h) = Real(accuracy(model, sentences, Part::pronoun));
    }
  return left;
}

int main() {
  section("A small world");
  say("Attention is best known by a picture: the row of a pronoun points at the noun it",
      "stands for. We want such a picture of a model of our own, and to know whether it",
      "is true. So we make up a world small enough to know all of it:", "");
  const Vocabulary vocabulary = sentence_vocabulary();
  const auto any = [](const Sentence&) { return true; };
  const std::vector<Sentence> held_out = held_out_sentences(300, any);
  say("  " + text_of(door_sentence().words));
  for (std::size_t i = 0; i < 5; ++i) say("  " + text_of(held_out[58 * i].words));
  say("", "Doors open, phones ring, babies cry. Nothing does what is not its own, and only",
      "people sneeze, laugh or speak. 24 words name things, one or many of each. 'old'",
      "and 'again' tell nothing, but they keep words from having fixed places.", "",
      "words of this world, with [MASK]      " + std::to_string(vocabulary.size()),
      "sentences for training                " + std::to_string(combinations(From::training)) +
          ", old and again not counted",
      "sentences held out                     " + std::to_string(combinations(From::held_out)) +
          ", a tenth of all, drawn by chance",
      "", "The door's sentence is held out: its subject, verb, object and last verb never",
      "meet in training. Take its pronoun away:", "", "  " + one_door, "",
      "People do not open, so it is not 'i'. But 'it' or 'they'? Only 'door' tells:",
      "with 'doors' it would be 'they'. Who fills this blank must look there.");

  section("Seeing both ways");
  say("Until now a word saw only the past, as in a model that writes. At [MASK], such a",
      "model has not read 'opened' yet. Put 'rang' there, and it cannot tell:");
  BlankModel model(1);
  Parameters weights_one_way;
  Generator same_numbers(1);
  nn::GptConfig config = model.gpt.config;
  config.causal = true;
  const nn::Gpt one_way(Scope(weights_one_way, same_numbers), config);
  const Indices opened = encoded(vocabulary, one_door);
  const Indices rang = encoded(vocabulary, "i was watching the door when [MASK] rang .");
  check("one way: the scores at [MASK] keep every bit", scores_at_6(one_way, opened),
        scores_at_6(one_way, rang), 0);
  Array change = xt::abs(scores_at_6(model.gpt, opened) - scores_at_6(model.gpt, rang));  // (V)
  claim("both ways: they change", *std::max_element(change.begin(), change.end()) > 0.001,
        "they do not");
  say("", "So our model has no causal mask (GptConfig::causal is false): each word sees all",
      "others. The rest is lesson 13's: 2 blocks of 4 heads, width 32. (The first",
      "weights are eight times GPT-2's: at width 32, 0.02 is very small. And words read",
      "and words told have a matrix each: GptConfig::tied is false.) But what is it to",
      "learn? Not the next word; that it sees.");

  section("15 words of a hundred");
  say("BERT (Devlin et al. 2019) hides words and asks for them. Each is chosen with a",
      "chance of 15 %. Of the chosen, 80 % become [MASK]; but texts to be read later",
      "have no [MASK], so 10 % become any word, and 10 % stay. Thus no word can be",
      "trusted, and the model needs an opinion of each. We spare the full stop.", "");
  std::vector<Names> texts;
  Generator sentences(20), numbers(21), same(21);
  for (const Sentence& s : draw_sentences(sentences, 5000, From::training))
    texts.push_back(s.words);
  const Indices tokens = encoded(vocabulary, texts);  // (5000, 9)
  const Masked by_hand = mask_by_hand(tokens, vocabulary, numbers);
  const Masked m = masked(tokens, vocabulary, same);
  for (std::size_t i = 0; i < 4; ++i) say("  " + described(m, i, vocabulary));
  double chosen = 0, hidden = 0, stayed = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (m.targets.data()[i] == -100) continue;
    chosen += 1;
    hidden += m.seen.data()[i] == vocabulary.find("[MASK]") ? 1 : 0;
    stayed += m.seen.data()[i] == tokens.data()[i] ? 1 : 0;
  }
  say("", "chosen, of 40,000 words     " + decimal(chosen / 40000, 4),
      "of these now [MASK]         " + decimal(hidden / chosen, 4),
      "of these as they were       " + decimal(stayed / chosen, 4) + ", some drawn by chance");
  check("by hand = in one line: what is seen", Array(by_hand.seen), Array(m.seen), 0);
  check("by hand = in one line: what is asked", Array(by_hand.targets), Array(m.targets), 0);

  section("The loss, where a word was chosen");
  say("The model gives shares to all words at all places. Only chosen places count: at",
      "others the target is -100, which cross_entropy passes over.");
  Generator first(19);
  const Masked batch = next_batch(model, first);  // 64 sentences
  const Tensor scores = model.gpt(batch.seen);    // (64, T, V)
  check("by hand = in one line", scalar(loss_by_hand(softmax(scores, -1).value(), batch.targets)),
        cross_entropy(scores, batch.targets), 1e-4);

  section("Training");
  say("A step: 64 new sentences, masked; their loss; its gradients; AdamW. The loop is",
      "in train_by_hand above, and again in fill_in_the_blank.cpp, for lesson 18 trains",
      "the same model. How low can the loss go? A reader who knows the world, with one",
      "blank a sentence, does not know which of two things opened, or who watched it.",
      "Ours is often given several blanks, and wrong words among those it reads. (A",
      "chosen word that stayed is cheaper: it can be read, though not trusted.)", "");
  BlankModel twin(1);
  const std::vector<double> by_loop = train_by_hand(twin, 20), losses = train(model, steps);
  check("20 steps by hand = those of train", Array(xt::adapt(by_loop)),
        Array(xt::view(xt::adapt(losses), xt::range(0, 20))), 0);
  const double blind = std::log(double(vocabulary.size()));
  const double perfect = perfect_loss(vocabulary, held_out);
  say("",
      "a blind guess, ln " + std::to_string(vocabulary.size()) + "          " + decimal(blind, 4),
      "the last 100 steps         " + trained(means_of(losses, 100).back()),
      "who knows all, one blank    " + decimal(perfect, 4));
  Series curve{"training, mean of 20 steps", {}, means_of(losses, 20)};
  for (std::size_t i = 0; i < curve.y.size(); ++i) curve.x.push_back(20 * double(i) + 10);
  CurveOptions curves{"Filling in blanks"};
  curves.y_title = "loss (nats per chosen word)";
  curves.lines = {{"a blind guess", blind}, {"who knows all, one blank", perfect}};
  picture(lesson, "loss", {curve}, curves);

  section("Filling in blanks");
  say("Now 300 held-out sentences. One word of each becomes [MASK], and the likeliest",
      "word must fit: where a thing that opened is missing, any that opens. Beside it",
      "two ways to guess: always the one word that fits most often; or evenly.");
  const Names parts = {"object", "pronoun", "last verb"}, ways = {"model", "one word", "evenly"};
  const Array all = fill_blanks(model, held_out);  // (3, 3)
  show_trained("300 held out", all, parts, ways);
  const auto of_object = [](const Sentence& s) { return s.of_object; };
  const std::vector<Sentence> about = held_out_sentences(200, of_object);
  say("", "The hard ones are those whose pronoun stands for the object. Whoever always says",
      "'it' is right in about half of them.");
  const Array hard = fill_blanks(model, about);
  show_trained("200 of the hard ones", hard, parts, ways);
  say("");
  claim("the pronoun is right in 9 of 10 of all", all(1, 0) > 0.9, decimal(all(1, 0), 2));
  claim("the pronoun is right in 9 of 10 of the hard ones", hard(1, 0) > 0.9,
        decimal(hard(1, 0), 2));
  claim("the object fits in 8 of 10 of the hard ones", hard(0, 0) > 0.8, decimal(hard(0, 0), 2));
  const Array thing = answers(model, {door_sentence()}, Part::object);  // (1, V)
  const auto share = [&](const std::string& word) {
    return double(thing(0, std::size_t(vocabulary.find(word))));
  };
  const double opens = share("door") + share("gate"), open = share("doors") + share("gates");
  say("", "  i was watching the [MASK] when it opened .", "",
      "door and gate      " + trained(opens), "doors and gates    " + trained(open), "");
  claim("this blank is filled with one thing that opens", opens > 0.7, decimal(opens, 2));

  section("Which head looks at the door?");
  say("Blank out the pronoun of each of the 200. How much does the row of [MASK] give",
      "the object, on average, in each head? (Evenly it would be a ninth or tenth.)", "");
  const Array looks = shares_on_object(model, about);  // (2, 4)
  const Names layers = {"layer 0", "layer 1"}, heads = {"head 0", "head 1", "head 2", "head 3"};
  TableOptions options{"share of the object in the [MASK] row", layers, heads, 2};
  quote(table(looks, options));
  const std::size_t best =
      std::size_t(std::max_element(looks.begin(), looks.end()) - looks.begin());
  const std::size_t layer = best / 4, head = best % 4;
  const Array weights =
      xt::view(capture_attention(model.gpt, opened)[layer].weights, 0, head);  // (9, 9)
  quote("the most: layer " + std::to_string(layer) + ", head " + std::to_string(head) +
        "; to 'door' in the door's sentence " + decimal(weights(6, 4), 2));
  say("", "Nobody told it to. It finds the object wherever that stands: 'old' may have",
      "moved it on, and 'again' the pronoun. Here is that head for the door's sentence:");
  Names words = door_sentence().words;
  words[6] = "[MASK]";
  HeatmapOptions shades{"the head that finds the object", words, words, "asks", "answers"};
  shades.low = 0, shades.high = 1;
  picture_trained(lesson, "head", weights, shades);
  say("");
  claim("one head gives the object more than half of the [MASK] row, on average",
        looks.data()[best] > 0.5, decimal(looks.data()[best], 2));
  const Array row = xt::row(weights, 6);
  claim("in that head the [MASK] of the door's sentence gives 'door' the most",
        *std::max_element(row.begin(), row.end()) == row(4), decimal(row(4), 2));

  section("Is it this head?");
  say("A picture shows where a head looks, not what comes of it. So take away one head",
      "at a time, as in lesson 16, and ask for the 200 pronouns again:", "");
  const Array without = without_each(model, about);  // (2, 4)
  options.title = "pronouns right without this head";
  quote(table(without, options));
  Array sorted = without;
  std::sort(sorted.begin(), sorted.end());
  const double median = (sorted.data()[3] + sorted.data()[4]) / 2, gone = without.data()[best];
  say("", "Without the head that looks at the object, the model does little better than one",
      "who always says 'it'; without most others it hardly notices. (Other first",
      "weights let another head do it. With some, two heads share the work, and then",
      "removing one of them shows less.)", "");
  claim("without it 15 of 100 more are wrong than without the median head", gone < median - 0.15,
        decimal(gone, 2) + " and " + decimal(median, 2));
  say("", "The other way round: keep all heads, and give them two doors.", "", "  " + one_door,
      "  " + two_doors, "");
  const std::string it = filled(model, one_door), they = filled(model, two_doors);
  claim("one letter more at the object turns 'it' into 'they'", it == "it" && they == "they",
        it + " and " + they);

  section("Yours to look at");
  const std::string folder = "runs/lessons/" + lesson;
  std::filesystem::create_directories(folder);
  save_model(folder + "/checkpoint.safetensors", model.parameters, model.gpt.config, vocabulary);
  say("The model is saved. Where you ran this lesson, look at all its heads, with any",
      "sentence of its words:", "", "  ./heed look " + folder + " \\",
      "    --text '" + one_door + "'", "",
      "pronouns about the object, always 'it'          " + decimal(hard(1, 1), 2),
      "pronouns about the object, by this model       " + trained(hard(1, 0)), "",
      "Why does the query of [MASK] meet the key of 'door', of all words? Both are",
      "eight numbers, too many to see. The last lesson draws them: 18_query_key_space.", "",
      "To watch words being chosen: start gdb with ./heed debug 17, and in it:",
      "break mask_by_hand, continue, next until in the loops, display choice, display",
      "fate, and next a few times more.");
}
