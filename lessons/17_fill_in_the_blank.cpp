// 17 fill_in_the_blank: a masked language model, trained as BERT, and the head that finds a noun.
//
// Before this lesson: 16_looking_inside, attention patterns and ablation in a causal model.
// After it: 18_query_key_space, the queries and keys of one head of this model.
// Worth a breakpoint: mask_by_hand (in 17_by_hand.hpp). Two random numbers decide what happens to
// each token.

#include <algorithm>
#include <cmath>

#include "17_by_hand.hpp"
#include "heed/report/table.hpp"

using namespace heed;

const std::string lesson = "17_fill_in_the_blank", folder = "runs/lessons/" + lesson;
const std::int64_t steps = in_brief(2000, 800);
const std::string two_doors = "i was watching the doors when [MASK] opened .";
const Names layers = {"layer 0", "layer 1"}, heads = {"head 0", "head 1", "head 2", "head 3"};

void show_grammar(const Vocabulary& vocabulary, const std::vector<Sentence>& held_out) {
  section("Sentences with a pronoun");
  say("Pictures of attention often show a pronoun that attends to its noun. Does such a",
      "picture explain a prediction? We test it on sentences of a small grammar. The",
      "verb after the pronoun, here called the ending, tells what the pronoun means:", "",
      "  " + text_of(door_sentence().words));
  for (std::size_t i = 0; i < 5; ++i) say("  " + text_of(held_out[58 * i].words));
  say("", "words, and the token [MASK] for a hidden word   " + std::to_string(vocabulary.size()),
      "combinations for training                     " +
          std::to_string(combinations(From::training)),
      "combinations held out                          " +
          std::to_string(combinations(From::held_out)),
      "", "A combination is a choice of subject, verb, object and ending. A tenth of all",
      "combinations is held out, that is, not used in training. The six sentences above",
      "are held out. But nearly always the training data has the same subject, object",
      "and ending with another verb, and the pronoun does not depend on this verb. So",
      "we test new sentences, not new pairs of noun and ending. Predict the pronoun:", "",
      "  " + one_door, "",
      "'opened' excludes 'i', because people do not open, and 'door' excludes 'they'.",
      "A model needs both words, and one of them comes after [MASK].");
}

void mask_tokens(const Vocabulary& vocabulary) {
  section("Masked language model");
  say("A MASKED LANGUAGE MODEL predicts tokens from the tokens on both sides. BERT",
      "chooses 15 % of the tokens: enough to learn from, few enough to leave a context.",
      "We choose each token except the full stop with probability 15 %. Of the chosen,",
      "80 % become the [MASK] TOKEN. But BERT's later tasks have no [MASK]. So 10 %",
      "become a random word and 10 % stay: the model must predict at any word.", "");
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
  say("The loss is the mean cross-entropy at the chosen positions. cross_entropy",
      "ignores the target -100. The model has 2 blocks with 4 heads and embed_dim 32.");
  Generator first(19);
  const Masked batch = next_batch(model, first);  // 64 sentences
  const Tensor logits = model.gpt(batch.seen);    // (64, T, V)
  const Array p = softmax(logits, -1).value();
  check("loss by hand = cross_entropy", scalar(loss_by_hand(p, batch.targets)),
        cross_entropy(logits, batch.targets), 1e-4);
  BlankModel twin(1);
  const std::vector<double> by_hand = train_by_hand(twin, 20, steps), losses = train(model, steps);
  check("20 losses by hand = those of train", Array(xt::adapt(by_hand)),
        Array(xt::view(xt::adapt(losses), xt::range(0, 20))), 0);
  const double uniform = std::log(52), entropy = conditional_entropy(model.vocabulary, held_out);
  say("", "loss of the uniform distribution, ln 52      " + decimal(uniform, 4),
      "training, last 100 steps                   " + trained(means_of(losses, 100).back()),
      "held out, one [MASK] per sentence          " + trained(one_mask_loss(model, held_out)),
      "entropy of the grammar, one [MASK]          " + decimal(entropy, 4), "",
      "The entropy is above zero, because several subjects, verbs or nouns fit. Compare",
      "it with the loss for one [MASK]: training batches have several [MASK] and random",
      "words. It is no exact bound, because 'held out' is a sample of 300 sentences,",
      "drawn with replacement from the held-out combinations.");
  draw_losses(lesson, losses, uniform, entropy);
}

