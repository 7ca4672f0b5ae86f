// 24 bytes_to_tokens: byte-pair encoding, and how to compare models whose tokens differ.
//
// Worth a breakpoint: learn_merge. Continue with `next`, and print pair.

#include <algorithm>
#include <map>

#include "guess.hpp"
#include "in_threads.hpp"
#include "pictures.hpp"
#include "tuning.hpp"

using namespace heed;
const std::string lesson = "24_bytes_to_tokens";

using Merge = BytePairs::Merge;  // the ids of the two tokens

// A chunk as token ids, and how often it occurs in the text.
struct Word {
  Ids ids;
  std::int64_t count = 1;
};

Ids bytes_of(std::string_view text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

// Replaces the pair by the new token, from left to right.
Ids merged(const Ids& ids, const Merge& pair, std::int64_t new_id) {
  Ids result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool found = i + 1 < ids.size() && Merge(ids[i], ids[i + 1]) == pair;
    result.push_back(found ? new_id : ids[i]);
    if (found) ++i;  // both tokens are used
  }
  return result;
}

// Makes the most frequent pair of neighbouring tokens a merge, and replaces it in all words.
// Returns its count, or 0, with nothing changed, if no pair occurs twice.
std::int64_t learn_merge(std::vector<Word>& words, std::vector<Merge>& merges) {
  std::map<Merge, std::int64_t> counts;  // a map is sorted: smaller ids come first
  for (const Word& word : words)
    for (std::size_t i = 1; i < word.ids.size(); ++i)
      counts[{word.ids[i - 1], word.ids[i]}] += word.count;
  Merge pair;
  std::int64_t count = 0;
  for (const auto& [each, times] : counts)
    if (times > count) pair = each, count = times;
  if (count < 2) return 0;
  const std::int64_t new_id = 256 + std::int64_t(merges.size());
  for (Word& word : words) word.ids = merged(word.ids, pair, new_id);
  merges.push_back(pair);
  return count;
}

// Applies the merges to each chunk, in the order of learning.
Ids encode_by_hand(const std::vector<Merge>& merges, const std::string& text) {
  Ids all;
  for (const std::string_view chunk : BytePairs::chunks_of(text)) {
    Ids ids = bytes_of(chunk);
    for (std::size_t m = 0; m < merges.size(); ++m)
      ids = merged(ids, merges[m], 256 + std::int64_t(m));
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

void the_text_chooses(const Texts& play) {
  section("The text chooses its tokens");
  const std::string text = "she sells sea shells";
  std::vector<Word> words;
  for (const std::string_view chunk : BytePairs::chunks_of(text))
    words.push_back({bytes_of(chunk)});
  std::vector<Merge> merges;
  Names lines;
  std::int64_t count = 0;
  do {
    std::vector<Ids> chunks;
    for (const Word& word : words) chunks.push_back(word.ids);
    lines.push_back(merge_line(merges, count, chunks));
  } while ((count = learn_merge(words, merges)) > 0);
  print_lines(lines);
  check("merges by hand = BytePairs::trained_on", numbers(merges),
        numbers(BytePairs::trained_on(text, 300).merges()), 0);
  say();
  picture(lesson, "merges", merges_graph);

  std::map<std::string_view, std::int64_t> chunks;  // equal chunks are merged only once
  for (const std::string_view chunk : BytePairs::chunks_of(play.training)) ++chunks[chunk];
  words.clear(), merges.clear();
  for (const auto& [chunk, times] : chunks) words.push_back({bytes_of(chunk), times});
  while (merges.size() < 40 && learn_merge(words, merges) > 0) continue;
  const BytePairs tokens(merges);
  Ids first;
  for (std::int64_t id = 256; id < 256 + 40; ++id) first.push_back(id);
  say();
  print_lines({"  " + spelled(tokens, {first.begin(), first.begin() + 20}),
               "  " + spelled(tokens, {first.begin() + 20, first.end()}), ""});
  check("the play: merges by hand = BytePairs::trained_on", numbers(merges),
        numbers(BytePairs::trained_on(play.training, 296).merges()), 0);
}

// How often the token is followed by a letter.
std::size_t count_before_letter(const BytePairs& tokens, const Ids& ids, std::int64_t token) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < ids.size(); ++i)
    count += ids[i - 1] == token && is_letter(tokens.bytes(ids[i])[0]) ? 1 : 0;
  return count;
}

