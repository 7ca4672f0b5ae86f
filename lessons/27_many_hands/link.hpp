// link.hpp: a slow network between processes of one machine, for lesson 27.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "heed/parallel/communicator.hpp"

namespace heed {

// A link between processes: its latency in seconds, and its bandwidth in bytes per second, which
// are added to those of the memory.
struct Link {
  std::string name;
  double latency = 0, bandwidth = INFINITY;
};

// Exchanges through memory after the time that the link needs.
class LinkCommunicator : public Communicator {
 public:
  LinkCommunicator(Link link, Communicator& through_memory)
      : link_(std::move(link)), memory_(through_memory) {}
  std::size_t rank() const override { return memory_.rank(); }
  std::size_t size() const override { return memory_.size(); }
  std::size_t local_size() const override { return memory_.local_size(); }
  void exchange(std::size_t partner, const void* sent, std::size_t sent_bytes, void* received,
                std::size_t received_bytes) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(
        link_.latency + double(std::max(sent_bytes, received_bytes)) / link_.bandwidth));
    memory_.exchange(partner, sent, sent_bytes, received, received_bytes);
  }
  void abandon() override { memory_.abandon(); }

 private:
  Link link_;
  Communicator& memory_;
};

}  // namespace heed
