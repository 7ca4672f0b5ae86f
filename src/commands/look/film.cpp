// film.cpp: heed look --film, which shows a training step node by node, or a parameter over steps.

#include <filesystem>
#include <iostream>

#include "commands/look/film_data.hpp"
#include "commands/look/page_data.hpp"
#include "commands/replay/replayed_run.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

constexpr std::int64_t most_frames = 100;   // of a parameter's film
constexpr std::int64_t default_steps = 50;  // which a parameter's film has without --from

ReplayOptions replay_options(const LookCommand& command) {
  ReplayOptions options;
  options.run = command.run;
  options.trust = command.trust;
  options.near = command.near;
  options.threads = command.threads;
  return options;
}

// The texts of the tokens of the first window.
Json window_texts(const Indices& tokens, const Vocabulary& vocabulary) {
  Json::List texts;
  for (std::size_t t = 0; t < tokens.shape(1); ++t)
    texts.push_back(printable(vocabulary.decode({tokens.data() + t, tokens.data() + t + 1})));
  return texts;
}

// Computes the next step. Returns why the run diverged in it, or "".
std::string step_or_divergence(ReplayedRun& run) {
  try {
    run.step();
  } catch (const Diverged& error) {
    return error.what();
  }
  return "";
}

Json facts_of_step(const ReplayedRun& run, std::int64_t step, double loss) {
  return {{"step", step},
          {"loss", decimal(loss, 4)},
          {"norm", significant(run.grad_norm(), 4)},
          {"lr", significant(run.lr(), 4)}};
}

Json sources_of(const Json::List& nodes) {
  Json::Object sources;
  for (const Json& node : nodes) {
    const std::string& op = node.at("op").get<std::string>();
    if (const std::string source = operation_source(op); !source.empty()) sources[op] = source;
  }
  return sources;
}

Json step_film(ReplayedRun& run, std::int64_t step) {
  run.start_before(step - 1);
  run.go_to(step - 1);
  double loss = 0;
  Json film;
  const Vocabulary vocabulary = run.vocabulary();
  run.set_hook([&](const Batch& batch, double batch_loss) {
    loss = batch_loss;
    film["windows"] = batch.inputs.shape(0);
    film["tokens"] = window_texts(batch.inputs, vocabulary);
    film["targets"] = window_texts(batch.targets, vocabulary);
  });
  FilmRecorder recorder;
  const ObserverScope scope(recorder);
  film["diverged"] = step_or_divergence(run);
  film["facts"] = facts_of_step(run, step, loss);
  film["shards"] = run.trainer().options().shards;
  film["nodes"] = recorder.nodes();
  film["sources"] = sources_of(film["nodes"].get<Json::List>());
  return film;
}

Json parameter_film(ReplayedRun& run, const std::string& name, std::int64_t from, std::int64_t to) {
  const std::int64_t stride = (to - from) / most_frames + 1;
  Json::List frames;
  std::string divergence;
  for (std::int64_t step = from; step <= to && divergence.empty(); step += stride) {
    run.go_to(step - 1);
    const Array before = run.trainer().parameters().at(name).value();
    double loss = 0;
    Json frame;
    run.set_hook([&](const Batch&, double batch_loss) {
      loss = batch_loss;
      frame["gradient"] = picture(run.trainer().parameters().at(name).grad());
    });
    divergence = step_or_divergence(run);
    run.set_hook({});
    frame["facts"] = facts_of_step(run, step, loss);
    frame["value"] = picture(before);
    frame["update"] = picture(run.trainer().parameters().at(name).value() - before);
    frames.push_back(frame);
  }
  return {{"parameter", name}, {"steps", frames}, {"diverged", divergence}};
}

void check_step(const char* flag, std::int64_t step, std::int64_t last) {
  if (step > last)
    throw_usage_error(flag, std::to_string(step),
                      "must be at most " + std::to_string(last) + ", the run's --steps");
}

void check_parameter(const Parameters& parameters, const std::string& name) {
  std::vector<std::string> names;
  for (const Tensor& parameter : parameters.tensors()) names.push_back(parameter.name());
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw_usage_error("--parameter", name,
                      "is not a parameter of the run; heed inspect lists them");
}

}  // namespace

int look_film(const LookCommand& command) {
  check_writable(command.film, "--film");
  exit_at_interrupt();
  ReplayedRun run(replay_options(command));
  const std::int64_t last = run.states().rbegin()->first, step = command.step.value_or(last);
  check_step("--step", step, run.last_step());
  Json film;
  if (command.parameter.empty()) {
    film = step_film(run, step);
    std::cout << "step   " << step << ": "
              << counted(film["nodes"].get<Json::List>().size(), "node") << ", loss "
              << film["facts"].at("loss").get<std::string>() << '\n';
  } else {
    const std::int64_t from =
        command.from.value_or(std::max<std::int64_t>(1, step - default_steps + 1));
    if (from > step)
      throw_usage_error("--from", std::to_string(from),
                        "must be at most the step " + std::to_string(step) + " of --step");
    run.start_before(from - 1);
    check_parameter(run.trainer().parameters(), command.parameter);
    film = parameter_film(run, command.parameter, from, step);
    std::cout << "steps  " << from << " to " << step << ": " << printable(command.parameter)
              << '\n';
  }
  film["run"] = printable(command.run);
  const std::string html = film_page("heed look " + printable(command.run) + ": film", ascii(film));
  write_file_atomically(command.film, html);
  std::cout << "film   " << printable(command.film) << ": " << counted(html.size(), "byte") << '\n';
  return 0;
}

}  // namespace heed::app
