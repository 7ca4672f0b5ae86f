// 18 fill_in_the_blank: a masked language model, trained as BERT, and the head that finds a noun.
//
// Before this lesson: 16_looking_inside, attention patterns and ablation in a causal model.
// After it: 19_query_key_space, the queries and keys of one head of this model.
// Worth a breakpoint: mask_by_hand (in by_hand.hpp). Two random numbers decide what happens to
// each token.

#include <algorithm>
#include <cmath>

#include "by_hand.hpp"
#include "patching.hpp"

using namespace heed;

const std::string lesson = "18_fill_in_the_blank", folder = "runs/lessons/" + lesson;
const std::int64_t steps = in_brief(2000, 800);
const std::string two_doors = "i was watching the doors when [MASK] opened .";
const Names layers = {"layer 0", "layer 1"}, heads = {"head 0", "head 1", "head 2", "head 3"};

void mask_tokens(const Vocabulary& vocabulary) {
  section("Masked language model");
  say("A MASKED LANGUAGE MODEL predicts tokens from the tokens on both sides. BERT",
      "chooses 15 % of the tokens: with more, less context is left; with fewer, there",
      "is less to predict. We choose each token except the full stop with probability",
      "15 %. Of the chosen, 80 % become the [MASK] TOKEN. But BERT's later tasks have",
      "no [MASK]. So 10 % become a random word and 10 % stay: the model must predict at",
      "any word. We choose anew for each batch: DYNAMIC MASKING (Liu et al. 2019,", "RoBERTa).",
      "");
  Generator sentences(20), numbers(21), same(21);
  const Indices tokens =  // (5000, 9)
      encoded(vocabulary, texts_of(draw_sentences(sentences, 5000, From::training)));
  const Masked by_hand = mask_by_hand(tokens, vocabulary, numbers);
  const Masked m = masked(tokens, vocabulary, same);
  for (std::size_t i = 0; i < 4; ++i) say("  " + described(m, i, vocabulary));
  const MaskedFractions fractions = fractions_of(m, tokens, vocabulary);
  say("", "In the last one, the random word 'lamps' replaces 'the'.", "",
      "chosen, of 40,000 tokens   " + decimal(fractions.chosen, 4),
      "of these now [MASK]        " + decimal(fractions.mask, 4),
      "of these unchanged         " + decimal(fractions.unchanged, 4));
  check("inputs by hand = masked", Array(by_hand.seen), Array(m.seen), 0);
  check("targets by hand = masked", Array(by_hand.targets), Array(m.targets), 0);
}

void train_model(BlankModel& model, const std::vector<Sentence>& held_out) {
  section("Loss and training");
  say("The loss is the mean cross-entropy at the chosen positions. All others have the",
      "target -100, which cross_entropy leaves out of the mean. The model has 2 blocks",
      "with 4 heads and width 32. It trains for " + std::to_string(steps) +
          " steps on batches of 64 sentences.");
  Generator first(19);
  const Masked batch = next_batch(model, first);  // 64 sentences
  const Tensor logits = model.gpt(batch.seen);    // (64, T, V)
  const Array p = softmax(logits, -1).value();
  check("loss by hand = cross_entropy", scalar(loss_by_hand(p, batch.targets)),
        cross_entropy(logits, batch.targets), 1e-4);
  BlankModel twin(1);
  Series points{"held out, one [MASK]", {}, {}, /*points=*/true};
  const std::vector<double> by_hand = train_by_hand(twin, 20, steps),
                            losses = train(model, steps, [&](std::int64_t step) {
                              if (step % (steps / in_brief(8, 2)) == 0)
                                points.append(double(step), one_mask_loss(model, held_out));
                            });
  check("20 losses by hand = those of train", Array(xt::adapt(by_hand)),
        Array(xt::view(xt::adapt(losses), xt::range(0, 20))), 0);
  const double uniform = std::log(52), entropy = conditional_entropy(model.vocabulary, held_out);
  say("", "loss of the uniform distribution, ln 52      " + decimal(uniform, 4),
      "training, last 100 steps                   " + trained(means_of(losses, 100).back()),
      "held out, one [MASK] per sentence          " + trained(points.y.back()),
      "entropy of the grammar, one [MASK]          " + decimal(entropy, 4), "",
      "'one [MASK]': each word is in turn the only [MASK] of its sentence, in " +
          std::to_string(held_out.size()) + " draws",
      "of held-out sentences. (In training a sentence can have several [MASK] and",
      "random words, which makes it harder.) The entropy of the whole grammar is above",
      "0, because several subjects, verbs or nouns fit. As in lesson 14 we compare each",
      "word with the grammar's probability p:", "");
  const Excess excess = excess_loss(model, held_out);
  quote("model's loss minus -ln p: " + decimal(excess.mean, 4) + ", standard error " +
        decimal(excess.standard_error, 4));
  say("", "Here the expectation of this excess loss could be below 0: p is right for the",
      "whole grammar, not for its held-out part, whose probability in training is 0.");
  draw_losses(lesson, losses, points, uniform, entropy);
}

