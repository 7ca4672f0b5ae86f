// 21 additive_attention: the attention of 2014, between an encoder and a decoder that are GRUs.
//
// Worth a breakpoint: Translator::scores. Continue with `finish`.

#include "gru.hpp"
#include "guess.hpp"
#include "training.hpp"

using namespace heed;

const std::string lesson = "21_additive_attention";

void the_lines() {
  section("Dates and times");
  Generator g(3);
  for (const bool with_time : {false, true}) {
    const DateBatch batch = new_batch(g, 3, with_time, training_length(with_time), false);
    for (std::size_t b = 0; b < 3; ++b)
      quote(pad_right("'" + batch.lines[b] + "'", 36) + batch.target_texts[b]);
  }
  say();
}

// Translates lines into ISO forms, character by character.
struct Translator {
  Translator(const Scope& scope, Score kind)
      : score(kind),
        character(scope / "character", characters.size(), C),
        encoder(scope / "encoder", C, C, /*two=*/true),
        W(scope / "W", C, C, false),
        U(scope / "U", 2 * C, C, false),
        v(scope / "v", C, 1, false),
        first_state(scope / "first_state", 2 * C, C),
        decoder(scope / "decoder", 3 * C, C),
        output(scope / "output", 3 * C, characters.size()) {}

  // The scores (B, S) of the decoder's state s (B, C) with each position of the line.
  Tensor scores(const Tensor& s, const Tensor& keys) const {
    if (score == Score::additive)
      return squeeze(v(tanh(unsqueeze(W(s), 1) + keys)), -1);         // v . tanh(W s + U h_j)
    const Tensor dots = squeeze(matmul(keys, unsqueeze(s, -1)), -1);  // s . U h_j
    return score == Score::dot ? dots : dots / std::sqrt(double(C));
  }

  // N output characters. The previous character is the correct one if `targets` (B, N) are given,
  // and otherwise the most probable one.
  Decoded decode(const Indices& lines, std::size_t N, const Indices* targets = nullptr) const {
    const Indices both = xt::stack(xt::xtuple(lines, xt::flip(lines, 1)));  // (2, B, S)
    const auto [H, last] = encoder.both_directions(character(both));  // (B, S, 2C) and (B, 2C)
    const Tensor keys = U(H);                                         // (B, S, C), computed once
    Tensor s = tanh(first_state(last)), c = last;                     // (B, C) and (B, 2C)
    Indices previous = indices({lines.shape(0)}, std::int64_t(characters.find(' ')));
    std::vector<Tensor> logits, all_scores;
    for (std::size_t i = 0; i < N; ++i) {
      if (score != Score::none) {
        all_scores.push_back(scores(s, keys));            // (B, S)
        const Tensor a = softmax(all_scores.back(), -1);  // (B, S)
        c = squeeze(matmul(unsqueeze(a, 1), H), 1);       // (B, 2C)
      }
      s = decoder(concat({character(previous), c}, -1), s);
      logits.push_back(output(concat({s, c}, -1)));  // (B, V)
      previous = argmax(logits.back(), -1);
      if (targets != nullptr) previous = xt::col(*targets, std::ptrdiff_t(i));
    }
    if (score == Score::none) return {stack(logits, 1), {}, {}};
    return {stack(logits, 1), stack(all_scores, 1), softmax(stack(all_scores, 1), -1)};
  }

  Score score;
  nn::Embedding character;
  Gru encoder;         // one GRU reads forwards, one backwards
  nn::Linear W, U, v;  // of the scores
  nn::Linear first_state;
  Gru decoder;
  nn::Linear output;
};

// With teacher forcing.
Tensor loss_of(const Translator& model, const DateBatch& batch) {
  const std::size_t N = batch.targets.shape(1);
  return cross_entropy(model.decode(batch.inputs, N, &batch.targets).logits, batch.targets);
}

struct Trained {
  Translator model;
  std::vector<Sharpness> sharpness;  // after 0, 50 and all steps
};

using Models = std::vector<Trained>;  // one for each seed

