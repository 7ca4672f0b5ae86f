// fill_in_the_blank.hpp: sentences of a small grammar, and a masked language model trained on them.
#pragma once

#include <functional>

#include "heed/text/vocabulary.hpp"
#include "lesson.hpp"

namespace heed {

// The parts of a sentence, in this order, with other words between them:
// "i was watching the door when it opened ."
enum class Part { subject, verb, object, pronoun, ending };

// Nouns with the same ending, which no other noun and no person has: doors and gates open.
struct Kind {
  Names singular, plural;  // "door", ... and "doors", ...
  std::string ending;      // such as "opened"
};
const std::vector<Kind>& kinds();
const Names& subjects();         // "i", "you", "he", ...
const Names& subject_endings();  // "sneezed", ...: the endings of people

struct Sentence {
  Names words;
  std::vector<std::size_t> positions;  // the index of the word at which each of its five parts is
  std::size_t kind;                    // the index of the object's kind in kinds()
  bool plural;                         // whether the object is plural
  bool of_object;                      // whether the pronoun refers to the object, not the subject

  std::size_t position(Part part) const { return positions[static_cast<std::size_t>(part)]; }
  const std::string& word(Part part) const { return words[position(part)]; }
};
std::string text_of(const Names& words);                              // separated by spaces
std::vector<Names> texts_of(const std::vector<Sentence>& sentences);  // the words of each sentence
Names with_blank(const Sentence& sentence, Part blank);               // replaces the part by [MASK]

// Whether the sentence follows the grammar with this word as the given part.
bool fits(const Sentence& sentence, Part part, const std::string& word);
// A number proportional to the probability of this word as the given part when all other words are
// known; 0 if it does not fit.
double weight_of(const Sentence& sentence, Part part, const std::string& word);

// A word that has no influence on the other words but shifts their positions: "old" before the
// object, "again" after it.
enum class Extra { none, before, after };

// `count` sentences of the same length. Each combination of subject, verb, object and ending is
// either for training (nine tenths of them) or held out (one tenth, among them "i was watching the
// door when it opened .").
enum class From { training, held_out };
std::vector<Sentence> draw_sentences(Generator& generator, std::size_t count, From from,
                                     Extra extra = Extra::none);
// The first `count` held-out sentences, with and without an added word, for which `wanted` is true:
// drawn with replacement, so a sentence can occur several times.
std::vector<Sentence> held_out_sentences(std::size_t count,
                                         const std::function<bool(const Sentence&)>& wanted);
// Each held-out combination for which `wanted` is true, once: without an added word, with one
// before and with one after, in turn.
std::vector<Sentence> held_out_once(const std::function<bool(const Sentence&)>& wanted);
// The first `count` training sentences whose pronoun refers to the object.
std::vector<Sentence> training_sentences_about_objects(std::size_t count);
std::size_t combinations(From from);
const Sentence& door_sentence();  // "i was watching the door when it opened ."

Vocabulary sentence_vocabulary();  // every word of the grammar, and [MASK]
Indices encoded(const Vocabulary& vocabulary, const std::vector<Names>& texts);  // (N, T)
Indices encoded(const Vocabulary& vocabulary, const std::string& text);          // (1, T)

// The inputs and targets of a masked language model. The target is the original token at each
// position that was chosen, and -100 at all others, which cross_entropy ignores.
struct Masked {
  Indices seen, targets;  // (N, T)
};

// Which tokens may be chosen, and what a chosen token may become.
struct Masking {
  std::int64_t mask, stop;  // the ids of [MASK] and of the full stop, which is never chosen
  std::int64_t first_word;  // tokens with smaller ids are special: they are never chosen or drawn
  std::int64_t vocab_size;
};
// Chooses each token with probability 15 %: 80 % of the chosen become [MASK], 10 % a random word,
// and 10 % stay.
Masked masked(const Indices& tokens, const Masking& masking, Generator& generator);

// A transformer with random weights: 2 layers of 4 heads, embed_dim 32.
struct BlankModel {
  explicit BlankModel(std::uint64_t seed, bool causal = false);

  Vocabulary vocabulary = sentence_vocabulary();
  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

// All tokens but the full stop may be chosen.
Masking masking_of(const BlankModel& model);

// 64 training sentences of the same length.
std::vector<Names> training_texts(Generator& generator);

// A step of training for each step of the schedule: AdamW reduces the mean cross-entropy at the
// chosen positions of a new batch. Returns the loss of each step.
std::vector<double> train(const nn::Gpt& gpt, const Parameters& parameters,
                          const optim::WarmupCosine& rate,
                          const std::function<Masked()>& next_batch);
// Trains the model on batches of 64 training sentences that the generator draws.
std::vector<double> train(const BlankModel& model, std::int64_t steps, Generator generator);

// Writes folder/checkpoint.safetensors, which ./heed look reads.
void save(const BlankModel& model, const std::string& folder);

// The predicted probabilities of all words for the blank of each sentence: (N, V), rows sum to 1.
Array predicted_probabilities(const BlankModel& model, const std::vector<Sentence>& sentences,
                              Part blank);
// The accuracy: the fraction of sentences whose most probable word fits.
double accuracy(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank);

// The logits (V) at the position of the [MASK] of a text.
Array logits_at_mask(const BlankModel& model, const std::string& text);
// The conditional entropy of a word given all other words of its sentence, in nats, as a mean over
// the words of the sentences except full stops. It is computed from the grammar's probabilities.
double conditional_entropy(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences);

// The mean cross-entropy, in nats, when each word except the full stop is in turn the only [MASK]
// of its sentence. Compare it with conditional_entropy.
double one_mask_loss(const BlankModel& model, const std::vector<Sentence>& sentences);

// The attention weight from the pronoun's position, which holds [MASK], to the object, as a mean
// over the sentences: (L, H).
Array attention_to_object(const BlankModel& model, const std::vector<Sentence>& sentences);

// One head of a model, both numbers from 0.
struct HeadIndex {
  std::size_t layer, head;
  bool operator==(const HeadIndex& b) const { return layer == b.layer && head == b.head; }
};

// The head with the largest of these weights, (L, H).
HeadIndex largest_head(const Array& weights);
// The attention weights (T, T) of one head for a text.
Array weights_of(const BlankModel& model, HeadIndex at, const std::string& text);
// A claim that a < b.
void claim_less(const std::string& what, double a, double b,
                SourceLocation location = SourceLocation::current());

// The losses of the steps 0, 1, ... as a curve.
Series series_of(const std::string& name, const std::vector<double>& losses);

}  // namespace heed
