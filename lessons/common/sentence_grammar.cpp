// sentence_grammar.cpp: the grammar of fill_in_the_blank.hpp, and which sentences are held out.

#include <algorithm>

#include "fill_in_the_blank.hpp"

namespace heed {
namespace {

const Names verbs = {"watching", "facing", "drawing", "filming"};

// A combination of subject, verb, object and ending, each as an index.
struct Combination {
  std::size_t subject, verb, kind, plural, noun, ending;
};
constexpr std::size_t nouns_per_kind = 2;

std::size_t endings() { return 1 + subject_endings().size(); }  // 0: the ending of the object

std::size_t combination_count() {
  return subjects().size() * verbs.size() * kinds().size() * 2 * nouns_per_kind * endings();
}

// The index of a combination in the list of all.
std::size_t index_of(const Combination& c) {
  std::size_t index = c.subject * verbs.size() + c.verb;
  index = ((index * kinds().size() + c.kind) * 2 + c.plural) * nouns_per_kind + c.noun;
  return index * endings() + c.ending;
}

// The combination with this index.
Combination combination_at(std::size_t index) {
  Combination c{};
  const auto take = [&](std::size_t n) {
    const std::size_t digit = index % n;
    index /= n;
    return digit;
  };
  c.ending = take(endings()), c.noun = take(nouns_per_kind), c.plural = take(2);
  c.kind = take(kinds().size()), c.verb = take(verbs.size()), c.subject = index;
  return c;
}

constexpr Combination door_combination = {0, 0, 0, 0, 0, 0};  // "i", "watching", "door", "opened"
constexpr Extra extras[] = {Extra::none, Extra::before, Extra::after};

// For each combination 1 if it is held out (about a tenth of them), else 0.
const Array& held_out() {
  static const Array all = [] {
    Array drawn = Generator(35).bernoulli({combination_count()}, 0.1);
    drawn(index_of(door_combination)) = 1;
    return drawn;
  }();
  return all;
}

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool takes_were(const std::string& subject) {
  return subject == "you" || subject == "we" || subject == "they";
}

// Integers from numbers in [0, 1), each of which is used once.
struct UniformNumbers {
  const Real* next;
  std::size_t below(std::size_t n) {  // a number from 0 to n - 1
    return std::min(n - 1, static_cast<std::size_t>(*next++ * static_cast<Real>(n)));
  }
};
constexpr std::size_t numbers_per_sentence = 7;

// The number of sentences in ten whose ending belongs to the object.
constexpr std::size_t of_object_in_ten = 7;

Combination draw_combination(UniformNumbers& numbers) {
  Combination c{};
  c.subject = numbers.below(subjects().size());
  c.verb = numbers.below(verbs.size());
  c.kind = numbers.below(kinds().size());
  c.plural = numbers.below(2);
  c.noun = numbers.below(nouns_per_kind);
  const bool of_object = numbers.below(10) < of_object_in_ten;
  c.ending = of_object ? 0 : 1 + numbers.below(subject_endings().size());
  return c;
}

Sentence make_sentence(const Combination& c, Extra extra) {
  const Kind& kind = kinds()[c.kind];
  const std::string subject = subjects()[c.subject];
  Sentence s;
  s.kind = c.kind, s.plural = c.plural == 1, s.of_object = c.ending == 0;
  const auto part = [&](const std::string& word) {
    s.positions.push_back(s.words.size());
    s.words.push_back(word);
  };
  part(subject);
  s.words.push_back(takes_were(subject) ? "were" : "was");
  part(verbs[c.verb]);
  s.words.push_back("the");
  if (extra == Extra::before) s.words.push_back("old");
  part((s.plural ? kind.plural : kind.singular)[c.noun]);
  if (extra == Extra::after) s.words.push_back("again");
  s.words.push_back("when");
  part(!s.of_object ? subject : s.plural ? "they" : "it");
  part(s.of_object ? kind.ending : subject_endings()[c.ending - 1]);
  s.words.push_back(".");
  return s;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{{"door", "gate"}, {"doors", "gates"}, "opened"},
                                        {{"phone", "bell"}, {"phones", "bells"}, "rang"},
                                        {{"dog", "wolf"}, {"dogs", "wolves"}, "barked"},
                                        {{"baby", "infant"}, {"babies", "infants"}, "cried"},
                                        {{"lamp", "candle"}, {"lamps", "candles"}, "flickered"},
                                        {{"train", "bus"}, {"trains", "buses"}, "stopped"}};
  return all;
}

const Names& subjects() {
  static const Names all = {"i", "you", "he", "she", "we", "they"};
  return all;
}

const Names& subject_endings() {
  static const Names all = {"sneezed", "laughed", "spoke"};
  return all;
}

std::string text_of(const Names& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Names with_blank(const Sentence& sentence, Part blank) {
  Names words = sentence.words;
  words[sentence.position(blank)] = "[MASK]";
  return words;
}

static bool ending_fits(const Sentence& s, const std::string& word) {
  const std::string& pronoun = s.word(Part::pronoun);
  const bool object = pronoun == (s.plural ? "they" : "it");
  return (object && word == kinds()[s.kind].ending) ||
         (pronoun == s.word(Part::subject) && contains(subject_endings(), word));
}

static bool object_fits(const Sentence& s, const std::string& word) {
  for (std::size_t k = 0; k < kinds().size(); ++k) {
    if (s.of_object && k != s.kind) continue;
    const bool singular = !s.of_object || !s.plural, plural = !s.of_object || s.plural;
    if (singular && contains(kinds()[k].singular, word)) return true;
    if (plural && contains(kinds()[k].plural, word)) return true;
  }
  return false;
}

bool fits(const Sentence& s, Part part, const std::string& word) {
  switch (part) {
    case Part::subject:
      return s.of_object
                 ? contains(subjects(), word) && takes_were(word) == takes_were(s.word(part))
                 : word == s.word(part);
    case Part::verb:
      return contains(verbs, word);
    case Part::object:
      return object_fits(s, word);
    case Part::pronoun:
      return word == s.word(part);
    case Part::ending:
      return ending_fits(s, word);
  }
  return false;
}

// All words that fit are equally likely, except for the ending: the object's ending is more likely
// than each ending of people.
double weight_of(const Sentence& s, Part part, const std::string& word) {
  if (!fits(s, part, word)) return 0;
  if (part != Part::ending) return 1;
  const double of_people = 10 - of_object_in_ten;
  return contains(subject_endings(), word)
             ? of_people / static_cast<double>(subject_endings().size())
             : of_object_in_ten;
}

std::vector<Sentence> draw_sentences(Generator& generator, std::size_t count, From from,
                                     Extra extra) {
  std::vector<Sentence> sentences;
  while (sentences.size() < count) {
    const Array drawn = generator.rand({count, numbers_per_sentence});
    for (std::size_t i = 0; i < count && sentences.size() < count; ++i) {
      UniformNumbers numbers{drawn.data() + i * numbers_per_sentence};
      const Combination c = draw_combination(numbers);
      if ((held_out()(index_of(c)) != 0) == (from == From::held_out))
        sentences.push_back(make_sentence(c, extra));
    }
  }
  return sentences;
}

std::vector<Sentence> held_out_sentences(std::size_t count,
                                         const std::function<bool(const Sentence&)>& wanted) {
  Generator generator(18);
  std::vector<Sentence> sentences;
  for (std::size_t i = 0; sentences.size() < count; ++i)
    for (const Sentence& s : draw_sentences(generator, 16, From::held_out, extras[i % 3]))
      if (sentences.size() < count && wanted(s)) sentences.push_back(s);
  return sentences;
}

std::vector<Sentence> held_out_once(const std::function<bool(const Sentence&)>& wanted) {
  std::vector<Sentence> sentences;
  std::size_t turn = 0;
  for (std::size_t i = 0; i < combination_count(); ++i) {
    if (held_out()(i) == 0) continue;
    const Sentence s = make_sentence(combination_at(i), extras[turn++ % 3]);
    if (wanted(s)) sentences.push_back(s);
  }
  return sentences;
}

std::size_t combinations(From from) {
  std::size_t out = 0;
  for (const Real held : held_out()) out += held != 0 ? 1 : 0;
  return from == From::held_out ? out : combination_count() - out;
}

const Sentence& door_sentence() {
  static const Sentence door = make_sentence(door_combination, Extra::none);
  return door;
}

Vocabulary sentence_vocabulary() {
  std::string text = "was were the old again when it . [MASK]";
  const auto add = [&](const Names& words) { text += " " + text_of(words); };
  for (const Names& words : {subjects(), verbs, subject_endings()}) add(words);
  for (const Kind& kind : kinds()) add(kind.singular), add(kind.plural), add({kind.ending});
  return Vocabulary::from_words(text);
}

}  // namespace heed
