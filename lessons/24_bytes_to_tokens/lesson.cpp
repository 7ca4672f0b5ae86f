// 24 bytes_to_tokens: byte-pair encoding, and how to compare models whose tokens differ.
//
// Before this lesson: 23_what_attention_costs, which counts the operations of attention.
// After it: 25_from_gpt2_to_llama, the parts of newer models.
// A useful breakpoint: learn_merge (in by_hand.hpp). Continue with `next` and print pair.

#include "known_bound.hpp"
#include "prompt.hpp"
#include "vocabulary_size.hpp"

using namespace heed;
const std::string lesson = "24_bytes_to_tokens";

void learning_merges() {
  section("Learning merges");
  say("A character-level model (lesson 15) has long sequences of small tokens. A model",
      "whose tokens are words cannot read a word that it has not seen. SUBWORDS are",
      "between the two: a frequent word is one token, a rare word is several.",
      "BYTE-PAIR ENCODING (BPE) learns such tokens from a text:", "",
      "  1. The tokens 0 to 255 are the bytes.",
      "  2. Count all pairs of neighbouring tokens. The most frequent pair is the next",
      "     MERGE: it becomes a new token.",
      "  3. Replace this pair by the new token everywhere. Go to 2.", "",
      "Before this, the text is split into CHUNKS (pre-tokenization): runs of letters,",
      "of digits, of white space, of the rest. A space belongs to the chunk after it. A",
      "merge never joins two chunks, so no token contains parts of two words. If pairs",
      "are equally frequent, heed takes the smallest ids. It stops at the size that we",
      "ask for, or when no pair occurs twice. Follow the merges on paper (␣ is a space,",
      "| the end of a chunk):", "");
  const std::string text = "she sells sea shells";
  print_merges(text);
  say("", "At 257 five pairs occur twice: 'e l' has the smallest ids, 101 and 108. At 258",
      "'l s' (108, 115) comes before 'el l' (257, 108). 's h' is not merged: it occurs",
      "only in 'she', because in ' shells' the first merge has taken the s.", "");
  const BytePairs tokens = BytePairs::trained_on(text, 300);
  check("merges by hand = BytePairs::trained_on", numbers(train_by_hand(text, 300)),
        numbers(tokens.merges()), 0);
  say("", "To ENCODE a text, the merges are applied to its bytes in the order of learning.",
      "DECODING joins the bytes of the tokens. A new text:", "",
      "  'ells sell seas'   " + spelled(tokens, tokens.encode("ells sell seas")), "");
  check("ids by hand = BytePairs::encode",
        numbers(encode_by_hand(tokens.merges(), "ells sell seas")),
        numbers(tokens.encode("ells sell seas")), 0);
  say("", "(Sennrich et al. begin with characters and mark the end of a word. GPT-2 begins",
      "with bytes and keeps the space before a word. Exercise 24 shows why the order of",
      "the merges matters.)");
}

void any_bytes(const Texts& texts, const BytePairs& tokens) {
  section("Every text has tokens");
  const std::size_t size = brief() ? 280 : 320;
  say("Now the play of lesson 15, without its last two scenes, which are held out. Its",
      "first ten merges: " + spelled(tokens, {256, 257, 258, 259, 260, 261, 262, 263, 264, 265}),
      "");
  const std::vector<Merge> merges = train_by_hand(texts.training, size);
  const BytePairs in_one_line = BytePairs::trained_on(texts.training, size);
  check("the play: merges by hand = in one line", numbers(merges), numbers(in_one_line.merges()),
        0);
  const Ids ids = encode_by_hand(merges, texts.held_out);
  check("the held-out scenes: ids by hand = in one line", numbers(ids),
        numbers(in_one_line.encode(texts.held_out)), 0);
  check("in one line = the Vocabulary of a Trainer", numbers(in_one_line.encode(texts.held_out)),
        numbers(Vocabulary(in_one_line).encode(texts.held_out)), 0);
  claim("decoding by hand gives the text", decode_by_hand(merges, ids) == texts.held_out, "not");
  say("", "A vocabulary of characters has no token for a new character. In a BYTE-LEVEL BPE",
      "each byte is a token, so every text has tokens, and decode(encode(x)) = x for",
      "all x. Here with 512 tokens from the play. Characters are Unicode code points:",
      "the astronaut is three, a woman, a zero-width joiner and a rocket.", "");
  Generator g(23);
  std::string random;
  for (const std::int64_t byte : g.randint(0, 256, {10'000})) random += char(byte);
  bool same = true;
  say("text                      characters    bytes   tokens");
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"the lighthouse is dark", "the lighthouse is dark"},
           {"ο φάρος είναι σκοτεινός", "ο φάρος είναι σκοτεινός"},
           {"🦀 👩‍🚀", "🦀 👩‍🚀"},
           {"no UTF-8: ff fe c3", "\xff\xfe\xc3"},
           {"the empty text", ""},
           {"10,000 random bytes", random}}) {
    const Ids coded = tokens.encode(text);
    same = same && tokens.decode(coded) == text;
    say(pad_right(name, 26) + pad_left(characters_in(text), 10) +
        pad_left(grouped(double(text.size())), 9) + pad_left(grouped(double(coded.size())), 9));
  }
  say("");
  claim("decode(encode(x)) = x for all six", same, "another text");
  say("", "The second line says the same in Greek. The merges come from an English text, so",
      "a text in another script takes several times as many tokens (Petrov et al. 2023,",
      "\"Language Model Tokenizers Introduce Unfairness Between Languages\").", "",
      "The converse need not hold: of all token sequences that spell a text, encode",
      "gives only one.", "");
  const Ids letters = bytes_of(" the");
  claim("encode(decode(ids)) can be other ids", tokens.encode(tokens.decode(letters)) != letters,
        "the same ids");
}

