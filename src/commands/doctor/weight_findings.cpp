// weight_findings.cpp: findings about parameters that are not trained, or are copies of another.

#include <algorithm>
#include <cstring>

#include "commands/doctor/families.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

bool is_constant(const Array& x) {
  return std::all_of(x.begin(), x.end(), [&](Real value) { return value == *x.begin(); });
}

bool is_zero(const StoredTensor& tensor) {
  return std::all_of(tensor.data, tensor.data + tensor.bytes, [](auto byte) { return byte == 0; });
}

// The parameters of an earlier model of this run, and what to call it. A run that began with --init
// has its first model only in history/.
struct EarlierModel {
  std::map<std::string, Array> values;
  std::string name;
};

EarlierModel earlier_model(const ExaminedRun& run) {
  EarlierModel earlier;
  const StepFolder history = run.folder.history();
  if (const auto steps = history.steps();
      !steps.empty() && steps[0] < run.curve->rows.back().step) {
    const SafetensorsFile file = read_safetensors(history.file(steps[0]));
    for (const StoredTensor& tensor : file.tensors)
      earlier.values[tensor.name] = file.array(tensor);
    earlier.name = "the model of step " + std::to_string(steps[0]) + " in history/";
    return earlier;
  }
  for (const Tensor& tensor : run.initial_parameters())
    earlier.values[tensor.name()] = tensor.value();
  earlier.name = "the initial model of --seed " + std::to_string(run.curve->options->seed);
  return earlier;
}

// What is frozen about a parameter, or "".
std::string stillness(const ExaminedRun& run, const Tensor& parameter,
                      const EarlierModel& earlier) {
  const StoredTensor* const moment = run.second_moment(parameter.name());
  const bool no_gradient = moment != nullptr && is_zero(*moment);
  const auto before = earlier.values.find(parameter.name());
  const bool equal = before != earlier.values.end() && same_bits(before->second, parameter.value());
  if (!no_gradient && !equal) return "";
  return (equal ? "has the same bits as in " + earlier.name : "has changed by weight decay alone") +
         (no_gradient ? ", and AdamW's mean of its squared gradients is 0" : "");
}

void find_frozen(const ExaminedRun& run, Findings& findings) {
  const EarlierModel earlier = earlier_model(run);
  std::vector<std::string> names;
  std::string first;
  for (const Tensor& parameter : run.model->parameters) {
    const std::string text = stillness(run, parameter, earlier);
    if (text.empty()) continue;
    if (names.empty()) first = text;
    names.push_back(parameter.name());
  }
  if (names.empty()) return;
  findings.push_back(
      {"frozen weights",
       names[0] + " " + first +
           (names.size() == 1 ? ""
                              : "; " + counted(names.size() - 1, "other parameter") +
                                    " too: " + names[1] + (names.size() > 2 ? " ..." : "")),
       "./heed first " + run.curve->run + " 'max(abs(grad " + names[0] + ")) > 0'"});
}

void find_tied(const ExaminedRun& run, Findings& findings) {
  const std::vector<Tensor>& all = run.model->parameters.tensors();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same_bits(all[i].value(), all[j].value()) && !is_constant(all[i].value()))
        return findings.push_back({"tied weights",
                                   all[j].name() + " and " + all[i].name() +
                                       " have the same bits, after updates of their own",
                                   run.curve ? "./heed first " + run.curve->run + " 'norm(update " +
                                                   all[i].name() + ") - norm(update " +
                                                   all[j].name() + ") < 1e-9'"
                                             : ""});
}

}  // namespace

Findings weight_findings(const ExaminedRun& run) {
  Findings findings;
  if (!run.model) return findings;
  find_tied(run, findings);
  if (run.curve && run.curve->options && run.curve->peak_rate() > 0) find_frozen(run, findings);
  return findings;
}

}  // namespace heed::app
