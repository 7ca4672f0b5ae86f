// watch.hpp: Watch, the page of heed train --watch, which shows a run and reloads itself.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heed/draw/series.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

// Writes an HTML file with the losses, gradient norms, learning rates and generated texts of a run.
// A browser that shows the file reads it again every two seconds, until the run ends. It has no
// script, and its Content-Security-Policy forbids all requests.
class Watch {
 public:
  // The trainer must outlive the Watch. `title` is the name of the run, and `bounds` are lines in
  // the plot of the losses.
  Watch(std::string title, const Trainer& trainer, std::vector<HorizontalLine> bounds = {})
      : title_(std::move(title)), trainer_(trainer), bounds_(std::move(bounds)) {}

  // Writes the page, at most once a second and in at most 2 % of the time. `text` was generated
  // after this row, or is "".
  void show(const std::filesystem::path& file, const LogRow& row, const std::string& text);
  // Writes the page for the last time: it does not reload itself any more.
  void end(const std::filesystem::path& file, const std::string& how);  // such as "finished"

 private:
  void write(const std::filesystem::path& file, const std::string& state, bool reloads);
  std::string page(const std::string& state, bool reloads) const;

  std::string title_;
  const Trainer& trainer_;
  std::vector<HorizontalLine> bounds_;
  std::vector<std::pair<std::int64_t, std::string>> texts_;  // by step
  std::chrono::steady_clock::time_point next_{};
  bool failed_ = false;
};

}  // namespace heed::app
