// merges.cpp: applies the merges of a byte-pair encoding.

#include "text/merges.hpp"

#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace HEED_NAMESPACE {
namespace {

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
  return std::uint64_t{left} << 32 | right;
}

// The tokens of a chunk as a linked list, so that joining two neighbours takes constant time.
struct Chain {
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  explicit Chain(std::vector<std::uint32_t> tokens)
      : ids(std::move(tokens)), next(ids.size()), previous(ids.size()), joined(ids.size()) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      next[i] = i + 1 < ids.size() ? i + 1 : none;
      previous[i] = i > 0 ? i - 1 : none;
    }
  }

  bool has_pair(std::size_t i) const { return i != none && joined[i] == 0 && next[i] != none; }

  // Replaces the token at `i` and the next one by `id`.
  void join(std::size_t i, std::uint32_t id) {
    const std::size_t right = next[i];
    ids[i] = id;
    joined[right] = 1;
    next[i] = next[right];
    if (next[i] != none) previous[next[i]] = i;
  }

  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> next, previous;
  std::vector<char> joined;  // whether the token has become a part of the token before it
};

}  // namespace

std::optional<std::uint32_t> Merges::add(std::uint32_t left, std::uint32_t right,
                                         std::uint32_t id) {
  const Merge merge{static_cast<std::uint32_t>(merges_.size()), id};
  const auto [found, is_new] = merges_.emplace(pair_of(left, right), merge);
  return is_new ? std::nullopt : std::optional(found->second.rank);
}

const Merges::Merge* Merges::find(std::uint32_t left, std::uint32_t right) const {
  const auto found = merges_.find(pair_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

// A queue holds the merges that apply, so that no step scans the chunk; an entry is out of date if
// its tokens have been joined with others since.
std::vector<std::uint32_t> Merges::applied_to(std::vector<std::uint32_t> ids, Order order) const {
  Chain chain(std::move(ids));
  const auto merge_at = [&](std::size_t i) {
    return chain.has_pair(i) ? find(chain.ids[i], chain.ids[chain.next[i]]) : nullptr;
  };
  using Entry = std::pair<std::uint32_t, std::size_t>;  // a merge's rank, and where it applies
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto add = [&](std::size_t i) {
    if (const Merge* const merge = merge_at(i)) queue.push({merge->rank, i});
  };
  for (std::size_t i = 0; i < chain.ids.size(); ++i) add(i);
  std::vector<std::size_t> changed;
  while (!queue.empty()) {
    const std::uint32_t rank = queue.top().first;
    changed.clear();
    for (; !queue.empty() && queue.top().first == rank; queue.pop()) {
      if (order == Order::first_occurrence && !changed.empty()) break;
      const std::size_t i = queue.top().second;
      const Merge* const merge = merge_at(i);
      if (merge == nullptr || merge->rank != rank) continue;
      chain.join(i, merge->id);
      changed.push_back(i);
    }
    for (const std::size_t i : changed) {
      add(chain.previous[i]);
      add(i);
    }
  }
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < chain.ids.size(); i = chain.next[i]) left.push_back(chain.ids[i]);
  return left;
}

std::vector<std::string_view> split_chunks(std::string_view text,
                                           std::size_t (*end_of_chunk)(std::string_view,
                                                                       std::size_t)) {
  std::vector<std::string_view> chunks;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = end_of_chunk(text, begin);
    chunks.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return chunks;
}

}  // namespace HEED_NAMESPACE
