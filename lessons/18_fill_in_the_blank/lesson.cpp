// 18 fill_in_the_blank: eight masked language models, and the head that attends to the noun.
//
// Worth a breakpoint: mask_by_hand. Two random numbers decide what happens to each token.

#include <algorithm>

#include "guess.hpp"
#include "in_threads.hpp"
#include "interventions.hpp"

using namespace heed;

const std::int64_t steps = in_brief(1000, 500);
constexpr std::uint64_t number_of_models = 8;

void sentences_with_a_pronoun() {
  section("Sentences with a pronoun");
  const auto some = held_out_sentences(300, [](const Sentence&) { return true; });
  for (const std::size_t i : {58, 116, 174, 290}) say("  " + text_of(some[i].words));
  say({{"all", combinations(From::training) + combinations(From::held_out)},
       {"held_out", combinations(From::held_out)}});
}

// Chooses each token except full stops with probability 15 %. Tokens that are not chosen have the
// target -100.
Masked mask_by_hand(const Indices& tokens, const Vocabulary& words, Generator& generator) {
  const Shape shape = {tokens.shape(0), tokens.shape(1)};                        // (N, T)
  const Array choices = generator.rand(shape), actions = generator.rand(shape);  // from 0 to 1
  const Indices random_words = generator.randint(0, std::int64_t(words.size()), shape);
  Masked m{tokens, tokens};
  for (std::size_t i = 0; i < shape[0]; ++i)
    for (std::size_t t = 0; t < shape[1]; ++t) {
      const Real choice = choices(i, t), action = actions(i, t);
      const bool chosen = tokens(i, t) != words.find(".") && choice < Real(0.15);
      if (!chosen) m.targets(i, t) = -100;
      if (chosen && action < Real(0.8)) m.seen(i, t) = words.find("[MASK]");
      if (chosen && action >= Real(0.8) && action < Real(0.9)) m.seen(i, t) = random_words(i, t);
    }
  return m;
}

void predict_from_both_sides() {
  section("Predict from both sides");
  const BlankModel causal(1, true), both(1);
  const std::string opened = text_of(blanked(door_sentence())),
                    rang = "i was watching the door when [MASK] rang .";
  check("causal mask: the same logits at [MASK]", logits_at_mask(causal, opened),
        logits_at_mask(causal, rang), 0);
  const Array change = xt::abs(logits_at_mask(both, opened) - logits_at_mask(both, rang));
  claim("no causal mask: other logits", xt::amax(change)() > 0.001, "the same logits");
  say();
  Generator first(20), numbers(21), same(21);
  const Indices tokens = encoded(both.vocabulary, training_texts(first));  // (64, T)
  const Masked m = mask_by_hand(tokens, both.vocabulary, numbers);
  for (const std::size_t i : {1, 9}) say("  " + described(m, i, both.vocabulary));
  check("by hand = masked()", Array(m.seen), Array(masked(tokens, masking_of(both), same).seen), 0);
  say();
}

std::vector<BlankModel> eight_models() {
  const auto each = held_out_once([](const Sentence&) { return true; });
  section("Eight models", {{"steps", steps}, {"each", each.size()}});
  const auto models = in_threads<BlankModel>(number_of_models, [](std::uint64_t seed) {
    BlankModel model(seed);
    train(model, steps, Generator(18 + seed));
    return model;
  });
  show_models(models, each, sentences());
  say({{"about", sentences().size()}});
  return models;
}

struct Found {  // in one model
  HeadIndex head;
  Array weights;  // (2, 4): of each head from [MASK] to the object, held-out sentences
};

std::vector<Found> find_heads(const std::vector<BlankModel>& models) {
  section("Which head attends to the noun?", {{"about", sentences().size()}});
  const auto found = in_threads<Found>(number_of_models, [&](std::uint64_t seed) {
    const BlankModel& model = models[seed - 1];
    const auto training = training_sentences_about_objects(100);
    return Found{largest_head(attention_to_object(model, training)),
                 attention_to_object(model, sentences())};
  });
  show_heads(found);
  say();
  picture_of_heads(models, found, blanked(door_sentence()));
  say();
  return found;
}