HeadIndex find_head(const BlankModel& model, const std::vector<Sentence>& about) {
  section("Which head attends to the object?");
  say("[MASK] replaces the pronoun again. Here is each head's attention weight from",
      "[MASK] to the object, the mean over 100 training sentences. (Uniform weights",
      "would be 1/9 or 1/10: a sentence has 9 or 10 tokens.) We choose the head with",
      "the largest weight and measure it on the " + std::to_string(about.size()) +
          " held-out sentences about objects.",
      "");
  const Array weights = attention_to_object(model, training_sentences_about_objects(100));
  quote(table(weights, {"mean attention weight", layers, heads, 2}));  // (2, 4)
  const HeadIndex at = largest_head(weights);
  const std::string name =
      "layer " + std::to_string(at.layer) + ", head " + std::to_string(at.head);
  const double held_out = attention_to_object(model, about)(at.layer, at.head),
               of_subject = attention_to_object(model, held_out_once([](const Sentence&s) {
                                                  return !s.of_object;
                                                }))(at.layer, at.head);
  const Array A = weights_of(model, at, one_door), row = xt::row(A, 6);  // (9, 9) and (9)
  quote("chosen head: " + name + "\nmean weight, held-out sentences about objects   " +
        decimal(held_out, 2) + "\nthe same, if the pronoun refers to the subject  " +
        decimal(of_subject, 2) + "\nweight on 'door', first sentence                " +
        decimal(row(4), 2));
  const Names words = with_blank(door_sentence(), Part::pronoun);
  Names rows = words;
  rows[6] = "▶ [MASK]";
  picture_trained(lesson, "head", A,
                  {name + ": weights", rows, words, "query position", "key position", 0, 1});
  picture_of_endings(model, at, name, lesson);
  say("");
  claim_less("its mean weight from [MASK] to the object, held out: above 0.5", 0.5, held_out);
  claim("in the door sentence, the largest weight of [MASK] is on 'door'",
        xt::amax(row)() == row(4), decimal(row(4), 2));
  say("", "Is this attention special to [MASK]? A control: the mean weight of this head on",
      "the object, from each query position of the held-out sentences of nine words",
      "about objects:");
  show_trained("mean weight on the object", weight_on_object(model, about, at), {"weight"},
               {"subject", "was", "verb", "the", "object", "when", "[MASK]", "ending", "."});
  say("", "So it is not special: the ending and '.' attend to the object too.");
  return at;
}

