// exchange.cpp: sums over shards and processes by one binary tree, buckets of gradients, and the
// thread that sends them.

#include "heed/parallel/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "array/reduce.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A contiguous range of an array.
struct Range {
  Real* begin;
  std::size_t size;
};

std::size_t exchange(Communicator& communicator, std::size_t partner, Range sent, Range received) {
  communicator.exchange(partner, sent.begin, sent.size * sizeof(Real), received.begin,
                        received.size * sizeof(Real));
  return sent.size * sizeof(Real);
}

// The compiler vectorizes this loop. Each element has one addition, so its bits are the same.
void add(Real* to, const Real* part, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += part[i];
}

// An array in P parts: part i has the elements from begins[i] to begins[i + 1].
struct Parts {
  Real* x;
  const std::vector<std::size_t>& begins;  // (P + 1)

  Range range(std::size_t first, std::size_t end) const {
    return {x + begins[first], begins[end] - begins[first]};
  }
};

// Collective among the ranks that are equal to this one in the bits below `distance`, which is 1 at
// first: gathers the parts first to end - 1 at all of them. Each part belongs to one rank: the
// first half to the rank of the pair whose bit `distance` is 0, the second half to its partner, and
// so on recursively. If `scratch` is not null, a part is first summed over the ranks: each sends
// the half that its partner keeps, and adds what it receives to its own. Returns the number of
// bytes sent.
std::size_t exchange_parts(Communicator& communicator, const Parts& parts, std::size_t first,
                           std::size_t end, std::size_t distance, Real* scratch) {
  if (distance == communicator.size()) return 0;
  const std::size_t partner = communicator.rank() ^ distance, middle = (first + end) / 2;
  const bool keeps_first = partner > communicator.rank();
  const Range lower = parts.range(first, middle), upper = parts.range(middle, end);
  const Range own = keeps_first ? lower : upper, other = keeps_first ? upper : lower;
  std::size_t bytes = 0;
  if (scratch != nullptr) {
    bytes += exchange(communicator, partner, other, {scratch, own.size});
    add(own.begin, scratch, own.size);
  }
  bytes += exchange_parts(communicator, parts, keeps_first ? first : middle,
                          keeps_first ? middle : end, 2 * distance, scratch);
  return bytes + exchange(communicator, partner, own, other);
}

// The rank to which exchange_parts() gives part i of P: i with its log2 P bits in reverse order.
std::size_t owner_of_part(std::size_t i, std::size_t processes) {
  std::size_t owner = 0;
  for (std::size_t bit = 1; bit < processes; bit *= 2) owner = owner * 2 + ((i & bit) != 0 ? 1 : 0);
  return owner;
}

}  // namespace

// ---- sums

void TreeSum::push(Array x) {
  std::size_t level = 0;
  for (; (count_ >> level & 1) != 0; ++level) add_to(x, levels_[level]);
  if (level == levels_.size()) levels_.push_back(undefined_array());
  levels_[level] = std::move(x);
  ++count_;
}

Array TreeSum::finish(Array x) {
  push(std::move(x));
  Array sum = std::move(levels_.back());
  levels_.clear();
  count_ = 0;
  return sum;
}

double tree_sum(std::vector<double> values) {
  for (std::size_t n = values.size(); n > 1; n /= 2)
    for (std::size_t i = 0; i < n / 2; ++i) values[i] = values[2 * i] + values[2 * i + 1];
  return values.at(0);
}

std::size_t sum_over_processes(Communicator& communicator, Real* x, std::size_t n, Real* scratch) {
  const std::size_t processes = communicator.size();
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i <= processes; ++i) begins.push_back(n * i / processes);
  return exchange_parts(communicator, {x, begins}, 0, processes, 1, scratch);
}

// ---- the exchange of gradients

GradientExchange::GradientExchange(std::vector<Tensor> parameters, Communicator& communicator,
                                   const ExchangeOptions& options)
    : parameters_(std::move(parameters)), communicator_(communicator), options_(options) {
  make_buckets();
  if (options.overlap) thread_ = std::thread([this] { run_thread(); });
}