void new_text(const BytePairs& tokens, const Texts& play) {
  section("New text to tokens");
  const BytePairs shells = BytePairs::trained_on("she sells sea shells", 300);
  const std::string text = "ells sell seas";
  print_lines({"'" + text + "'   " + spelled(shells, encode_by_hand(shells.merges(), text)), ""});
  check("ids by hand = BytePairs::encode", numbers(encode_by_hand(shells.merges(), text)),
        numbers(shells.encode(text)), 0);
  say();
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"the lighthouse is dark", "the lighthouse is dark"},
      {"ο φάρος είναι σκοτεινός", "ο φάρος είναι σκοτεινός"},
      {"🦀", "🦀"},
      {"bytes ff fe c3: no UTF-8", "\xff\xfe\xc3"}};
  print_lengths(tokens, texts);
  bool same = true;
  for (const auto& [name, each] : texts) same = same && tokens.decode(tokens.encode(each)) == each;
  claim("decode(encode(x)) = x for all four", same, "another text");
  say();
  Names lines;
  for (const std::string prompt : {"Mind the rope", "Mind the", "Mind the "})
    lines.push_back("'" + pad_right(prompt + "'", 16) + spelled(tokens, tokens.encode(prompt)));
  print_lines(lines);
  const Ids ids = tokens.encode(play.training);
  say({{"tokens", grouped(double(ids.size()))}, {"lone", count_before_letter(tokens, ids, ' ')}});
}

void how_many(const Texts& play) {
  section("How many tokens?");
  const auto per_character = [&play](const auto& tokens_in) {
    const std::string held_out = play.held_out();
    return std::pair(double(tokens_in(play.training)) / double(play.training.size()),
                     double(tokens_in(held_out)) / double(held_out.size()));
  };
  std::vector<Size> sizes;
  for (const std::size_t V : {256, 384, 512, 1024, 1536}) {
    const BytePairs tokens = BytePairs::trained_on(play.training, V);
    const auto [training, held_out] =
        per_character([&](const std::string& text) { return tokens.encode(text).size(); });
    sizes.push_back({double(V), training, held_out});
  }
  const auto [training, held_out] =
      per_character([](const std::string& text) { return BytePairs::chunks_of(text).size(); });
  print_sizes(sizes, {0, training, held_out});
  say();
}

constexpr std::size_t C = 64, layers = 2, B = 8;
const double budget = 1e9 * double(in_brief(150, 20));  // FLOPs

double flops_per_token(std::size_t V) {
  return 6.0 * double(12 * layers * C * C + V * C) + 6.0 * double(layers * T * C);
}

// A kind of tokens, and the learning rate for them.
struct Tokens {
  std::string name;
  std::size_t V;  // 0: characters
  double rate;

  Vocabulary of(const std::string& text) const {
    return V == 0 ? Vocabulary::of_text(text) : Vocabulary(BytePairs::trained_on(text, V));
  }
};
const std::vector<Tokens> kinds = {
    {"characters", 0, 0.008}, {"BPE, 512", 512, 0.004}, {"BPE, 1024", 1024, 0.008}};

// A trained model on the held-out scenes: nats per token, and bits per character.
struct Run {
  double parameters = 0, steps = 0, loss = 0, bits = 0;
  Series curve = {};  // bits per character against FLOPs
};

