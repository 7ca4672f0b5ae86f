// command_line.hpp: parses a command line of heed, as its programs do.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "commands/bench/bench.hpp"
#include "commands/blame/blame.hpp"
#include "commands/book/book.hpp"
#include "commands/commands.hpp"
#include "commands/compare/compare.hpp"
#include "commands/corpus/corpus.hpp"
#include "commands/doctor/doctor.hpp"
#include "commands/export/export.hpp"
#include "commands/first/first.hpp"
#include "commands/import/import.hpp"
#include "commands/inspect/inspect.hpp"
#include "commands/look/look.hpp"
#include "commands/replay/replay.hpp"
#include "commands/sample/sample.hpp"
#include "commands/sweep/sweep.hpp"
#include "commands/train/train.hpp"

namespace heed::app {

using Command =
    std::variant<TrainCommand, SampleCommand, LookCommand, CorpusCommand, InspectCommand,
                 BenchCommand, BookCommand, ImportCommand, ExportCommand, ReplayCommand,
                 FirstCommand, BlameCommand, DoctorCommand, CompareCommand, SweepCommand, ShowText>;

template <class C>
Command parsed_as(const Arguments& arguments) {
  return std::visit([](auto&& result) -> Command { return result; }, parsed<C>(arguments));
}

// `words` are a command and its arguments. Throws UsageError if the command line is invalid.
inline Command parse_command_line(const Arguments& words) {
  const std::map<std::string, Command (*)(const Arguments&)> parsers = {
      {"train", parsed_as<TrainCommand>},     {"sample", parsed_as<SampleCommand>},
      {"look", parsed_as<LookCommand>},       {"corpus", parsed_as<CorpusCommand>},
      {"inspect", parsed_as<InspectCommand>}, {"import", parsed_as<ImportCommand>},
      {"export", parsed_as<ExportCommand>},   {"book", parsed_as<BookCommand>},
      {"bench", parsed_as<BenchCommand>},     {"replay", parsed_as<ReplayCommand>},
      {"first", parsed_as<FirstCommand>},     {"blame", parsed_as<BlameCommand>},
      {"doctor", parsed_as<DoctorCommand>},   {"compare", parsed_as<CompareCommand>},
      {"sweep", parsed_as<SweepCommand>}};
  if (words.empty() || find_command(words[0]) == nullptr) return read_without_command(words);
  return parsers.at(words[0])({words.begin() + 1, words.end()});
}

}  // namespace heed::app
