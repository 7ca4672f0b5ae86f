// page.cpp: heed look --page, which writes one HTML file with all views of a model's attention.

#include "page/page.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <numeric>

#include "commands/look/page_data.hpp"
#include "commands/output_file.hpp"
#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/study/heads.hpp"
#include "heed/train/loss_csv.hpp"

namespace heed::app {
namespace {

// t-SNE takes time in proportion to the square of the number of points. This limit, for the sum
// over all maps of a page, is about a minute on one core.
constexpr std::size_t max_pairs = 4'000'000;

// The attention weights (H, T, T) of each layer, the same numbers as those of heed look's plots.
std::vector<Array> weights_of(const nn::Gpt& model, const Indices& tokens) {
  std::vector<Array> weights;
  for (const LayerAttention& layer : capture_attention(model, tokens))
    weights.push_back(xt::view(layer.weights, 0));
  return weights;
}

Json all_weight_codes(const std::vector<Array>& layers, bool causal) {
  Json::List heads;
  for (const Array& layer : layers)
    for (const Json& head : weight_codes(layer, causal)) heads.push_back(head);
  return heads;
}

Json model_json(const LookCommand& command, const nn::GptConfig& c, const LookText& text,
                const ValidationText& training) {
  return {{"run", printable(command.run)},
          {"layers", c.layers},
          {"heads", c.heads},
          {"width", c.embed_dim},
          {"head_size", c.head_width()},
          {"causal", c.causal},
          {"text", command.text ? "given with --text"
                                : "the beginning of the validation split of " + training.name},
          {"length", text.names.size()}};
}

Json ablation_json(const nn::Gpt& model, const AblationLoss& measure, Array& increases) {
  if (!measure.loss) return {{"description", measure.description}};
  const Ablation ablation = measured_ablation(model, measure.loss);
  increases = loss_increases(ablation);
  std::vector<double> column(increases.begin(), increases.end());
  return {{"description", measure.description},
          {"loss", score_json({{ablation.baseline_loss}})[0][0]},
          {"increase", score_json({column})[0]}};
}

// The heads in the order in which they get a part of limited size: the heads of --layer and --head,
// then those without which the loss rises most.
std::vector<std::size_t> preferred_heads(const LookCommand& command, const nn::GptConfig& config,
                                         const Array& increases) {
  std::vector<std::size_t> order(config.layers * config.heads);
  std::iota(order.begin(), order.end(), 0);
  const auto selected = [&](std::size_t i) {
    return command.layer && *command.layer == i / config.heads &&
           (!command.head || *command.head == i % config.heads);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (selected(a) != selected(b)) return selected(a);
    return increases.data()[a] > increases.data()[b];
  });
  return order;
}

Array head_of(const Array& heads, std::size_t h) { return xt::view(heads, h); }

// The queries, keys and values of as many heads as fit into `bytes`, null for the others.
Json vectors_json(const ForwardRecord& record, const std::vector<std::size_t>& order,
                  std::size_t heads, std::size_t bytes) {
  Json::List json(order.size());
  std::size_t used = 0;
  for (const std::size_t i : order) {
    const LayerRecord& layer = record.layers[i / heads];
    const Json head = {{"queries", vector_codes(head_of(layer.queries, i % heads))},
                       {"keys", vector_codes(head_of(layer.keys, i % heads))},
                       {"values", vector_codes(head_of(layer.values, i % heads))}};
    used += written_bytes(head);
    if (used > bytes && i != order[0]) break;
    json[i] = head;
  }
  return json;
}

Json map_json(const Tsne& map) {
  const CodedNumbers points =
      coded_numbers(std::vector<Real>(map.points.begin(), map.points.end()), 4);
  return {{"low", points.low}, {"high", points.high}, {"codes", points.codes}, {"kl", map.kl}};
}

// The maps of as many heads as max_pairs allows, null for the others, and {"zero": true} for heads
// with a query or a key that is zero.
Json maps_json(const LookCommand& command, const ForwardRecord& record,
               const std::vector<std::size_t>& order, std::size_t heads) {
  const std::size_t points = 2 * record.layers[0].queries.shape(1);
  Json::List json(order.size());
  if (points < 4) return json;
  const std::size_t count = std::clamp<std::size_t>(max_pairs / (points * points), 1, order.size());
  LiveLine line;
  for (std::size_t k = 0; k < count; ++k) {
    line.show("t-SNE: map " + std::to_string(k + 1) + " of " + std::to_string(count));
    const LayerRecord& layer = record.layers[order[k] / heads];
    const std::size_t h = order[k] % heads;
    const std::optional<Tsne> map =
        query_key_map(command, head_of(layer.queries, h), head_of(layer.keys, h));
    json[order[k]] = map ? map_json(*map) : Json{{"zero", true}};
  }
  return json;
}

std::string page_html(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                      const ValidationText& training) {
  const nn::Gpt& model = saved.model;
  const nn::GptConfig& config = model.config;
  TokenTexts texts(saved.vocabulary);
  Json json = {{"model", model_json(command, config, text, training)}};
  for (const std::int64_t id : text.tokens) json["tokens"].push_back(texts.index(id));

  const ScoreText scored = score_text(command, model, text, training);
  const HeadScores scores = head_scores_on(model, scored);
  json["scores"] = {{"kinds", scores.kinds},
                    {"of_kind", score_json(scores.of_kind)},
                    {"uniform", score_json({scores.uniform})[0]},
                    {"description", scores.description}};
  Array increases = zeros({config.layers, config.heads});
  json["ablation"] = ablation_json(model, ablation_loss(saved, text, training), increases);

  const ForwardRecord record = record_forward(model, text.tokens);
  const std::vector<std::size_t> order = preferred_heads(command, config, increases);
  json["weights"] = all_weight_codes(weights_of(model, text.tokens), config.causal);
  json["lens"] = lens_json(logit_lens(model, record), text.tokens, config.causal, texts);
  json["maps"] = maps_json(command, record, order, config.heads);

  const std::string title = "heed look " + printable(command.run);
  const auto left = [&] {  // how many bytes can be added before the page has page_bytes
    json["texts"] = texts.json();
    const std::size_t used = written_bytes(json) + attention_page(title, "", "").size();
    return used < page_bytes ? page_bytes - used : 0;
  };
  // The page always has the gradients of the first loss. The history may take half of the other
  // bytes. The vectors may take all that is left then, and further losses what the vectors leave.
  Json::List gradients = gradients_json(record, text.tokens, config.causal, 0, texts);
  const auto left_after_first_loss = [&, first_loss = written_bytes(gradients)] {
    return left() - std::min(left(), first_loss);
  };
  json["history"] = history_json(command, saved, text, scored, left_after_first_loss() / 2);
  json["vectors"] = vectors_json(record, order, config.heads, left_after_first_loss());
  gradients =
      gradients_json(record, text.tokens, config.causal, left(), texts, std::move(gradients));
  json["texts"] = texts.json();
  return attention_page(title, ascii(json), ascii(gradients));
}

// Whether the file is one that --page may replace: an older page, or an empty file.
bool is_replaceable(const std::filesystem::path& file) {
  const std::string start = start_of_file(file, 2000);
  return start.empty() ||
         (start.rfind("<!doctype html>", 0) == 0 && start.find("<title>heed look ") != start.npos);
}

// One model of the history: its step, and the attention weights and scores of its heads.
Json history_model(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                   const ScoreText& scored, const RunFolder& folder, std::int64_t step) {
  const nn::GptConfig& config = saved.model.config;
  const ModelFile file = ModelFile::open(folder.history().file(step));
  check_trusted(file, command.trust);
  const LoadedModel kept(file);
  if (kept.model.config.layers != config.layers || kept.model.config.heads != config.heads ||
      kept.vocabulary != saved.vocabulary)
    throw_error(file.path(), ": is not a model of this run; move it out of the folder");
  return {{"step", step},
          {"scores", score_json(head_scores_on(kept.model, scored).of_kind)},
          {"weights", all_weight_codes(weights_of(kept.model, text.tokens), config.causal)}};
}

// The last of `count` models and every stride-th before it, with the smallest stride with which
// they fit into `bytes`. `read` reads one model, whose size is known only then.
Json models_that_fit(std::size_t count, std::size_t bytes,
                     const std::function<Json(std::size_t)>& read) {
  std::vector<Json> models(count);  // null until it is read
  std::vector<std::size_t> sizes(count);
  const auto size = [&](std::size_t i) {
    if (models[i].is_null()) models[i] = read(i), sizes[i] = written_bytes(models[i]) + 1;
    return sizes[i];
  };
  const auto fit = [&](std::size_t stride) {
    std::size_t used = 0;
    for (std::size_t i = count; i > 0 && used <= bytes; i -= std::min(i, stride))
      used += size(i - 1);
    return used <= bytes;
  };
  // Models of one run differ in size, but not by a factor of two, so that smaller strides fail.
  std::size_t stride =
      count == 0 ? 1 : std::max<std::size_t>(1, count * size(count - 1) / (2 * bytes + 1));
  while (stride < count && !fit(stride)) ++stride;
  Json::List chosen;
  for (std::size_t i = 0; i < count; ++i)
    if ((count - 1 - i) % stride == 0) chosen.push_back(std::move(models[i]));
  return chosen;
}

}  // namespace

