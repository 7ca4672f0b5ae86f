// run_output.cpp: RunOutput, what heed train prints while a run is trained.

#include "commands/train/run_output.hpp"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "commands/curve_findings.hpp"
#include "commands/train/loss_curve.hpp"
#include "commands/train/record.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/text.hpp"
#include "heed/train/generate.hpp"

namespace heed::app {
namespace {

// The sampling temperature of the texts that heed train prints. It is below 1, because small models
// misspell words at temperature 1.
constexpr double preview_temperature = 0.8;

bool on_terminal() { return stdout_is_terminal() && stderr_is_terminal(); }

std::string warmup_line(const TrainOptions& o) {
  return "lr     reaches " + decimal(100 * schedule_of(o).at(o.steps - 1) / o.lr, 0) + " % of " +
         exact(o.lr) + ": the last step is within the warm-up of " + std::to_string(o.warmup) +
         " steps; give a smaller --warmup\n";
}

}  // namespace

// The size of a state is that of its weights and AdamW's two moments.
static std::string record_line(std::size_t parameters, std::int64_t every) {
  const double megabytes = 3e-6 * sizeof(Real) * static_cast<double>(parameters);
  return "record a state of " + significant(megabytes, 2) + " MB every " + std::to_string(every) +
         " steps, at most " + std::to_string(max_recorded) + " (" +
         significant(megabytes * max_recorded, 2) + " MB), for ./heed replay and ./heed first\n";
}

void RunOutput::print_header(std::size_t processes, bool replaces, std::int64_t record) const {
  const TrainOptions& o = trainer_.options();
  const nn::GptConfig& c = trainer_.model().config;
  const std::size_t V = text_.vocabulary->size();
  const std::string token = text_.vocabulary->unit() == Unit::byte         ? "distinct byte"
                            : text_.vocabulary->unit() == Unit::code_point ? "distinct character"
                                                                           : "byte-pair token";
  std::ostream& out = on_terminal() ? std::cerr : std::cout;
  out << "text   " << text_.name() << ": " << counted(text_.fingerprint.bytes, "byte") << ", "
      << counted(V, token) << "\n"
      << "model  " << counted(c.layers, "layer") << ", " << counted(c.heads, "head") << ", width "
      << c.embed_dim << ": " << counted(trainer_.parameters().count(), "parameter") << "\n"
      << "steps  " << trainer_.steps_done() << " to " << o.steps << ", each " << o.batch_size
      << " x " << c.block_size << " tokens, on "
      << (processes > 1 ? std::to_string(processes) + " processes of " : "")
      << counted(static_cast<std::size_t>(num_threads()), "thread") << "\n"
      << (o.steps > o.warmup ? "" : warmup_line(o))
      << (record > 0 ? record_line(trainer_.parameters().count(), record) : "")
      << "loss   nats per token; a uniform guess has loss ln " << V << " = "
      << decimal(std::log(static_cast<double>(V)), 4) << "\n"
      << "run    " << printable(folder()) << (replaces ? ", replacing the old run" : "")
      << std::endl;
}

void RunOutput::print_watch(const std::filesystem::path& page) const {
  (on_terminal() ? std::cerr : std::cout)
      << "watch  " << printable(page.string()) << ", in a browser" << std::endl;
}

std::string RunOutput::print_row(const LogRow& row) {
  const std::size_t digits = std::to_string(trainer_.options().steps).size();
  std::string line = "step " + pad_left(std::to_string(row.step), digits) + "  train " +
                     decimal(row.train_loss, 4);
  const std::string text = row.val_loss ? preview() : "";
  if (row.val_loss) line += "  val " + decimal(*row.val_loss, 4) + "   " + text;
  if (!on_terminal())
    std::cout << line << std::endl;
  else if (row.val_loss)
    live_.print_above(truncated(line, terminal_width() - 1));
  return text;
}

void RunOutput::show_progress() {
  const LogRow& last = trainer_.history().back();
  const TrainOptions& o = trainer_.options();
  const auto tokens = static_cast<double>(o.batch_size * trainer_.model().config.block_size);
  const double seconds_left = static_cast<double>(o.steps - trainer_.steps_done()) * last.ms / 1000;
  live_.show(ProgressState{static_cast<std::size_t>(trainer_.steps_done()),
                           static_cast<std::size_t>(o.steps), last.train_loss, /*val_loss=*/{},
                           tokens / last.ms * 1000, seconds_left});
  if (std::cout || noted_closed_ || received_signal() != 0) return;
  noted_closed_ = true;
  live_.wipe();
  note("standard output cannot be written any more; training continues in " + folder() +
       "; Ctrl-C saves and stops it");
}

int RunOutput::print_interrupted(int signal, const std::string& advice) {
  const std::string reason =
      signal == SIGPIPE ? "nobody reads the output any more: stopped" : "interrupted";
  live_.print_above("heed: " + reason + " after step " + steps_done() + advice +
                    shell_path(folder()));
  return 128 + signal;
}

std::string RunOutput::generated(std::size_t num_tokens) const {
  const GenerateOptions options{num_tokens, preview_temperature};
  Generator generator(trainer_.options().seed);
  return text_.vocabulary->decode(generate(trainer_.model(), {text_.vocabulary->first_token()},
                                           options, generator,
                                           [](std::int64_t) { return received_signal() == 0; }));
}

// Returns 40 generated tokens on one line, with " / " for line breaks. Does not call printable()
// for a line of one space, because printable() would change the space to "␣".
std::string RunOutput::preview() const {
  std::string line;
  for (const std::string& part : lines_of(generated(40)))
    line += (line.empty() ? "" : " / ") + (part == " " ? part : printable(part));
  return line;
}

// A line about the lowest validation loss, if the last one is more than 1 % above it.
std::string RunOutput::best_step() const {
  const std::vector<LogRow>& rows = trainer_.history();
  const LogRow* best = nullptr;
  for (const LogRow& row : rows)
    if (row.val_loss && (best == nullptr || *row.val_loss < *best->val_loss)) best = &row;
  if (best == nullptr || *rows.back().val_loss <= 1.01 * *best->val_loss) return "";
  const std::filesystem::path model = folder_.history().file(best->step);
  std::error_code ignored;
  return "the lowest was " + decimal(*best->val_loss, 4) + " after " + std::to_string(best->step) +
         " steps; " +
         (std::filesystem::exists(model, ignored)
              ? "to sample that model: ./heed sample " + shell_path(model.string())
              : "--keep-history keeps the model of each validation") +
         "\n";
}

// The finding of heed doctor, if it leaves no doubt.
std::string RunOutput::diagnosis() const {
  Curve curve;
  curve.rows = trainer_.history();
  curve.options = trainer_.options();
  curve.uniform = std::log(static_cast<double>(text_.vocabulary->size()));
  const std::optional<Finding> finding = sure_finding(curve);
  if (!finding) return "";
  return "doctor: " + finding->name + ": " + finding->evidence + "; ./heed doctor " +
         shell_path(folder()) + " says more\n";
}

void RunOutput::print_result(const Plot& plot, const CurveOptions& curve,
                             const std::string& sample) {
  if (!plot.ok) live_.print_above("heed: note: " + plot.message);
  live_.wipe();
  std::cout << '\n';
  if (stdout_is_terminal())
    std::cout << curve_text(loss_series(read_loss_csv(folder_.loss_csv().string())), curve) << '\n';
  const LogRow& last = trainer_.history().back();
  TextWriter().write(sample);
  std::cout << "\nvalidation loss " << decimal(last.val_loss.value_or(NAN), 4) << " after "
            << last.step << " steps\n"
            << best_step() << diagnosis() << printable(folder())
            << "/ has checkpoint.safetensors, loss.csv, " << (plot.ok ? "loss.svg, loss.gp, " : "")
            << "sample.txt\n"
            << "to generate more: ./heed sample " << shell_path(folder()) << " --temperature 0.8"
            << std::endl;
}

}  // namespace heed::app
