// fill_in_the_blank.hpp: sentences of a small world, their blanks, and a model that fills them.
#pragma once

#include <functional>

#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"
#include "lesson.hpp"

namespace heed {

// What a sentence is made of, in this order, others between them:
// "i was watching the door when it opened ."
enum class Part { subject, verb, object, pronoun, ending };

// Things of a kind do something that no other kind does, nor people: doors and gates open.
struct Kind {
  Names one, many;     // "door", ... and "doors", ...
  std::string ending;  // "opened"
};
const std::vector<Kind>& kinds();
const Names& subjects();         // "i", "you", "he", ...
const Names& subject_endings();  // "sneezed", ...: what people do

struct Sentence {
  Names words;
  std::vector<std::size_t> places;  // of its five parts, as places in words
  std::size_t kind;                 // of its object, a place in kinds()
  bool plural;                      // whether the object is more than one
  bool of_object;                   // whether the pronoun stands for the object, not the subject

  std::size_t place(Part part) const { return places[static_cast<std::size_t>(part)]; }
  const std::string& word(Part part) const { return words[place(part)]; }
};
std::string text_of(const Names& words);                 // with blanks between them
Names with_blank(const Sentence& sentence, Part blank);  // its word replaced by [MASK]

// Whether the grammar allows this word there, everything else being as it is.
bool fits(const Sentence& sentence, Part part, const std::string& word);
// How often the grammar puts it there, beside others that fit; 0 if it does not fit.
double weight_of(const Sentence& sentence, Part part, const std::string& word);

// A word that tells nothing but moves others about: "old" before the object, "again" after it.
enum class Extra { none, before, after };

// `count` sentences, all of one length. Subject, verb, object and ending are drawn from the nine
// tenths of their combinations that are for training, or from the tenth held out, to which "i was
// watching the door when it opened ." belongs.
enum class From { training, held_out };
std::vector<Sentence> draw_sentences(Generator& generator, std::size_t count, From from,
                                     Extra extra = Extra::none);
// With and without such a word, until there are `count`; `wanted` says which.
std::vector<Sentence> held_out_sentences(std::size_t count,
                                         const std::function<bool(const Sentence&)>& wanted);
std::size_t combinations(From from);
const Sentence& door_sentence();  // "i was watching the door when it opened ."

Vocabulary sentence_vocabulary();  // every word of the world, and [MASK]
Indices encoded(const Vocabulary& vocabulary, const std::vector<Names>& texts);  // (N, T)
Indices encoded(const Vocabulary& vocabulary, const std::string& text);          // (1, T)

// Sentences as the model sees them, and what it has to tell: the word that stood there where a
// token was chosen, elsewhere -100, which cross_entropy passes over.
struct Masked {
  Indices seen, targets;  // (N, T)
};
Masked masked(const Indices& tokens, const Vocabulary& vocabulary, Generator& generator);
// "i was [MASK] the door when it opened .    asks for watching"
std::string described(const Masked& masked, std::size_t sentence, const Vocabulary& vocabulary);

// A small encoder that knows nothing yet: 2 layers of 4 heads, width 32.
// After training, heads.hpp looks inside model.gpt, and save_model keeps it for ./heed look.
struct BlankModel {
  explicit BlankModel(std::uint64_t seed);

  Vocabulary vocabulary = sentence_vocabulary();
  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

// 64 sentences for training, masked.
Masked next_batch(const BlankModel& model, Generator& generator);

// Trains it on `steps` such batches, drawn from Generator(19); the losses, step by step. 800 steps
// fill nearly every blank that can be filled, 2000 all. Sets the whole program to one thread.
std::vector<double> train(BlankModel& model, std::int64_t steps);

// What the model holds likely for the blank of each sentence: (N, V), rows sum to one.
Array answers(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank);
// The share of sentences whose likeliest word fits.
double accuracy(const BlankModel& model, const std::vector<Sentence>& sentences, Part blank);

// The likeliest word for the [MASK] of a text.
std::string filled(const BlankModel& model, const std::string& text);

// How often guessing fits: any word of the vocabulary, or always the one that fits most often.
struct Chance {
  double evenly, one_word;
};
Chance chance(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences, Part blank);

// Of the blanks object, pronoun and ending, how often a word fits: the model's, the one that fits
// most often, any: (3, 3).
Array fill_blanks(const BlankModel& model, const std::vector<Sentence>& sentences);

// What a reader who knows the grammar cannot know of a word, when all others can be seen: nats a
// word, the full stop left out. Nobody's loss is lower, on average.
double perfect_loss(const Vocabulary& vocabulary, const std::vector<Sentence>& sentences);

// The mean of every `many` losses.
std::vector<double> means_of(const std::vector<double>& losses, std::size_t many);

}  // namespace heed
