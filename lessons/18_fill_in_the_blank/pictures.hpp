// pictures.hpp: the tables and plots of lesson 18.
#pragma once

#include <algorithm>
#include <memory>

#include "estimate.hpp"
#include "fill_in_the_blank.hpp"
#include "gnuplot_picture.hpp"
#include "heed/draw/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"

namespace heed {

inline const std::vector<HeadIndex> all_heads = {{0, 0}, {0, 1}, {0, 2}, {0, 3},
                                                 {1, 0}, {1, 1}, {1, 2}, {1, 3}};

inline Names names_of_models(std::size_t count) {
  Names names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back("model " + std::to_string(i));
  return names;
}

// "i was [MASK] the door when it opened .    targets watching"
inline std::string described(const Masked& m, std::size_t sentence, const Vocabulary& vocabulary) {
  Names seen, targets;
  for (std::size_t t = 0; t < m.seen.shape(1); ++t) {
    seen.push_back(vocabulary.decode(m.seen(sentence, t)));
    if (m.targets(sentence, t) != -100)
      targets.push_back(vocabulary.decode(m.targets(sentence, t)));
  }
  return pad_right(text_of(seen), 57) + "targets " + (targets.empty() ? "none" : text_of(targets));
}

// The same sentence with the other number of its object: "doors" for "door". It changes the object
// only, not the pronoun.
inline Sentence with_other_number(Sentence s) {
  const Kind& kind = kinds()[s.kind];
  const Names &from = s.plural ? kind.plural : kind.singular,
              &to = s.plural ? kind.singular : kind.plural;
  std::string& noun = s.words[s.position(Part::object)];
  noun = to[std::size_t(std::find(from.begin(), from.end(), noun) - from.begin())];
  return s;
}

// x (T, C), with zeros in all rows but t.
inline Array only_row(const Array& x, std::size_t t) {
  Array one = zeros({x.shape(0), x.shape(1)});
  xt::row(one, std::ptrdiff_t(t)) = xt::row(x, std::ptrdiff_t(t));
  return one;
}

// The word with the largest of the logits (1, T, V) at position t.
inline std::string most_probable(const BlankModel& model, const Tensor& logits, std::size_t t) {
  const Array row = xt::view(logits.value(), 0, t);
  return model.vocabulary.decode(std::max_element(row.begin(), row.end()) - row.begin());
}

// The mean loss and accuracies of the models, and their standard errors.
inline void show_models(const std::vector<BlankModel>& models, const std::vector<Sentence>& each,
                        const std::vector<Sentence>& about) {
  std::vector<double> losses, all, objects;
  for (const BlankModel& model : models) {
    losses.push_back(one_mask_loss(model, each));
    all.push_back(accuracy(model, each, Part::pronoun));
    objects.push_back(accuracy(model, about, Part::pronoun));
  }
  const auto line = [](const std::string& name, const std::vector<double>& x) {
    const Estimate e = estimate(x);
    const std::string error = decimal(e.standard_error, 3);
    return pad_right(name, 36) + decimal(e.mean, 3) +
           (x.size() < 2 || error == "0.000" ? "" : " +- " + error);
  };
  const double bound = conditional_entropy(models[0].vocabulary, each);
  quote(line("held-out loss, one [MASK]", losses) + "\n" +
        line("lowest possible loss: the entropy", {bound}) + "\n" +
        line("accuracy on all pronouns", all));
  guard("each accuracy on the pronouns about the object is above 0.9",
        *std::min_element(objects.begin(), objects.end()) > 0.9, "one is not");
}

// Prints a table with a row for each model, as quoted text, because it differs on other machines.
inline void quote_rows(const std::vector<Array>& rows, const Names& columns) {
  Array all = zeros({rows.size(), columns.size()});
  for (std::size_t i = 0; i < rows.size(); ++i) xt::row(all, std::ptrdiff_t(i)) = rows[i];
  quote(table(all, {"", names_of_models(rows.size()), columns, 2}));
}

template <class Found>
void show_heads(const std::vector<Found>& found) {
  std::string text = "         chosen head      its mean weight  largest of the others";
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [at, weights] = found[i];
    Array others = weights;
    others(at.layer, at.head) = 0;
    text += "\nmodel " + std::to_string(i + 1) + "  layer " + std::to_string(at.layer) + ", head " +
            std::to_string(at.head) + pad_left(decimal(weights(at.layer, at.head), 2), 17) +
            pad_left(decimal(xt::amax(others)(), 2), 23);
  }
  quote(text);
}

// "6 and 8": the numbers, from 1, of the models whose value is above `low` and below `high`.
inline std::string models_between(const std::vector<double>& values, double low, double high) {
  Names numbers;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > low && values[i] < high) numbers.push_back(std::to_string(i + 1));
  return numbers.empty() ? "none" : joined(numbers, " and ");
}

inline std::size_t count_above(const std::vector<double>& values, double bound) {
  return std::size_t(
      std::count_if(values.begin(), values.end(), [&](double x) { return x > bound; }));
}

