// shared_memory.hpp: SharedMemory, a segment that forked processes share, and a Communicator that
// exchanges bytes through it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heed/parallel/communicator.hpp"

namespace heed {

// Memory that is mapped before fork() and shared by all processes of a run, without a name in any
// file system: the kernel frees it when the last process ends. Each ordered pair of partners has a
// mailbox with two slots, so that a process can write one chunk while its partner reads another.
class SharedMemory {
 public:
  static constexpr std::size_t max_processes = 64;  // the largest number of processes

  // State of the run that every process reads while it waits, and that a signal handler may write.
  struct Status {
    std::atomic<int> stop_signal{0};  // the signal with which the parent process was stopped
    std::atomic<int> failed{0};       // not 0 if a process has failed: no process may wait any more
    std::atomic<int> reported{0};     // not 0 if a process has printed the error of the run
  };

  // One direction of an exchange: chunks that one process writes and its partner reads.
  struct Mailbox {
    static constexpr std::size_t slots = 2;                       // chunks in the mailbox
    static constexpr std::size_t chunk = std::size_t{128} << 10;  // bytes of a chunk
    alignas(64) std::atomic<std::uint32_t> written{0};            // number of chunks written so far
    alignas(64) std::atomic<std::uint32_t> read{0};               // number of chunks read so far
    alignas(64) unsigned char data[slots][chunk];                 // chunk i is in slot i % slots
  };

  // Maps memory for a power of two of processes, at most max_processes. Throws Error if the system
  // has too little memory.
  explicit SharedMemory(std::size_t processes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::size_t processes() const { return processes_; }  // the number of processes
  Status& status() const { return *status_; }           // see Status
  // The mailbox that `rank` writes and rank XOR 2^k reads.
  Mailbox& mailbox(std::size_t rank, std::size_t k) const;

 private:
  std::size_t processes_, log2_processes_, bytes_;
  void* memory_;
  Status* status_;
  Mailbox* mailboxes_;
};

// The communicator of one process of a SharedMemory. The memory must outlive it.
class SharedMemoryCommunicator final : public Communicator {
 public:
  // The communicator of the process `rank`.
  SharedMemoryCommunicator(SharedMemory& memory, std::size_t rank) : memory_(memory), rank_(rank) {}

  std::size_t rank() const override { return rank_; }                      // see Communicator
  std::size_t size() const override { return memory_.processes(); }        // see Communicator
  std::size_t local_size() const override { return memory_.processes(); }  // all ranks are local
  // As in Communicator. Throws PeerLost if Status::failed is set while it waits.
  void exchange(std::size_t partner, const void* sent, std::size_t sent_bytes, void* received,
                std::size_t received_bytes) override;
  void abandon() override;  // sets Status::failed, so that no process waits any more

 private:
  SharedMemory& memory_;
  std::size_t rank_;
};

}  // namespace heed