GradientExchange::~GradientExchange() {
  if (in_step_) communicator_.abandon();
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Lays the parameters out in reverse order. A bucket ends when it has reached its size.
void GradientExchange::make_buckets() {
  segments_.resize(parameters_.size());
  std::size_t at = 0, largest = 0;
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    if (buckets_.empty() || buckets_.back().size * sizeof(Real) >= options_.bucket_bytes)
      buckets_.push_back({at});
    segments_[i] = {at, buckets_.size() - 1};
    const std::size_t size = parameters_[i].value().size();
    buckets_.back().size += size;
    ++buckets_.back().parameters;
    at += size;
    largest = std::max(largest, buckets_.back().size);
  }
  buffer_.resize(at);
  scratch_.resize(largest);
}

void GradientExchange::send(const Bucket& bucket) {
  const auto start = Clock::now();
  statistics_.bytes_sent += static_cast<double>(sum_over_processes(
      communicator_, buffer_.data() + bucket.begin, bucket.size, scratch_.data()));
  statistics_.exchange_seconds += seconds_since(start);
}

// Sends the buckets in their order, each when it is complete. All ranks send in the same order,
// even if their gradients become ready in another one.
void GradientExchange::run_thread() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || (sent_ < complete_ && !failure_); });
    if (stop_) return;
    lock.unlock();
    std::exception_ptr error;
    try {
      send(buckets_[sent_]);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    failure_ = error;
    if (!error) ++sent_;
    changed_.notify_all();
  }
}

void GradientExchange::begin() {
  if (in_step_)
    throw_error("GradientExchange: the previous step has failed; make a new Trainer and resume");
  in_step_ = true;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.parameters;
  for (Segment& segment : segments_) segment.ready = false;
  const std::lock_guard<std::mutex> lock(mutex_);
  complete_ = sent_ = 0;
}

void GradientExchange::ready(std::size_t index) {
  Segment& segment = segments_.at(index);
  if (segment.ready)
    throw_error("GradientExchange: ", parameters_[index].name(), " was ready before; call begin");
  const Array& gradient = parameters_[index].grad();
  std::copy_n(gradient.data(), gradient.size(), buffer_.data() + segment.begin);
  segment.ready = true;
  if (--buckets_[segment.bucket].missing > 0) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (complete_ < buckets_.size() && buckets_[complete_].missing == 0) ++complete_;
  }
  changed_.notify_all();
}

void GradientExchange::finish(Real scale) {
  for (std::size_t i = 0; i < segments_.size(); ++i)
    if (!segments_[i].ready)
      throw_error("GradientExchange: ", parameters_[i].name(), " has no gradient in this step");
  const auto start = Clock::now();
  wait_for_sums();
  statistics_.waiting_seconds += seconds_since(start);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Array& gradient = parameters_[i].mutable_grad();
    const Real* const sum = buffer_.data() + segments_[i].begin;
    for (std::size_t j = 0; j < gradient.size(); ++j) gradient.data()[j] = sum[j] * scale;
  }
  in_step_ = false;
}

void GradientExchange::wait_for_sums() {
  if (!thread_.joinable()) {
    for (const Bucket& bucket : buckets_) send(bucket);
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || sent_ == buckets_.size(); });
  if (failure_) std::rethrow_exception(failure_);
}

// The buffer, which is free between two steps, gets the parameters in the order of their owners.
void GradientExchange::share_values(const std::vector<std::size_t>& owners) {
  const auto start = Clock::now();
  const std::size_t rank = communicator_.rank(), processes = communicator_.size();
  std::vector<std::size_t> begins{0}, position(owners.size());
  std::size_t at = 0;
  for (std::size_t part = 0; part < processes; ++part) {
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (owners[i] == owner_of_part(part, processes))
        position[i] = std::exchange(at, at + parameters_[i].value().size());
    begins.push_back(at);
  }
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (const Array& value = parameters_[i].value(); owners[i] == rank)
      std::copy_n(value.data(), value.size(), buffer_.data() + position[i]);
  statistics_.bytes_sent += static_cast<double>(
      exchange_parts(communicator_, {buffer_.data(), begins}, 0, processes, 1, nullptr));
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (owners[i] != rank)
      std::copy_n(buffer_.data() + position[i], parameters_[i].value().size(),
                  parameters_[i].mutable_value().data());
  const double seconds = seconds_since(start);
  statistics_.exchange_seconds += seconds;
  statistics_.waiting_seconds += seconds;
}

}  // namespace HEED_NAMESPACE
