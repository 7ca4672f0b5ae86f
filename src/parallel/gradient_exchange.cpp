// gradient_exchange.cpp: buckets of gradients, and the thread that exchanges them.

#include "heed/parallel/gradient_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "heed/base/error.hpp"
#include "heed/parallel/tree_sum.hpp"

namespace HEED_NAMESPACE {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Consecutive parameters in the buffer, whose gradients are sent together.
struct Bucket {
  std::size_t begin = 0, size = 0;  // the elements of the buffer
  std::size_t parameters = 0;       // the number of parameters
  std::size_t missing = 0;          // the number of parameters whose gradient is not ready
};

// The elements of the buffer that hold the gradient of a parameter.
struct Segment {
  std::size_t begin, bucket;
  bool ready = false;
};

}  // namespace

struct GradientExchange::State {
  std::vector<Tensor> parameters;
  Communicator& communicator;
  ExchangeOptions options;
  std::vector<Segment> segments;  // one for each parameter
  std::vector<Bucket> buckets;
  std::vector<Real> buffer, scratch;
  ExchangeStatistics statistics = {};
  bool in_step = false;

  // The members below are shared with the thread and guarded by the mutex.
  std::mutex mutex = {};
  std::condition_variable changed = {};
  std::size_t complete = 0;  // buckets 0 to complete - 1 may be sent
  std::size_t sent = 0;      // buckets 0 to sent - 1 are summed
  bool stop = false;
  std::exception_ptr failure = {};
  std::thread thread = {};

  // Lays the parameters out in reverse order. A bucket ends when it has reached its size.
  void make_buckets() {
    segments.resize(parameters.size());
    std::size_t at = 0, largest = 0;
    for (std::size_t i = parameters.size(); i-- > 0;) {
      if (buckets.empty() || buckets.back().size * sizeof(Real) >= options.bucket_bytes)
        buckets.push_back({at, 0, 0, 0});
      segments[i] = {at, buckets.size() - 1};
      const std::size_t size = parameters[i].value().size();
      buckets.back().size += size;
      ++buckets.back().parameters;
      at += size;
      largest = std::max(largest, buckets.back().size);
    }
    buffer.resize(at);
    scratch.resize(largest);
  }

  void send(Bucket& bucket) {
    const auto start = Clock::now();
    statistics.bytes_sent += static_cast<double>(sum_over_processes(
        communicator, buffer.data() + bucket.begin, bucket.size, scratch.data()));
    statistics.exchange_seconds += seconds_since(start);
  }

  // Sends the buckets in their order, each when it is complete. All ranks send in the same order,
  // even if their gradients become ready in another one.
  void run_thread() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stop || (sent < complete && !failure); });
      if (stop) return;
      lock.unlock();
      std::exception_ptr error;
      try {
        send(buckets[sent]);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      failure = error;
      if (!error) ++sent;
      changed.notify_all();
    }
  }

  // The number of buckets, from the first, whose gradients are all ready.
  std::size_t count_complete() const {
    std::size_t count = 0;
    while (count < buckets.size() && buckets[count].missing == 0) ++count;
    return count;
  }
};

GradientExchange::GradientExchange(std::vector<Tensor> parameters, Communicator& communicator,
                                   const ExchangeOptions& options)
    : state_(new State{std::move(parameters), communicator, options, {}, {}, {}, {}}) {
  state_->make_buckets();
  if (options.overlap) state_->thread = std::thread([this] { state_->run_thread(); });
}

GradientExchange::~GradientExchange() {
  if (state_->in_step) state_->communicator.abandon();
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

void GradientExchange::begin() {
  State& s = *state_;
  if (s.in_step)
    throw_error("GradientExchange: the previous step has failed; make a new Trainer and resume");
  s.in_step = true;
  for (Bucket& bucket : s.buckets) bucket.missing = bucket.parameters;
  for (Segment& segment : s.segments) segment.ready = false;
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.complete = s.sent = 0;
}

void GradientExchange::ready(std::size_t index) {
  State& s = *state_;
  Segment& segment = s.segments.at(index);
  if (segment.ready)
    throw_error("GradientExchange: ", s.parameters[index].name(), " was ready before; call begin");
  const Array& gradient = s.parameters[index].grad();
  std::copy_n(gradient.data(), gradient.size(), s.buffer.data() + segment.begin);
  segment.ready = true;
  if (--s.buckets[segment.bucket].missing > 0) return;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    s.complete = s.count_complete();
  }
  s.changed.notify_all();
}

void GradientExchange::finish(Real scale) {
  State& s = *state_;
  for (std::size_t i = 0; i < s.segments.size(); ++i)
    if (!s.segments[i].ready)
      throw_error("GradientExchange: ", s.parameters[i].name(), " has no gradient in this step");
  const auto start = Clock::now();
  if (s.thread.joinable()) {
    std::unique_lock<std::mutex> lock(s.mutex);
    s.changed.wait(lock, [&] { return s.failure || s.sent == s.buckets.size(); });
    if (s.failure) std::rethrow_exception(s.failure);
  } else {
    for (Bucket& bucket : s.buckets) s.send(bucket);
  }
  s.statistics.waiting_seconds += seconds_since(start);
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    Array& gradient = s.parameters[i].mutable_grad();
    const Real* const sum = s.buffer.data() + s.segments[i].begin;
    for (std::size_t j = 0; j < gradient.size(); ++j) gradient.data()[j] = sum[j] * scale;
  }
  s.in_step = false;
}

// The buffer, which is free between two steps, gets the parameters in the order of their owners.
void GradientExchange::share_values(const std::vector<std::size_t>& owners) {
  State& s = *state_;
  const auto start = Clock::now();
  const std::size_t processes = s.communicator.size();
  std::vector<std::size_t> begins, order;
  std::size_t at = 0;
  for (std::size_t part = 0; part < processes; ++part) {
    begins.push_back(at);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (owners[i] != owner_of_part(part, processes)) continue;
      const Array& value = s.parameters[i].value();
      if (owners[i] == s.communicator.rank())
        std::copy_n(value.data(), value.size(), s.buffer.data() + at);
      order.push_back(i);
      at += value.size();
    }
  }
  begins.push_back(at);
  s.statistics.bytes_sent +=
      static_cast<double>(gather_parts(s.communicator, s.buffer.data(), begins));
  at = 0;
  for (const std::size_t i : order) {
    const std::size_t size = s.parameters[i].value().size();
    if (owners[i] != s.communicator.rank())
      std::copy_n(s.buffer.data() + at, size, s.parameters[i].mutable_value().data());
    at += size;
  }
  const double seconds = seconds_since(start);
  s.statistics.exchange_seconds += seconds;
  s.statistics.waiting_seconds += seconds;
}

const ExchangeStatistics& GradientExchange::statistics() const { return state_->statistics; }

}  // namespace HEED_NAMESPACE
