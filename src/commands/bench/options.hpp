// options.hpp: the options of heed bench.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/flags.hpp"
#include "heed/nn/gpt.hpp"

namespace heed::app {

// The model to train, its batch size and the number of threads.
struct Workload {
  nn::GptConfig model;
  std::size_t batch_size = 12;
  int threads = 1;

  std::size_t tokens() const { return batch_size * model.block_size; }  // tokens per training step
  // The sizes that determine the time of a training step, by JSON key, such as {"threads", 1}.
  std::vector<std::pair<std::string, std::size_t>> sizes() const;
};

struct BenchCommand : CommandOptions {
  static constexpr const char* name = "bench";

  std::string text;  // the text's file; "" means default_text()
  std::string only;  // the measurement to run, such as "threads"; "" means all
  std::optional<std::int64_t> rounds, steps;
  Workload workload;       // vocab_size is set after the text is read
  bool processes = false;  // time steps in several processes
  std::string compare;     // path of the PyTorch script; "" means no comparison
  std::string peer_blas;   // folder of PyTorch's OpenBLAS; "" means that heed searches for it
  bool json = false;
  std::string report;  // the file of the Markdown page; "" means none
};

// Declares the flags of the command, and checks their combination: see parsed().
void declare_flags(Flags& flags, BenchCommand& command);
void check_flags(const BenchCommand& command, const std::set<std::string>& given);

}  // namespace heed::app