void check_writable(const std::filesystem::path& file, const std::string& flag) {
  check_output_file(file, flag);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored) && !is_replaceable(file))
    throw_error(file.string(), ": exists and is not a page of heed look; give ", flag,
                " another name, or remove it");
}

Json history_json(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                  const ScoreText& scored, std::size_t bytes) {
  const RunFolder folder{checkpoint_in(command.run).parent_path()};
  const std::vector<std::int64_t> steps = folder.history().steps();
  const Json models = models_that_fit(steps.size(), bytes, [&](std::size_t i) {
    return history_model(command, saved, text, scored, folder, steps[i]);
  });
  Json json = {{"models", models}, {"kept", steps.size()}};
  std::error_code ignored;
  if (std::filesystem::exists(folder.loss_csv(), ignored)) {
    const LossCsv losses = read_loss_csv(folder.loss_csv().string());
    json["training"] = {losses.training.steps, score_json({losses.training.values})[0]};
    json["validation"] = {losses.validation.steps, score_json({losses.validation.values})[0]};
  }
  return json;
}

int look_page(const LookCommand& command, const LoadedModel& saved, const LookText& text,
              const ValidationText& training) {
  const std::filesystem::path file = command.page;
  check_writable(file, "--page");
  exit_at_interrupt();
  print_model(command, saved, text, training);
  const std::string html = page_html(command, saved, text, training);
  write_file_atomically(file, html);
  std::cout << "page   " << printable(command.page) << ": " << counted(html.size(), "byte") << '\n';
  return 0;
}

}  // namespace heed::app