// The fraction of predictions that the patch of the chosen head changes, for each model.
template <class Found>
std::vector<double> effects_of(const std::vector<Found>& found, const std::vector<Array>& patched) {
  std::vector<double> effects;
  for (std::size_t i = 0; i < found.size(); ++i)
    effects.push_back(patched[i](found[i].head.layer, found[i].head.head));
  return effects;
}

// Prints the accuracy of each model (rows) after different ablations (columns).
inline void show_ablations(const std::vector<Array>& rows) {
  quote_rows(rows, {"without it", "at [MASK] only", "worst other head"});
}

// Prints the fraction of predictions that the patch of the chosen head changes, and the largest of
// the other heads.
template <class Found>
void show_patches(const std::vector<Found>& found, const std::vector<Array>& patched) {
  std::string text = "         chosen head  largest of the others";
  for (std::size_t i = 0; i < found.size(); ++i) {
    const HeadIndex at = found[i].head;
    Array others = patched[i];
    others(at.layer, at.head) = -1;
    const HeadIndex best = largest_head(others);
    const double most = others(best.layer, best.head);
    text += "\nmodel " + std::to_string(i + 1) +
            pad_left(decimal(patched[i](at.layer, at.head), 2), 13) +
            pad_left(decimal(most, 2), 13);
    if (most > 0.05)
      text += "  layer " + std::to_string(best.layer) + ", head " + std::to_string(best.head) +
              ", attention weight " + decimal(found[i].weights(best.layer, best.head), 2);
  }
  quote(text);
}

// Prints the accuracy without the chosen head and without the other head whose patch changes most,
// and without both, for the models in which the chosen head does not decide.
template <class Found>
void show_without_both(const std::vector<BlankModel>& models, const std::vector<Found>& found,
                       const std::vector<Array>& patched) {
  const std::vector<Sentence> about = held_out_once([](const Sentence& s) { return s.of_object; });
  std::string text = "         chosen head  other head  both";
  for (std::size_t i = 0; i < found.size(); ++i) {
    const HeadIndex at = found[i].head;
    if (patched[i](at.layer, at.head) > 0.9) continue;
    Array others = patched[i];
    others(at.layer, at.head) = -1;
    const HeadIndex other = largest_head(others);
    const auto left = [&](const std::vector<HeadIndex>& heads) {
      std::vector<std::unique_ptr<AblatedHead>> ablated;
      for (const HeadIndex h : heads)
        ablated.push_back(std::make_unique<AblatedHead>(models[i].gpt, h.layer, h.head));
      return decimal(accuracy(models[i], about, Part::pronoun), 2);
    };
    text += "\nmodel " + std::to_string(i + 1) + pad_left(left({at}), 13) +
            pad_left(left({other}), 12) + pad_left(left({at, other}), 6);
  }
  quote(text);
}

// Plots the attention weights of the chosen heads of models 1 and 6 for a text.
template <class Found>
void picture_of_heads(const std::vector<BlankModel>& models, const std::vector<Found>& found,
                      const Names& words) {
  Names rows = words, titles;
  std::vector<Array> weights;
  for (const std::size_t i : {0, 5}) {
    const HeadIndex at = found[i].head;
    weights.push_back(weights_of(models[i], at, text_of(words)));
    titles.push_back("model " + std::to_string(i + 1) + ": layer " + std::to_string(at.layer) +
                     ", head " + std::to_string(at.head));
  }
  rows[6] = "▶ [MASK]";
  picture("18_fill_in_the_blank", "heads", weights, titles,
          {"attention weights of two chosen heads", rows, words, "query position", "key position",
           0, 1},
          2);
}

// Plots a dot for each head of each model: its attention weight and the effect of its patch.
template <class Found>
void picture_of_effects(const std::vector<Found>& found, const std::vector<Array>& patched) {
  Array others = zeros({8 * found.size(), 2}), chosen = zeros({found.size(), 2});
  std::string labels;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const HeadIndex at = found[i].head;
    for (std::size_t h = 0; h < 8; ++h) {
      others(8 * i + h, 0) = found[i].weights.flat(h);
      others(8 * i + h, 1) = patched[i].flat(h);
    }
    chosen(i, 0) = found[i].weights(at.layer, at.head);
    chosen(i, 1) = patched[i](at.layer, at.head);
    if (chosen(i, 1) < 0.9)
      labels += "set label 'model " + std::to_string(i + 1) + ", layer " +
                std::to_string(at.layer) + "' at " + decimal(chosen(i, 0), 3) + "," +
                decimal(chosen(i, 1), 3) + " right offset -1,0.6\n";
  }
  picture_by_gnuplot(
      "18_fill_in_the_blank", "effects",
      gnuplot_block("others", others) + gnuplot_block("chosen", chosen) + labels +
          "set xrange [-0.03:1.03]\nset yrange [-0.05:1.12]\nset key left center\n"
          "set xlabel 'mean attention weight from [MASK] to the noun'\n"
          "set ylabel 'fraction of predictions that the patch changes'\n"
          "plot $others with points pt 7 ps 0.7 lc rgb '#888888' title 'every head of eight "
          "models', "
          "$chosen with points pt 6 ps 1.8 lw 2 lc rgb '#D55E00' title 'the head that we chose'");
}

}  // namespace heed
