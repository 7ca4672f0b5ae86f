// in_threads.hpp: trains the models of several seeds at the same time, each in a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <vector>

namespace heed {

// The results of `f` for the seeds 1 to n, each computed in a thread of its own.
template <class Result>
std::vector<Result> in_threads(std::uint64_t n, const std::function<Result(std::uint64_t)>& f) {
  std::vector<std::future<Result>> running;
  for (std::uint64_t seed = 1; seed <= n; ++seed)
    running.push_back(std::async(std::launch::async, f, seed));
  std::vector<Result> results;
  for (std::future<Result>& each : running) results.push_back(each.get());
  return results;
}

}  // namespace heed