void measure_accuracy(const BlankModel& model, const std::vector<Sentence>& each,
                      const std::vector<Sentence>& about) {
  section("Accuracy");
  say("We take each held-out combination once and replace one word by [MASK]. The",
      "ACCURACY is the fraction of sentences in which the model's most probable word",
      "fits the grammar. 'constant' always predicts the word that fits most often,",
      "'uniform' draws a word from the vocabulary.");
  const Names parts = {"object", "pronoun", "ending"}, columns = {"model", "constant", "uniform"};
  const Array all = accuracies(model, each), hard = accuracies(model, about);  // (3, 3)
  show_trained("all " + std::to_string(each.size()) + " held-out sentences", all, parts, columns);
  show_trained("the " + std::to_string(about.size()) + " whose pronoun refers to the object", hard,
               parts, columns);
  say("");
  claim_less("accuracy on the pronoun, all sentences: above 0.9", 0.9, all(1, 0));
  claim_less("accuracy on the pronoun of the object: above 0.9", 0.9, hard(1, 0));
  claim_less("accuracy on the object of such a pronoun: above 0.8", 0.8, hard(0, 0));
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
  const double held_out = attention_to_object(model, about)(at.layer, at.head);
  const Array A = weights_of(model, at, one_door), row = xt::row(A, 6);  // (9, 9) and (9)
  quote("chosen head: layer " + std::to_string(at.layer) + ", head " + std::to_string(at.head) +
        "\nmean weight, held-out sentences     " + decimal(held_out, 2) +
        "\nweight on 'door', first sentence    " + decimal(row(4), 2));
  const Names words = with_blank(door_sentence(), Part::pronoun);
  picture_trained(lesson, "head", A,
                  {"weights of this head", words, words, "query position", "key position", 0, 1});
  say("");
  claim_less("its mean weight from [MASK] to the object, held out: above 0.5", 0.5, held_out);
  claim("in the door sentence, the largest weight of [MASK] is on 'door'",
        xt::amax(row)() == row(4), decimal(row(4), 2));
  return at;
}

void ablate_heads(const BlankModel& model, const std::vector<Sentence>& about, HeadIndex at) {
  section("Does the prediction need this head?");
  const double n = double(about.size()), error = std::sqrt(0.25 / n);
  say("We ablate one head at a time, as in lesson 16, and measure the accuracy on these",
      decimal(n, 0) + " pronouns. Each is right (1) or wrong (0): a standard deviation of at most",
      "0.5. So the standard error (lesson 14) is at most 0.5 / sqrt(" + decimal(n, 0) +
          ") = " + decimal(error, 2) + ".",
      "");
  Array without = accuracy_without(model, about), sorted = without;
  std::sort(sorted.begin(), sorted.end());
  quote(table(without, {"accuracy without this head", layers, heads, 2}));
  const double median = (sorted(0, 3) + sorted(1, 0)) / 2, gone = without(at.layer, at.head);
  claim_less("without the chosen head it is 0.15 lower than without the median head", gone,
             median - 0.15);
  say("", "Ablation removes the head's output at all positions. So we also remove it at the",
      "position of [MASK] alone, and compare with the constant 'it':", "");
  const double constant = baselines(model.vocabulary, about, Part::pronoun).constant;
  const WithoutAtMask gone_here = predictions_without_at_mask(model, about, at);
  quote("accuracy without the output at [MASK]  " + decimal(gone_here.accuracy, 2) +
        "\naccuracy of the constant 'it'          " + decimal(constant, 2) +
        "\npredictions then: 'it' " + decimal(gone_here.it, 2) + ", 'they' " +
        decimal(gone_here.they, 2) + ", others " + decimal(1 - gone_here.it - gone_here.they, 2));
  claim_less("without this output the accuracy falls by more than 0.2", gone_here.accuracy,
             accuracy(model, about, Part::pronoun) - 0.2);
  say("", "Without it the model still predicts 'it' or 'they', but often the wrong one. So",
      "this picture does explain a prediction: the model needs this head to know if the",
      "noun is singular or plural.", "");
  const std::string it = most_probable_word(model, one_door),
                    they = most_probable_word(model, two_doors);
  claim("'door' gives 'it' and 'doors' gives 'they'", it == "it" && they == "they",
        it + " and " + they);
}

int main() {
  opening({"train a masked language model, find the head that a prediction needs",
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
  ablate_heads(model, about, find_head(model, about));
  save(model, folder);
  say("", "The model is saved. To see all its heads:", "", "  ./heed look " + folder + " \\",
      "    --text '" + one_door + "'", "",
      "To see how tokens are chosen: ./heed debug 17, and in gdb: break mask_by_hand,",
      "continue, next until in the loops, display choice, display action, next.");
  questions(
      "Which head attends to the object with other initial weights? In main change\n"
      "model(1) to model(2), in train_model twin(1) to twin(2).",
      "Which word does the model predict if people act? In two_doors, change\n"
      "'opened' to 'sneezed'.",
      "Which claim fails after 200 steps? In the line of `steps`, change 2000.");
}