Trained train(const Setting& setting, std::uint64_t seed) {
  Generator weights(seed), data(seed + 1000);  // the same data for all settings
  Parameters parameters;
  Trained result{Translator({parameters, weights}, setting.score), {}};
  Tensor(result.model.U.weight).mutable_value() *= Real(setting.scale_of_U);
  optim::AdamW optimizer(parameters, {setting.rate, 0.9, 0.99, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine schedule{setting.rate, setting.rate / 20, 20, setting.steps};
  for (std::int64_t step = 0; step <= setting.steps; ++step) {
    if (setting.score != Score::none && (step == 0 || step == 50 || step == setting.steps))
      result.sharpness.push_back(sharpness(result.model, test_lines(true)));
    if (step == setting.steps) break;
    const DateBatch batch =
        new_batch(data, 16, step % 2 == 1, training_length(step % 2 == 1), false);
    const Tensor loss = loss_of(result.model, batch);
    optim::zero_grad(parameters);
    loss.backward();
    optim::clip_grad_norm(parameters, 1);
    optimizer.set_lr(schedule.at(step));
    Tensor U = result.model.U.weight;
    const Array before = U.value();
    optimizer.step();
    if (setting.rate_of_U != 1)
      U.mutable_value() = before + Real(setting.rate_of_U) * (U.value() - before);
  }
  return result;
}

// A model for each seed, for each setting.
std::vector<Models> train_all(const std::vector<Setting>& some, std::size_t n,
                              std::uint64_t first_seed = 1) {
  return models_in_threads<Trained>(
      std::vector<std::size_t>(some.size(), n),
      [&](std::size_t i, std::uint64_t s) { return train(some[i], first_seed + s); });
}

void one_vector(const Models& fixed) {
  section("One vector for a whole line");
  quote("fixed context vector, steps   date            date and time");
  quote(row_of(grouped(double(steps)), fixed));
  say();
}

void a_vector_for_each_character(const Models& additive) {
  section("A context vector for each character");
  picture(lesson, "translator", translator_graph);
  say();
  Generator g(20);
  Parameters parameters;
  const Translator model({parameters, g}, Score::additive);
  const Tensor s(g.randn({1, C})), keys(g.randn({1, 17, C}));
  const auto without_tanh = [&](const Tensor& query) {
    return softmax(squeeze(model.v(unsqueeze(model.W(query), 1) + keys), -1), -1);
  };
  check("without tanh: the weights of the query s = those of the query -s", without_tanh(s),
        without_tanh(-s));
  say({{"added", grouped(double(model.W.weight.value().size() + model.U.weight.value().size() +
                                model.v.weight.value().size()))},
       {"all", grouped(double(parameters.count()))}});
  quote("attention, steps              date            date and time");
  quote(row_of(grouped(double(steps)), additive));
  say();
}

void more_steps(const Models& additive, const Guess& guess) {
  section("Does it only need more steps?");
  const Models longer = train_all({settings[1]}, few)[0];
  quote("steps                         date            date and time");
  quote(row_of("fixed vector, " + grouped(double(settings[1].steps)), longer));
  quote(row_of("attention, " + grouped(double(steps)), additive));
  const Estimate fixed = estimate(accuracies(longer, test_lines(true)));
  guess.compare(decimal(fixed.mean, 2));
  const double attention = smallest(accuracies(additive, test_lines(true)));
  guard("date and time, each seed: attention is above the mean of the fixed vector",
        attention > fixed.mean, decimal(attention, 4));
  say();
}

void what_the_scale_does() {
  section("What does sqrt(C) do?");
  const std::vector<Setting> some(settings.begin() + 3, settings.end());
  const std::vector<Models> models = train_all(some, seeds);
  std::vector<std::vector<double>> right;
  quote("                        largest weight, deviation of scores, after");
  quote("                        0 steps       50 steps      400 steps     date and time");
  for (std::size_t i = 0; i < some.size(); ++i) {
    right.push_back(accuracies(models[i], test_lines(true)));
    quote(pad_right(some[i].name, 24) + sharpness_cells(models[i]) + mean_and_error(right[i]));
  }
  Names gains;
  for (std::size_t i = 1; i < some.size(); ++i)
    gains.push_back(mean_and_error(differences(right[i], right[0])));
  quote("gain over the dot product, seed by seed: small U " + gains[0] + ", slow U " + gains[1]);
  guard("after 50 steps, each seed: the scores without the factor deviate more",
        smallest(deviations(models[0], 1)) > largest(deviations(models[3], 1)),
        "one deviates less");
  say();
}

void where_it_looks(const Models& additive) {
  section("Where does it look?");
  const std::string line = "met 17:45 on 3rd of october 1999";
  const Decoded decoded = additive[0].model.decode(tokens_of({line}), 16);
  picture_trained(
      lesson, "alignment", select(decoded.weights, 0, 0).value(),
      {"attention weights, additive", characters_of(text_of(argmax(decoded.logits, -1), 0)),
       characters_of(line), "output character (query)", "input character (key)", 0, 1});
  say();
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  if (tuning())
    return write_tuning("loss on the tuning lines, seeds 11 and 12", sweep(train_all, loss_of));
  opening();
  const Guess guess("the accuracy of the fixed vector after 1,600 steps, date and time");
  the_lines();
  one_vector(train_all({settings[0]}, few)[0]);
  const Models additive = train_all({settings[2]}, few)[0];
  a_vector_for_each_character(additive);
  more_steps(additive, guess);
  what_the_scale_does();
  where_it_looks(additive);
  appendix("A gated recurrent unit");
  if (appendix("How the learning rates were chosen")) {
    std::vector<ChosenRate> chosen;
    for (const Setting& setting : settings) chosen.push_back({setting.name, setting.rate});
    show_tuning(chosen);
  }
  ending();
}