void experiments(const BlankModel& model, const std::vector<Sentence>& about, HeadIndex at) {
  section("Does the prediction need this head?");
  const double n = double(about.size()), error = std::sqrt(0.25 / n);
  say("We ablate one head at a time, as in lesson 16, and measure the accuracy on these",
      decimal(n, 0) + " pronouns. Each is right (1) or wrong (0): a standard deviation of at most",
      "0.5. So the standard error (lesson 14) is at most 0.5 / sqrt(" + decimal(n, 0) +
          ") = " + decimal(error, 2) + ".",
      "");
  Array without = accuracy_without(model, about), others = without;
  quote(table(without, {"accuracy without this head", layers, heads, 2}));
  others(at.layer, at.head) = 1;
  claim_less("without the chosen head it is 0.15 lower than without any other head",
             without(at.layer, at.head), xt::amin(others)() - 0.15);
  say("", "Ablation removes the head's output at all positions. So we also remove it at one",
      "position alone, [MASK] or '.', and compare with the constant 'it':", "");
  const double constant = baselines(model.vocabulary, about, Part::pronoun).constant;
  const WithoutAt gone_here = predictions_without_at(Where::mask, model, about, at),
                  gone_there = predictions_without_at(Where::full_stop, model, about, at);
  quote("accuracy without the output at [MASK]  " + decimal(gone_here.accuracy, 2) +
        "\naccuracy without the output at '.'     " + decimal(gone_there.accuracy, 2) +
        "\naccuracy of the constant 'it'          " + decimal(constant, 2) +
        "\npredictions without that at [MASK]: 'it' " + decimal(gone_here.it, 2) + ", 'they' " +
        decimal(gone_here.they, 2) + ", others " + decimal(1 - gone_here.it - gone_here.they, 2));
  claim_less("without the output at [MASK] the accuracy falls by more than 0.2", gone_here.accuracy,
             accuracy(model, about, Part::pronoun) - 0.2);
  claim_less("without the output at '.' it falls by less than 0.1",
             accuracy(model, about, Part::pronoun) - 0.1, gone_there.accuracy);
  say("", "Without it the model still predicts 'it' or 'they', but often the wrong one. The",
      "output at '.' is not needed, though '.' attends to the object as much as [MASK].");
  patch_heads(model, about, at, layers, heads);
  const std::string it = most_probable_word(model, one_door),
                    they = most_probable_word(model, two_doors);
  claim("'door' gives 'it' and 'doors' gives 'they'", it == "it" && they == "they",
        it + " and " + they);
}

int main() {
  opening({"to train a masked language model and find a head that it needs",
           "loss = mean over chosen (n, t) of -ln p[n,t,token[n,t]]  p (N, T, V)",
           "masked language model: Devlin et al., \"BERT: Pre-training of Deep\n"
           "Bidirectional Transformers for Language Understanding\", section 3.1,\n"
           "2019",
           "nn.Embedding and nn.TransformerEncoder without a mask;\n"
           "F.cross_entropy(ignore_index=-100)"});
  BlankModel model(1);
  const auto held_out = held_out_sentences(300, [](const Sentence&) { return true; }),
             each = held_out_once([](const Sentence&) { return true; }),
             about = held_out_once([](const Sentence&s) { return s.of_object; });
  show_grammar(model.vocabulary, held_out);
  compare_directions();
  mask_tokens(model.vocabulary);
  train_model(model, held_out);
  measure_accuracy(model, each, about);
  predict_the_noun(model);
  experiments(model, about, find_head(model, about));
  save(model, folder);
  say("", "The model is saved. To see all its heads:", "", "  ./heed look " + folder + " \\",
      "    --text '" + one_door + "'", "",
      "To see how tokens are chosen: ./heed debug 18, and in gdb: break mask_by_hand,",
      "continue, next until in the loops, display choice, display action, next.");
  questions(
      "Which head attends to the object with other initial weights? In main change\n"
      "model(1) to model(2), in train_model twin(1) to twin(2).",
      "Which word does the model predict if people act? In two_doors, change\n"
      "'opened' to 'sneezed'.",
      "Which claim fails after 200 steps? In the line of `steps`, change 2000.");
}
