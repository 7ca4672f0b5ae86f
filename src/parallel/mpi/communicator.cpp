// communicator.cpp: exchanges bytes by messages of MPI.

#include "parallel/mpi/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

namespace heed {
namespace {

constexpr std::size_t max_message = std::size_t{1} << 30;  // MPI counts bytes in an int

std::size_t size_of(MPI_Comm communicator) {
  int size = 1;
  MPI_Comm_size(communicator, &size);
  return static_cast<std::size_t>(size);
}

}  // namespace

MpiCommunicator::MpiCommunicator() {
  int provided = MPI_THREAD_SINGLE, rank = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  threads_ = provided >= MPI_THREAD_SERIALIZED;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rank_ = static_cast<std::size_t>(rank);
  size_ = size_of(MPI_COMM_WORLD);
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &local);
  local_size_ = size_of(local);
  MPI_Comm_free(&local);
}

MpiCommunicator::~MpiCommunicator() { MPI_Finalize(); }

void MpiCommunicator::exchange(std::size_t partner, const void* sent, std::size_t sent_bytes,
                               void* received, std::size_t received_bytes) {
  const auto* from = static_cast<const unsigned char*>(sent);
  auto* to = static_cast<unsigned char*>(received);
  const int other = static_cast<int>(partner);
  for (std::size_t at = 0; at < std::max(sent_bytes, received_bytes); at += max_message) {
    MPI_Request in = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL;
    if (at < received_bytes)
      MPI_Irecv(to + at, static_cast<int>(std::min(max_message, received_bytes - at)), MPI_BYTE,
                other, 0, MPI_COMM_WORLD, &in);
    if (at < sent_bytes)
      MPI_Isend(from + at, static_cast<int>(std::min(max_message, sent_bytes - at)), MPI_BYTE,
                other, 0, MPI_COMM_WORLD, &out);
    wait_for(in);
    wait_for(out);
  }
}

// Polls, so that a rank that has failed leaves the wait. Ranks may share a core: after some polls
// the others may run.
void MpiCommunicator::wait_for(MPI_Request& request) const {
  for (int polls = 0, done = 0;; ++polls) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (abandoned_) throw PeerLost("this rank has failed");
    if (polls > 200) sched_yield();
  }
}

void MpiCommunicator::end_all_ranks(int code) const {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();  // MPI_Abort does not return
}

}  // namespace heed
