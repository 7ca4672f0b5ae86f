// facts.cpp: the properties that all ranks of a training run must have in common, for agree().

#include "commands/train/facts.hpp"

#include <fstream>
#include <iterator>

#include "base/hash.hpp"
#include "commands/commands.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

std::string hash_text(std::string_view bytes) { return hexadecimal("%016llx", hash64(bytes)); }

// The bytes of this program's file: another build may compute other bits.
std::string contents_of_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Facts facts_of(const TrainCommand& command, const TrainingText& text) {
  Facts facts = flag_values(command.model, command.training, command.tokenizer,
                            command.tokenizer == Unit::byte_pair ? command.vocab_size : 0);
  facts["--steps"] = std::to_string(command.training.steps);
  facts["--resume"] = command.resume ? "given" : "not given";
  facts["--zero"] = command.zero ? "given" : "not given";
  facts["TEXT"] = text.name();
  facts["program"] = std::string(version) + " with hash " + hash_text(contents_of_program());
  return facts;
}

Facts facts_of(const TrainingText& text, const Parameters& parameters) {
  std::string weights;
  for (const Tensor& parameter : parameters)
    weights.append(reinterpret_cast<const char*>(parameter.value().data()),
                   parameter.value().size() * sizeof(Real));
  return {{"text (its hash)", hexadecimal("%016llx", text.fingerprint.hash)},
          {"first weights (their hash)", hash_text(weights)},
          {"HEED_GEMM (the library of matrix products)", gemm_choice().text()}};
}

}  // namespace heed::app