// What a head adds to the output of its attention: A V of the head, times its columns of W_O.
Array heed::output_of(const BlankModel& model, HeadIndex at, const Names& words) {
  Tensor x = model.gpt.embed(encoded(model.vocabulary, {words}));  // (1, T, C)
  for (std::size_t l = 0; l < at.layer; ++l) x = model.gpt.blocks[l](x);
  const nn::Block& block = model.gpt.blocks[at.layer];
  const Tensor y = block.norm1(x);
  const auto h = std::int64_t(at.head);
  const Tensor A = select(block.attention.weights(y, y), 1, h);              // (1, T, T)
  const Tensor V = slice(block.attention.value(y), -1, 8 * h, 8 * h + 8);    // (1, T, 8)
  const Tensor W = slice(block.attention.out.weight, -1, 8 * h, 8 * h + 8);  // (C, 8)
  return select(linear(matmul(A, V), W), 0, 0).value();                      // (T, C)
}

Array nothing(const Head& head) { return -head.output; }
Array nothing_at_mask(const Head& head) {
  return only_row(-head.output, head.s.position(Part::pronoun));
}
Array nothing_at_stop(const Head& head) { return only_row(-head.output, head.s.words.size() - 1); }
Array of_other_number(const Head& head) {
  const Array other = output_of(head.model, head.at, blanked(with_other_number(head.s)));
  return only_row(other - head.output, head.s.position(Part::pronoun));
}

std::string right(const Sentence& s) { return s.word(Part::pronoun); }
std::string other(const Sentence& s) { return s.plural ? "it" : "they"; }

void is_it_necessary(const std::vector<BlankModel>& models, const std::vector<Found>& found) {
  section("Is the head necessary?", {{"about", sentences().size()}});
  check_outputs(models[0]);
  const auto rows = in_threads<Array>(number_of_models, [&](std::uint64_t seed) {
    const BlankModel& model = models[seed - 1];
    const HeadIndex head = found[seed - 1].head;
    Array row = {Real(fraction(model, head, nothing, right)),
                 Real(fraction(model, head, nothing_at_mask, right)), 1};
    for (const HeadIndex at : all_heads)
      if (!(at == head)) row(2) = std::min(row(2), Real(fraction(model, at, nothing, right)));
    return row;
  });
  show_ablations(rows);
  std::vector<double> left;  // the accuracies without the head
  for (const Array& row : rows) left.push_back(row(0));
  const double at_stop = fraction(models[0], found[0].head, nothing_at_stop, right);
  const std::size_t necessary = number_of_models - count_above(left, 0.75);
  say({{"necessary", necessary},
       {"all", number_of_models},
       {"at_stop", trained(at_stop)},
       {"others", models_between(left, 0.75, 2)}});
}

std::vector<Array> is_it_sufficient(const std::vector<BlankModel>& models,
                                    const std::vector<Found>& found) {
  section("Is it sufficient?", {{"about", sentences().size()}});
  const auto patched = in_threads<Array>(number_of_models, [&](std::uint64_t seed) {
    Array changed = zeros({2, 4});
    for (const HeadIndex at : all_heads)
      changed(at.layer, at.head) = Real(fraction(models[seed - 1], at, of_other_number, other));
    return changed;
  });
  show_patches(found, patched);
  const std::vector<double> effects = effects_of(found, patched);
  const Values names = {{"divided", models_between(effects, 0.1, 0.9)},
                        {"warning", models_between(effects, -1, 0.1)}};
  say(names);
  show_without_both(models, found, patched);
  say(names);
  return patched;
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  opening();
  const Guess guess("of eight models, those in which the head decides");
  sentences_with_a_pronoun();
  predict_from_both_sides();
  const std::vector<BlankModel> models = eight_models();
  const std::vector<Found> found = find_heads(models);
  is_it_necessary(models, found);
  const std::vector<Array> patched = is_it_sufficient(models, found);
  const std::size_t deciding = count_above(effects_of(found, patched), 0.9);
  guess.compare(std::to_string(deciding));
  say({{"deciding", deciding}, {"all", number_of_models}});
  picture_of_effects(found, patched);
  say();
  save(models[0], "runs/lessons/18_fill_in_the_blank");
  ending();
}
