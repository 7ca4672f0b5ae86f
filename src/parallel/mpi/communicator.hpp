// communicator.hpp: MpiCommunicator, the ranks that mpirun has started. Only heed_mpi includes it.
#pragma once

#include <mpi.h>

#include <atomic>

#include "heed/parallel/communicator.hpp"

namespace heed {

// Starts and ends MPI. Only point-to-point messages are used: the order in which a library adds
// numbers in MPI_Allreduce is not specified, and may depend on the number of ranks.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator();
  ~MpiCommunicator() override;  // waits for the other ranks (MPI_Finalize)

  std::size_t rank() const override { return rank_; }              // see Communicator
  std::size_t size() const override { return size_; }              // need not be a power of two
  std::size_t local_size() const override { return local_size_; }  // see Communicator
  void exchange(std::size_t partner, const void* sent, std::size_t sent_bytes, void* received,
                std::size_t received_bytes) override;
  void abandon() override { abandoned_ = true; }

  bool abandoned() const { return abandoned_; }     // whether abandon() was called
  bool allows_threads() const { return threads_; }  // whether another thread may call exchange()
  [[noreturn]] void end_all_ranks(int code) const;  // ends the program on all ranks (MPI_Abort)

 private:
  void wait_for(MPI_Request& request) const;

  std::size_t rank_ = 0, size_ = 1, local_size_ = 1;
  bool threads_ = false;
  std::atomic<bool> abandoned_{false};
};

}  // namespace heed
