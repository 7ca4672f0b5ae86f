// 15 your_text: a text becomes numbers, windows and batches, and a small GPT learns to write it.
//
// Before this lesson: 14_how_low_can_it_go, what no model of a text can get below.
// After it: 16_looking_inside, what the heads of such a model do.
// With a text of your own: ./heed lesson 15 my_novel.txt
// Worth a breakpoint: heed::random_batch, where windows are cut out of the text.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/utf8.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/train/generate.hpp"
#include "heed/train/model_file.hpp"
#include "heed/train/trainer.hpp"
#include "lesson.hpp"

using namespace heed;
using Ids = std::vector<std::int64_t>;

const std::string folder = "15_your_text";
const std::size_t kilobyte = 1112;  // symbols, nine tenths of which are a thousand
bool own_text = false;

// The reader's own text, or the play that comes with heed.
std::string text_to_learn(int count, char** arguments) {
  own_text = count > 1;
  const std::string path = own_text ? arguments[1] : HEED_DATA_DIR "/harbour.txt";
  std::string text = read_text(path);
  if (has_byte_order_mark(text)) text.erase(0, 3);
  std::size_t symbols = 0;
  try {
    symbols = Vocabulary::of_text(text).encode(text).size();
  } catch (const Error& error) {
    throw_error(path, ": ", error.what(), " (of ./heed train)");
  }
  if (symbols < kilobyte)
    throw_error(path, ": has ", symbols, " symbols; this lesson needs ", kilobyte, " or more");
  return text;
}

// What is true of the play need not be true of every text.
void claim_of_text(const std::string& what, bool holds, double came) {
  if (holds || !own_text) return claim(what, holds, decimal(came, 4));
  say("  not so for this text: " + what + ": " + decimal(came, 4));
}

Array numbers(const Indices& ids) { return xt::cast<Real>(ids); }
Array number(double value) { return scalar(static_cast<Real>(value)); }

// A row of a batch, as ids or as symbols: "  31  34  26   1", "   T   W   O   ␣".
std::string row_of(const Indices& ids, std::size_t b, const Vocabulary* symbols = nullptr) {
  std::string text;
  for (std::size_t t = 0; t < ids.shape(1); ++t)
    text +=
        pad_left(symbols ? printable(symbols->decode(ids(b, t))) : std::to_string(ids(b, t)), 4);
  return text;
}

// How surprised, in nats, is a table that knows the k symbols before: of all places where these
// stand, what share goes on with the symbol that came? The mean over the text's first places.
double surprise_of_table(const Ids& text, std::size_t k, std::size_t places) {
  std::map<Ids, std::map<std::int64_t, double>> followed;
  for (std::size_t s = 0; s < places; ++s) followed[{&text[s], &text[s] + k}][text[s + k]] += 1;
  double surprise = 0;
  for (const auto& [before, counts] : followed) {
    double all = 0;
    for (const auto& [symbol, count] : counts) all += count;
    for (const auto& [symbol, count] : counts) surprise -= count * std::log(count / all);
  }
  return surprise / double(places);
}

// Goes on with a text: read what is new, turn the last symbol's scores into shares, draw, again.
Ids write_by_hand(const nn::Gpt& model, Ids text, std::size_t count, double temperature,
                  Generator& generator) {
  nn::GptCache cache(model.config);  // keys and values of what was read
  while (count-- > 0) {
    Indices unread = Indices::from_shape({1, text.size() - cache.size()});
    std::copy_n(text.data() + cache.size(), unread.size(), unread.data());
    const Array scores = model(unread, cache).value();      // (1, T, V)
    Array last = xt::view(scores, 0, scores.shape(1) - 1);  // (V)
    const Real top = *std::max_element(last.begin(), last.end());
    for (Real& x : last) x = Real(std::exp((double(x) - top) / temperature));  // shares, unscaled
    text.push_back(generator.multinomial(last, 1)(0));
  }
  return text;
}

// All weights, one after the other.
Array flat(const Parameters& parameters) {
  Array all = zeros({parameters.count()});
  auto end = all.begin();
  for (const Tensor& w : parameters) end = std::copy(w.value().begin(), w.value().end(), end);
  return all;
}

std::string without_times(std::vector<LogRow> history) {
  for (LogRow& row : history) row.ms = 0;
  return csv(history);
}

std::string in_words(const LogRow& row) {
  return "step " + pad_left(std::to_string(row.step), 4) + "   training " +
         trained(row.train_loss) + "   validation " + trained(*row.val_loss);
}

