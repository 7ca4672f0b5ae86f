// thread_check.cpp: checks that the threads of matrix products can start and allocate their
// buffers.

#include "commands/thread_check.hpp"

#include <sys/mman.h>

#include <cmath>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "commands/terminal.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// The address space in bytes that oneDNN reserves; its library takes 60 MB.
constexpr double addresses_of_onednn = 100e6;

}  // namespace

std::string size_text(double bytes) {
  if (bytes < 999.5e6) return decimal(std::ceil(bytes / 1e6), 0) + " MB";
  if (bytes < 999.5e9) return decimal(bytes / 1e9, 1) + " GB";
  return grouped(std::ceil(bytes / 1e9)) + " GB";
}

// The kernel counts the buffers of all threads, so all are mapped at once. A page that is never
// written takes no memory. oneDNN is loaded later, so there must be room for it and its code, too.
void check_blas_buffers() {
  const auto threads = static_cast<std::size_t>(num_threads());
  std::vector<double> sizes(threads, addresses_per_thread);
  sizes.push_back(addresses_of_onednn);
  std::vector<std::pair<void*, std::size_t>> mapped;
  for (const double size : sizes) {
    const auto bytes = static_cast<std::size_t>(size);
    constexpr int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void* const buffer = ::mmap(nullptr, bytes, access, kind, -1, 0);
    if (buffer == MAP_FAILED) break;
    mapped.emplace_back(buffer, bytes);
  }
  const bool fits = mapped.size() == sizes.size();
  for (const auto& [buffer, bytes] : mapped) ::munmap(buffer, bytes);
  if (!fits)
    throw_error("matrix products need ",
                size_text(addresses_per_thread * num_threads() + addresses_of_onednn),
                " of address space for ", counted(threads, "thread"),
                ", more than the limits of this process (ulimit -v, ulimit -d) leave; raise them",
                threads > 1 ? ", or use fewer --threads" : "");
}

// Limits of the user (ulimit -u) and of a container may both be the reason, so the threads are
// started. None ends before all have been started.
void check_threads(int threads) {
  if (const char* const variable = std::getenv("OMP_NUM_THREADS");
      variable != nullptr && threads == 1024 && std::atoi(variable) > 1024)
    note("OMP_NUM_THREADS is " + std::string(variable) + "; heed uses 1024 threads, its maximum");
  std::mutex starting;
  std::unique_lock<std::mutex> lock(starting);
  std::vector<std::thread> started;
  try {
    for (int i = 1; i < threads; ++i)
      started.emplace_back([&] { const std::lock_guard<std::mutex> wait(starting); });
  } catch (const std::system_error&) {
  }
  lock.unlock();
  for (std::thread& thread : started) thread.join();
  if (const auto running = static_cast<int>(started.size()) + 1; running < threads)
    throw_error("only ", running, " of ", threads,
                " threads can be started; raise the limit on processes (ulimit -u), or use "
                "--threads ",
                running);
}

}  // namespace heed::app
