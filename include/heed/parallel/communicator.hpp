// communicator.hpp: Communicator, through which the processes of a run exchange bytes, and
// collective operations on bytes that are built on it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace heed {

// Thrown by exchange() if another process of the run has failed or ended. The process that failed
// reports its own error, so the receiver of this exception prints nothing.
struct PeerLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One of P processes (ranks 0 to P - 1) that compute one result together. P is a power of two.
// Every process must call the same sequence of collective functions. One thread at a time may call
// exchange().
class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual std::size_t rank() const = 0;        // the number of this process, from 0
  virtual std::size_t size() const = 0;        // P, the number of processes
  virtual std::size_t local_size() const = 0;  // the number of processes on this machine

  // Sends `sent_bytes` bytes to `partner`, receives `received_bytes` bytes from it, and returns
  // when both are done; the buffers must not overlap. `partner` is the rank with one bit flipped,
  // and calls exchange() too. Throws PeerLost.
  virtual void exchange(std::size_t partner, const void* sent, std::size_t sent_bytes,
                        void* received, std::size_t received_bytes) = 0;

  // Makes every exchange() of this process that waits for its partner, now or later, throw
  // PeerLost. A process
  // that fails calls abandon(), so that none of its threads waits for another process.
  virtual void abandon() = 0;
};

// The only process of a run: it has no partner.
class SingleProcess final : public Communicator {
 public:
  std::size_t rank() const override { return 0; }        // 0, the only rank
  std::size_t size() const override { return 1; }        // one process
  std::size_t local_size() const override { return 1; }  // one process
  // Throws Error, because there is no partner.
  void exchange(std::size_t partner, const void*, std::size_t, void*, std::size_t) override;
  void abandon() override {}  // does nothing
};

// Whether n is 1, 2, 4, 8, ...
constexpr bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

// Collective: the texts of all ranks, in the order of the ranks. The texts may differ in length.
std::vector<std::string> gather_texts(Communicator& communicator, const std::string& text);

// Collective: the text of rank 0. The text of every other rank is ignored.
std::string broadcast_text(Communicator& communicator, const std::string& text);

}  // namespace heed
