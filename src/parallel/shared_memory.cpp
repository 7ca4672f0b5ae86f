// shared_memory.cpp: mailboxes in memory that forked processes share, and waiting for a partner.

#include "heed/parallel/shared_memory.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include "heed/base/error.hpp"

namespace heed {
namespace {

using Counter = std::atomic<std::uint32_t>;
static_assert(sizeof(Counter) == sizeof(std::uint32_t) && Counter::is_always_lock_free);

// Sleeps until the counter has another value than `value`, or for 50 ms at most: a process that
// failed may not be able to wake the others.
void sleep_while(Counter& counter, std::uint32_t value) {
#ifdef __linux__
  const timespec limit{0, 50'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&counter), FUTEX_WAIT, value, &limit, nullptr,
          0);
#else
  const timespec pause{0, 100'000};
  if (counter.load() == value) nanosleep(&pause, nullptr);
#endif
}

void wake(Counter& counter) {
#ifdef __linux__
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&counter), FUTEX_WAKE, INT_MAX, nullptr,
          nullptr, 0);
#else
  static_cast<void>(counter);
#endif
}

// Waits until ready() is true. Polls for some microseconds, then lets other processes have the
// core, then sleeps: ranks may share a core, and rank 0 may take a second to save.
template <class Ready>
void wait_until(const SharedMemory::Status& status, Counter& counter, const Ready& ready) {
  for (int polls = 0;; ++polls) {
    const std::uint32_t seen = counter.load(std::memory_order_acquire);
    if (ready()) return;
    if (status.failed.load() != 0) throw PeerLost("another process of the run has ended");
    if (polls < 200) continue;
    if (polls < 230)
      sched_yield();
    else
      sleep_while(counter, seen);
  }
}

void advance(Counter& counter) {
  counter.fetch_add(1, std::memory_order_release);
  wake(counter);
}

std::size_t log2_of(std::size_t n) {
  std::size_t k = 0;
  while ((std::size_t{1} << k) < n) ++k;
  return k;
}

}  // namespace

SharedMemory::SharedMemory(std::size_t processes)
    : processes_(processes),
      log2_processes_(log2_of(processes)),
      bytes_(4096 + processes * log2_processes_ * sizeof(Mailbox)) {
  if (!is_power_of_two(processes) || processes > max_processes)
    throw_error("SharedMemory: ", processes, " processes; give a power of two up to ",
                max_processes);
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED)
    throw_error("SharedMemory: ", bytes_, " bytes cannot be mapped: ", std::strerror(errno),
                "; use fewer processes");
  static_assert(sizeof(Status) <= 4096 && alignof(Mailbox) <= 4096);
  status_ = new (memory_) Status;
  unsigned char* address = static_cast<unsigned char*>(memory_) + 4096;
  mailboxes_ = reinterpret_cast<Mailbox*>(address);
  // The memory is zero: constructing only the counters leaves the chunks' pages untouched.
  for (std::size_t i = 0; i < processes * log2_processes_; ++i, address += sizeof(Mailbox)) {
    auto* const box = reinterpret_cast<Mailbox*>(address);
    new (&box->written) Counter(0);
    new (&box->read) Counter(0);
  }
}

SharedMemory::~SharedMemory() { munmap(memory_, bytes_); }

SharedMemory::Mailbox& SharedMemory::mailbox(std::size_t rank, std::size_t k) const {
  return mailboxes_[rank * log2_processes_ + k];
}

// Alternates between writing a chunk of its own and reading one of its partner's. A mailbox has two
// slots, so both partners can write before either reads.
void SharedMemoryCommunicator::exchange(std::size_t partner, const void* sent,
                                        std::size_t sent_bytes, void* received,
                                        std::size_t received_bytes) {
  constexpr std::size_t chunk = SharedMemory::Mailbox::chunk, slots = SharedMemory::Mailbox::slots;
  if (partner >= size() || !is_power_of_two(partner ^ rank_))
    throw_error("exchange: rank ", rank_, " has no partner ", partner, " among ", size());
  const std::size_t k = log2_of(partner ^ rank_);
  SharedMemory::Mailbox& out = memory_.mailbox(rank_, k);
  SharedMemory::Mailbox& in = memory_.mailbox(partner, k);
  const SharedMemory::Status& status = memory_.status();
  const auto* const from = static_cast<const unsigned char*>(sent);
  auto* const to = static_cast<unsigned char*>(received);
  for (std::size_t at = 0; at < std::max(sent_bytes, received_bytes); at += chunk) {
    if (at < sent_bytes) {
      const std::uint32_t number = out.written.load(std::memory_order_relaxed);
      wait_until(status, out.read, [&] { return number - out.read.load() < slots; });
      std::memcpy(out.data[number % slots], from + at, std::min(chunk, sent_bytes - at));
      advance(out.written);
    }
    if (at < received_bytes) {
      const std::uint32_t number = in.read.load(std::memory_order_relaxed);
      wait_until(status, in.written, [&] { return in.written.load() != number; });
      std::memcpy(to + at, in.data[number % slots], std::min(chunk, received_bytes - at));
      advance(in.read);
    }
  }
}

void SharedMemoryCommunicator::abandon() { memory_.status().failed = 1; }

}  // namespace heed