std::vector<Result> equal_compute(const Texts& texts, const std::vector<Tokens>& kinds) {
  section("Equal compute");
  say("The same blocks (L = 2, C = 64, windows of T = 64 tokens) with three kinds of",
      "tokens: each model trains on the play, without the two scenes, for 300 billion",
      "FLOPs. Each kind of tokens has the best of five learning rates, chosen on other",
      "scenes with other seeds. Measured on the two held-out scenes, mean of 3 seeds +-",
      "standard error:", "");
  const double flops = brief() ? 3e10 : 3e11;
  const std::vector<Result> results = train_all(kinds, texts, flops, brief() ? 1 : 3);
  quote(table_of(results, texts));
  say("");
  for (std::size_t i = 1; i < results.size(); ++i) {
    const Result &shorter = results[i - 1], &longer = results[i];
    const std::string names = longer.tokens->name + ", all seeds: ";
    claim(names + "more nats per token than " + shorter.tokens->name,
          least(longer.loss) > largest(shorter.loss), decimal(least(longer.loss), 4));
    claim(names + "fewer bits per character", largest(longer.bits) < least(shorter.bits),
          decimal(largest(longer.bits), 4));
  }
  const std::vector<double>& curve = results[2].curve.y;
  const double third = curve[curve.size() / 3 - 1];
  claim("BPE, 1024, first seed, a third of the FLOPs: fewer bits than characters",
        third < least(results[0].bits), decimal(third, 4));
  picture_of_compute(lesson, results);
  const auto per_flop = [&texts](const Vocabulary& vocabulary) {  // characters
    const double tokens = tokens_per_character(vocabulary, texts.training);
    return 1 / tokens / flops_per_token(vocabulary.size());
  };
  const double read = per_flop(kinds[2].vocabulary) / per_flop(kinds[0].vocabulary) / 3;
  say("", "By loss per token, characters look best. By bits per character they are the",
      "worst. One reason is that a model with longer tokens reads more text per FLOP.",
      "But after a third of its FLOPs, BPE 1024 has read only " + decimal(read, 2) +
          " times as many",
      "characters as the character model after all of them, and already has fewer bits",
      "per character. Two other reasons: 64 tokens of BPE are a longer context, and a",
      "character model must learn the spellings that the merges already contain. BPE",
      "models also have more parameters. We do not separate the reasons. And the budget",
      "decides: with four times as many FLOPs the characters have the fewest bits,",
      "because both BPE models overfit this short text (question 3).");
  return results;
}

int main() {
  opening({"to learn the tokens of a text, and compare models with other tokens",
           "bits per character = loss / ln 2 * N / M\n"
           "loss in nats per token; a text of N tokens and M characters\n"
           "training FLOPs per token = 6 (12 L C C + V C) + 6 L T C\n"
           "L blocks, width C, vocabulary of V tokens, windows of T tokens",
           "Sennrich, Haddow and Birch, \"Neural Machine Translation of Rare\n"
           "Words with Subword Units\", section 3.2 (2016); Gage, \"A New\n"
           "Algorithm for Data Compression\" (1994); bytes: Radford et al.,\n"
           "\"Language Models are Unsupervised Multitask Learners\", section 2.2\n"
           "(2019); FLOPs: Kaplan et al., \"Scaling Laws for Neural Language\n"
           "Models\", section 2.1 (2020)",
           "none; Hugging Face: tokenizers.models.BPE; OpenAI: tiktoken"});
  learning_merges();
  const Texts texts = play();
  const auto pairs = [&texts](std::size_t V) {
    return Vocabulary(BytePairs::trained_on(texts.training, V));
  };
  const std::vector<Tokens> kinds = {{"characters", Vocabulary::of_text(texts.training), 0.008},
                                     {"BPE, 512", pairs(512), 0.003},
                                     {"BPE, 1024", pairs(1024), 0.003}};
  any_bytes(texts, *kinds[1].vocabulary.byte_pairs());
  vocabulary_size(lesson, texts);
  known_bound(lesson);
  a_fair_measure(texts, kinds[1].vocabulary);
  const std::vector<Result> results = equal_compute(texts, kinds);
  end_of_a_prompt(texts, results);
  section("In one command");
  say("  ./heed train my_novel.txt --tokenizer bpe --vocab-size 512",
      "  ./heed sample runs/my_novel --prompt \"It was\"", "  ./heed look runs/my_novel",
      "  ./heed inspect runs/my_novel", "",
      "The checkpoint contains the merges. The losses that ./heed train prints are per",
      "token. Next lesson: 25_from_gpt2_to_llama.");
  questions(
      "In learning_merges set text to \"aaaaaaa\". How often is the first pair\n"
      "counted, and how often is it replaced?",
      "In known_text (known_bound.hpp) write 2'000'000 in place of 200'000. Which\n"
      "bigram models get better, and which claim fails?",
      "In equal_compute write 12e11 in place of 3e11 (some minutes). Which tokens\n"
      "win now?");
}