std::vector<Series> curves_of(const std::vector<LogRow>& history) {
  Series training{"training", {}, {}}, validation{"validation", {}, {}, /*points=*/true};
  for (const LogRow& row : history) {
    training.append(double(row.step), row.train_loss);
    if (row.val_loss) validation.append(double(row.step), *row.val_loss);
  }
  return {training, validation};
}

int main(int argc, char** argv) {
  set_num_threads(1);  // so small a model is not worth sharing
  section("A text");
  say("This is ./heed train, taken apart. It learns to go on with a text, symbol by",
      "symbol, from nothing but the text. Yours will do: ./heed lesson 15 my_novel.txt.",
      "Without one it is the play that comes with heed, which begins:", "");
  const std::string text = text_to_learn(argc, argv);
  quote(truncated(text.substr(0, text.find('\n', 60)), 300));

  section("Symbols and their numbers");
  say("A model computes, so a text becomes numbers. The vocabulary is the list of its",
      "distinct symbols, sorted. A symbol's place in that list, from 0, is its id.", "");
  Names symbols;
  for (std::size_t i = 0; i < text.size(); i += symbols.back().size())
    symbols.emplace_back(character_at(text, i));
  std::map<std::string, Real> place;  // a map sorts its keys
  for (const std::string& symbol : symbols) place[symbol] = 0;
  Real next = 0;
  for (auto& [symbol, id] : place) id = next++;
  Array by_hand = zeros({symbols.size()});
  for (std::size_t n = 0; n < symbols.size(); ++n) by_hand(n) = place[symbols[n]];
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Ids ids = vocabulary.encode(text);
  const Indices all_ids = xt::adapt(ids, {1ul, ids.size()}),
                eight = xt::view(all_ids, xt::all(), xt::range(0, 8));
  const std::size_t V = vocabulary.size();
  say(grouped(double(ids.size())) + " symbols, " + std::to_string(V) +
          " of them distinct; the first eight:",
      "", row_of(eight, 0, &vocabulary), row_of(eight, 0), "");
  check("ids by hand = in one line, of the whole text", by_hand, numbers(xt::view(all_ids, 0)), 0);
  claim("ids made into a text again are the text", vocabulary.decode(ids) == text, "another");
  const auto count = [](Unit unit) {
    return std::to_string(Vocabulary::of_text("café", unit).encode("café").size());
  };
  say("", "A symbol is what lessons 01 to 12 called a token: it gets a vector of its own.",
      "Here it is a character, be it of one byte or of four. The other choice is",
      "a byte: 256 symbols at most, for any file (./heed train --bytes). 'café' has " +
          count(Unit::code_point),
      "characters and " + count(Unit::byte) + " bytes.");

  section("Nine tenths to learn, one tenth to be tested");
  const Corpus corpus(text, vocabulary);
  const Split learned = corpus.training(), unseen = corpus.validation();
  say("A model that knows a text by heart may be good at that text alone. So the last",
      "tenth is kept from it, to see now and then how it does there: the validation. It",
      "is one piece. Windows overlap: of a tenth taken here and there, most symbols",
      "would be in training windows, too.", "",
      "  training    from symbol " + grouped(double(learned.begin)) + ", " +
          grouped(double(learned.size)) + " symbols",
      "  validation  from symbol " + grouped(double(unseen.begin)) + ", " +
          grouped(double(unseen.size)) + " symbols",
      "");
  check("nine tenths by hand = the corpus's", number(std::floor(0.9 * double(ids.size()))),
        number(double(learned.size)), 0);

  section("A batch");
  say("The model reads a window of T symbols. Its target at each place is the symbol",
      "that comes next: the same window, one symbol further on. So a window asks T",
      "questions at once, and the causal mask of lesson 07 hides the answers. Windows",
      "begin anywhere in the training part; B of them are a batch. With B = 3, T = 8:", "");
  Generator draws(1337), same_draws(1337);
  const Batch small = random_batch(learned, 3, 8, draws);  // (3, 8) and (3, 8)
  for (std::size_t b = 0; b < 3; ++b)
    say("  inputs      " + row_of(small.inputs, b, &vocabulary),
        "  targets     " + row_of(small.targets, b, &vocabulary),
        "  target ids  " + row_of(small.targets, b), "");
  const Indices starts = same_draws.randint(0, std::int64_t(learned.size - 8), {3});
  Array inputs_by_hand = zeros({3, 8}), targets_by_hand = zeros({3, 8});
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t t = 0; t < 8; ++t) {
      inputs_by_hand(b, t) = Real(ids[std::size_t(starts(b)) + t]);
      targets_by_hand(b, t) = Real(ids[std::size_t(starts(b)) + t + 1]);
    }
  check("inputs by hand = in one line", inputs_by_hand, numbers(small.inputs), 0);
  check("targets by hand = in one line", targets_by_hand, numbers(small.targets), 0);

  section("The loss");
  say("The model is made of lesson 13's blocks: 2 of them, with 4 heads, 64 numbers for",
      "a symbol, windows of 64. At each place of each window it gives V scores, one for",
      "each symbol that might come next. Softmax makes them shares that sum to one. The",
      "surprise is minus the logarithm of the share of what came, in nats, and the loss",
      "is the mean surprise.", "");
  nn::GptConfig config;
  config.vocab_size = V, config.layers = 2, config.embed_dim = 64;
  TrainOptions options;
  options.batch_size = 8, options.lr = 4e-3, options.min_lr = 4e-4;
  options.steps = in_brief(1500, 100), options.warmup = in_brief(100, 20);
  Parameters parameters;
  Generator initial(options.seed);
  const nn::Gpt model(Scope(parameters, initial), config);
  Batches batches(learned, 8, 64, options.seed);
  const Batch batch = batches.next();         // (8, 64) and (8, 64)
  const Tensor scores = model(batch.inputs);  // (8, 64, V)
  double surprise = 0;
  for (std::size_t b = 0; b < 8; ++b)
    for (std::size_t t = 0; t < 64; ++t) {
      double sum = 0;
      for (std::size_t v = 0; v < V; ++v) sum += std::exp(double(scores.value()(b, t, v)));
      surprise -= std::log(std::exp(scores.value()(b, t, batch.targets(b, t))) / sum);
    }
  const double blind = std::log(double(V)), loss = surprise / (8 * 64);
  check("by hand = in one line", number(loss), cross_entropy(scores, batch.targets));
  check("in one line = the model's own", cross_entropy(scores, batch.targets),
        model.loss(batch.inputs, batch.targets));
  say("",
      "The loss is " + decimal(loss, 4) +
          ". Nothing is learned yet, and each symbol gets about the",
      "same share, 1 / V. That alone makes a surprise of ln V = " + decimal(blind, 4) + ".");
  claim("the loss at the start is ln V within 3 %", std::abs(loss - blind) <= 0.03 * blind + 1e-6,
        decimal(loss, 4));

  section("The learning rate");
  say("AdamW divides each gradient by its usual size, which it does not know well at",
      "first. So the learning rate rises in a line: the warm-up. Then it falls along",
      "half a cosine to a tenth: long steps first, and short ones to settle.");
  const optim::WarmupCosine schedule = schedule_of(options);
  Series rates{"learning rate", {}, {}};
  Array rates_by_hand = zeros({std::size_t(options.steps)}), in_one_line = rates_by_hand;
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const double done = double(step - options.warmup) / double(options.steps - options.warmup);
    const double share = step < options.warmup ? double(step + 1) / double(options.warmup + 1)
                                               : 0.55 + 0.45 * std::cos(std::acos(-1.0) * done);
    rates_by_hand(step) = Real(options.lr * share);
    in_one_line(step) = Real(schedule.at(step));
    rates.append(double(step), schedule.at(step));
  }
  check("by hand = in one line, every step", rates_by_hand, in_one_line, 1e-8);
  CurveOptions rate_curve{"Warm-up, then half a cosine", "step", "learning rate"};
  rate_curve.lines = {{"highest", options.lr}, {"lowest", options.min_lr}};
  picture(folder, "schedule", {rates}, rate_curve);

  section("Ten steps by hand");
  say("A step: a batch, its loss, the gradients. If these are longer than 1, taken as",
      "one long vector, they are shortened to 1, lest one odd batch do too much.",
      "Then AdamW moves every weight. The Trainer is this loop, and keeps a history.", "");
  optim::AdamWOptions adamw;
  adamw.beta2 = options.beta2, adamw.weight_decay = options.weight_decay;
  adamw.decay_vectors = false;
  optim::AdamW optimizer(parameters.tensors(), adamw);
  batches.rewind(options.seed);
  Trainer trainer(corpus, config, options);
  for (std::int64_t step = 0; step < 10; ++step) {
    const Batch windows = batches.next();
    optim::zero_grad(parameters.tensors());
    backward(model.loss(windows.inputs, windows.targets));
    optim::clip_grad_norm(parameters.tensors(), options.clip);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
    trainer.step();
  }
  check("the loss by hand = the Trainer's first", number(loss),
        number(trainer.history()[0].train_loss));
  check("every weight by hand = the Trainer's, to the last bit", flat(parameters),
        flat(trainer.parameters()), 0);

  section("Training");
  say("The Trainer goes on. Now and then it also asks for the loss of windows from the",
      "validation part, always the same ones, and learns nothing from them.", "");
  while (!trainer.done())
    if (const auto row = trainer.step(); row && row->val_loss) say(in_words(*row));
  const double singles = surprise_of_table(ids, 0, ids.size());
  const double pairs = surprise_of_table(ids, 1, ids.size() - 1);
  const double reached = *trainer.history().back().val_loss;
  say("", "What is that worth? A table of how often each symbol comes is surprised by",
      decimal(singles, 4) + ", one of how often it follows the symbol before by " +
          decimal(pairs, 4) + ":",
      "lesson 14's first two floors, counted in all of this text. The model may look",
      "at 64 symbols, and ends at " + trained(reached) + ".");
  claim_of_text("unseen text surprises it less than the table of single symbols", reached < singles,
                reached);
  CurveOptions losses{"Learning a text", "step", "loss (nats per symbol)"};
  losses.lines = {{"blind, ln V", blind}, {"single symbols", singles}, {"pairs", pairs}};
  picture(folder, "training", curves_of(trainer.history()), losses);

  section("Writing");
  say("A model that gives each next symbol a share can write: draw a symbol by these",
      "shares, append it, and ask again. The temperature divides the scores first.",
      "Below 1 the likely becomes likelier, above 1 all become more alike. At 0 the",
      "likeliest is taken every time.", "");
  const Ids prompt = {std::max<std::int64_t>(vocabulary.find('\n'), 0)};  // as if a line began
  GenerateOptions writing;
  writing.tokens = 40, writing.temperature = 0.8;
  Generator one(7), other(7);
  Ids written = generate(trainer.model(), prompt, writing, one);
  written.insert(written.begin(), prompt[0]);
  const Ids again = write_by_hand(trainer.model(), prompt, 40, 0.8, other);
  check("40 symbols by hand = in one line", numbers(xt::adapt(again, {again.size()})),
        numbers(xt::adapt(written, {written.size()})), 0);
  Batches tests(unseen, 8, 64, 7);
  const Tensor asked = trainer.model()(tests.next().inputs);  // (8, 64, V)
  Array likeliest = zeros({3, 1});
  const std::vector<double> temperatures = {0.5, 1, 1.5};
  writing.tokens = std::size_t(in_brief(200, 20));
  for (std::size_t i = 0; i < 3; ++i) {
    writing.temperature = temperatures[i];
    Array shares = softmax(asked / Real(temperatures[i]), -1).value();  // (8, 64, V)
    Array top = xt::amax(shares, {2}), mean = xt::mean(top);
    likeliest(i, 0) = mean();
    say("", "temperature " + decimal(temperatures[i], 1));
    Generator generator(1337);
    quote(vocabulary.decode(generate(trainer.model(), prompt, writing, generator)));
  }
  say("", "How free is the choice? In 512 places of the validation part, the likeliest",
      "symbol's share was, on average:");
  show_trained("likeliest", likeliest, {"temperature 0.5", "temperature 1.0", "temperature 1.5"});
  claim_of_text("the higher the temperature, the less the likeliest symbol gets",
                likeliest(0, 0) > likeliest(1, 0) && likeliest(1, 0) > likeliest(2, 0),
                likeliest(1, 0));

  section("Learned by heart");
  say("What if there is too little text? Take the first kilobyte: a thousand symbols to",
      "learn, a hundred to be tested; and a model of one block, with windows of 32.", "");
  const std::int64_t few = in_brief(kilobyte, 500);
  const Corpus short_text(vocabulary.decode({ids.begin(), ids.begin() + few}), vocabulary);
  nn::GptConfig one_block = config;
  one_block.layers = 1, one_block.block_size = 32;
  TrainOptions by_heart = options;
  by_heart.steps = in_brief(1000, 350), by_heart.warmup = 50;
  by_heart.lr = 8e-3, by_heart.min_lr = 8e-4;
  by_heart.eval_every = by_heart.log_every = 25, by_heart.eval_batches = 8;
  Trainer learner(short_text, one_block, by_heart);
  LogRow turn;
  std::string table;
  while (!learner.done())
    if (const auto row = learner.step(); row && row->val_loss) {
      if (!turn.val_loss || *row->val_loss < *turn.val_loss) turn = *row;
      if (row->step % 100 == 0) table += in_words(*row) + "\n";
    }
  quote(table);
  const LogRow last = learner.history().back();
  const std::string turning_point = "turning point, step " + std::to_string(turn.step);
  say("", "The training loss goes on falling. The validation loss turns up: what is",
      "learned now is true of this kilobyte alone. That is overfitting, and this is how",
      "you see it. For any other text the model was best at the turning point:", "");
  quote(turning_point + ": validation " + decimal(*turn.val_loss, 2));
  claim_of_text("validation ends more than half a nat above its turning point",
                *last.val_loss > *turn.val_loss + 0.5, *last.val_loss);
  double floor = 0;
  const std::size_t places = short_text.training().size - 32;  // where a window can begin
  for (std::size_t k = 1; k <= 32; ++k) floor += surprise_of_table(ids, k, places) / 32;
  std::vector<Series> curves = curves_of(learner.history());
  curves.push_back({turning_point, {double(turn.step)}, {*turn.val_loss}, /*points=*/true});
  CurveOptions heart{"A kilobyte learned by heart", "step", "loss (nats per symbol)"};
  heart.lines = {{"floor", floor}};
  picture(folder, "by_heart", curves, heart);
  say("", "Why not to 0? A window begins anywhere, and after its first symbol nobody can",
      "know the next, by heart or not. There is a floor, as in lesson 14, and counting",
      "finds it. A table of what follows the same k symbols in this kilobyte costs",
      decimal(floor, 4) + " nats, on average over k = 1 to 32. The model ends at " +
          trained(last.train_loss) + ".");
  claim_of_text("the training loss ends less than a quarter of a nat from its floor",
                std::abs(last.train_loss - floor) < 0.25, last.train_loss);
  say("", "It can recite. Given 16 symbols, and at temperature 0, it goes on:", "");
  writing.temperature = 0, writing.tokens = 300;
  const Ids recited = generate(learner.model(), {ids.begin(), ids.begin() + 16}, writing, one);
  std::size_t right = 0;
  while (right < 300 && recited[right] == ids[16 + right]) ++right;
  quote(vocabulary.decode({ids.begin(), ids.begin() + 16}) + vocabulary.decode(recited));
  quote("\nthe first " + std::to_string(right) + " of 300 symbols are the text's");
  claim_of_text("it recites 20 symbols or more without a fault", right >= 20, double(right));

  section("Stopped, and gone on with");
  say("A run may be interrupted. A checkpoint keeps all that the next step depends on:",
      "the weights, for each AdamW's means of gradients and of their squares, the",
      "generator that draws the windows, the step, which sets the rate, and the",
      "history. One trainer does 40 steps. Another does 20 and is saved to a file. A",
      "third is restored from it and does 20 more.", "");
  by_heart.steps = 40;
  by_heart.eval_every = by_heart.log_every = 10;
  Trainer whole(short_text, one_block, by_heart), half(short_text, one_block, by_heart),
      rest(short_text, one_block, by_heart);
  while (!whole.done()) whole.step();
  while (half.steps_done() < 20) half.step();
  const std::string file = "runs/lessons/" + folder + "/half.safetensors";
  std::filesystem::create_directories("runs/lessons/" + folder);
  save_run(file, half, vocabulary, {});
  ModelFile::open(file).restore(rest);
  say(file + ": step " + std::to_string(rest.steps_done()), "");
  while (!rest.done()) rest.step();
  check("every weight of 20 + 20 steps = of 40, to the last bit", flat(rest.parameters()),
        flat(whole.parameters()), 0);
  claim("so does every line of the history, but for the milliseconds",
        without_times(rest.history()) == without_times(whole.history()), "another history");

  section("All of it in one command");
  say("The command does what you have seen, with 4 blocks, 128 numbers for a symbol and",
      "2000 steps. That takes a minute or two, and all is kept in runs/my_novel.", "",
      "  ./heed train my_novel.txt", "  ./heed train --resume --out runs/my_novel",
      "  ./heed sample runs/my_novel --temperature 0.8",
      "  ./heed inspect runs/lessons/15_your_text/half.safetensors", "",
      "The second goes on after Ctrl-C, the last shows what is in a checkpoint. To see",
      "windows being cut out of the text, start gdb with: ./heed debug 15", "",
      "  break heed::random_batch", "  continue              to the first batch, of 3 windows of 8",
      "  next                  a few times, past the line of starts",
      "  print starts          where the windows begin", "",
      "The loss says that the model has learned something, and what it writes lets you",
      "guess what. What do its heads look at? Open it: 16_looking_inside.");
}