// Trains a GPT for the budget, and measures it on the scenes.
Run train(const Tokens& tokens, const Texts& play, std::uint64_t seed) {
  const Vocabulary vocabulary = tokens.of(play.training);
  const Corpus corpus(play.training, vocabulary);
  Generator initial(seed), g(1000 + seed);
  Parameters parameters;
  nn::GptConfig config;
  config.vocab_size = vocabulary.size(), config.block_size = T;
  config.layers = layers, config.embed_dim = C;
  const nn::Gpt gpt(Scope(parameters, initial), config);
  optim::AdamW optimizer(parameters.tensors(), {tokens.rate, 0.9, 0.99, 1e-8, 0.1});
  const double step_flops = flops_per_token(vocabulary.size()) * double(B * T);
  const auto steps = std::int64_t(budget / step_flops);
  const optim::WarmupCosine schedule{tokens.rate, tokens.rate / 10, steps / 15, steps};
  const auto bits = [&](const std::string& text) {
    return nats_of(gpt, vocabulary, play.training, text) / std::log(2.0) / double(text.size());
  };
  const std::int64_t points = seed == 1 ? 15 : 0;  // of the curve
  Run run{double(nn::parameter_count(config)), double(steps)};
  for (std::int64_t step = 1; step <= steps; ++step) {
    const Batch batch = random_batch({&corpus, 0, corpus.size(), "training"}, B, T, g);
    optimizer.zero_grad();
    backward(gpt.loss(batch.inputs, batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step - 1));
    optimizer.step();
    if (step * points / steps > (step - 1) * points / steps)
      run.curve.append(double(step) * step_flops / 1e9, bits(play.held_out()));
  }
  run.bits = bits(play.held_out());
  run.loss = run.bits * std::log(2.0) / tokens_per_character(vocabulary, play.held_out());
  return run;
}

// The runs of one kind of tokens, one for each seed.
struct Result {
  std::string name;
  std::vector<Run> runs;

  std::vector<double> all(double Run::*measure) const {
    std::vector<double> values;
    for (const Run& run : runs) values.push_back(run.*measure);
    return values;
  }
  double mean(double Run::*measure) const { return estimate(all(measure)).mean; }
};

// Trains with the seeds offset + 1 to offset + n.
Result train_seeds(const Tokens& tokens, const Texts& play, std::uint64_t n, std::uint64_t offset) {
  return {tokens.name, in_threads<Run>(n, [&](std::uint64_t seed) {
            return train(tokens, play, offset + seed);
          })};
}

void bits_per_character(const Texts& play, const Guess& guess) {
  section("Bits per character", {{"flops", decimal(budget / 1e9, 0)}});
  std::vector<Result> results;
  for (const Tokens& tokens : kinds) results.push_back(train_seeds(tokens, play, 3, 0));
  quote(table_of(results));
  guess.compare(decimal(results[2].mean(&Run::bits), 2));
  bool shorter = true;
  for (const Result& bpe : {results[1], results[2]})
    shorter = shorter && bpe.mean(&Run::loss) > results[0].mean(&Run::loss) &&
              bpe.mean(&Run::bits) < results[0].mean(&Run::bits);
  guard("BPE against characters: more nats per token, fewer bits per character", shorter, "not so");
  say();
  picture_of_compute(lesson, results);
  const Vocabulary characters = kinds[0].of(play.training), tokens = kinds[2].of(play.training);
  const double context = double(T) / tokens_per_character(tokens, play.training);
  say({{"read", decimal(context / double(T) * flops_per_token(characters.size()) /
                            flops_per_token(tokens.size()),
                        2)},
       {"context", decimal(context, 0)}});
}

std::vector<TuningRow> sweep() {
  const Texts other = play_before("TWENTY ONE", "TWENTY TWO", "TWENTY THREE");
  std::vector<TuningRow> rows;
  for (Tokens tokens : kinds)
    for (const double rate : {0.002, 0.004, 0.008, 0.016}) {
      tokens.rate = rate;
      std::vector<double> bits;
      for (const Run& run : train_seeds(tokens, other, 2, 10).runs) bits.push_back(run.bits);
      rows.push_back({tokens.name, rate, estimate(bits).mean, estimate(bits).standard_error});
    }
  return rows;
}

int main() {
  set_num_threads(1);  // each seed has a thread of its own
  if (tuning())
    return write_tuning("bits per character of two other scenes, seeds 11, 12", sweep());
  const Texts play = play_before("TWENTY THREE", "TWENTY FOUR", "");
  opening();
  const Guess guess("bits per character with 1,024 tokens");
  the_text_chooses(play);
  new_text(BytePairs::trained_on(play.training, 512), play);
  how_many(play);
  bits_per_character(play, guess);
  if (appendix("The learning rates")) {
    std::vector<ChosenRate> chosen;
    for (const Tokens& tokens : kinds) chosen.push_back({tokens.name, tokens.rate});
    show_tuning(chosen);
  }
  ending();
}
