// communicator.cpp: collective operations on texts, by recursive doubling.

#include "heed/parallel/communicator.hpp"

#include <cstdint>
#include <cstring>

#include "heed/base/error.hpp"

namespace heed {
namespace {

// Exchanges two texts whose lengths may differ: first the lengths, then the bytes.
std::string exchange_text(Communicator& communicator, std::size_t partner,
                          const std::string& text) {
  const std::uint64_t sent = text.size();
  std::uint64_t received = 0;
  communicator.exchange(partner, &sent, sizeof sent, &received, sizeof received);
  std::string other(received, '\0');
  communicator.exchange(partner, text.data(), text.size(), other.data(), other.size());
  return other;
}

void append_counted(std::string& to, const std::string& text) {
  const std::uint64_t size = text.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof size);
  to += text;
}

std::vector<std::string> parts_of(const std::string& all) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < all.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, all.data() + at, sizeof size);
    parts.push_back(all.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return parts;
}

}  // namespace

void SingleProcess::exchange(std::size_t partner, const void*, std::size_t, void*, std::size_t) {
  throw_error("exchange: a single process has no partner ", partner);
}

// After the step with distance d, each process has the texts of a block of 2 d ranks, in order.
std::vector<std::string> gather_texts(Communicator& communicator, const std::string& text) {
  std::string all;
  append_counted(all, text);
  for (std::size_t distance = 1; distance < communicator.size(); distance *= 2) {
    const std::size_t partner = communicator.rank() ^ distance;
    const std::string other = exchange_text(communicator, partner, all);
    all = partner < communicator.rank() ? other + all : all + other;
  }
  return parts_of(all);
}

// After the step with distance d, all ranks below 2 d have the text of rank 0.
std::string broadcast_text(Communicator& communicator, const std::string& text) {
  std::string result = communicator.rank() == 0 ? text : "";
  for (std::size_t distance = 1; distance < communicator.size(); distance *= 2) {
    std::string other = exchange_text(communicator, communicator.rank() ^ distance, result);
    if ((communicator.rank() & distance) != 0) result = std::move(other);
  }
  return result;
}

}  // namespace heed
