// Tests exercise 27 halving: runs all ranks in threads, counts what they send, and compares the
// bits with the tree.

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "exercise.hpp"
#include "heed/parallel/communicator.hpp"

using namespace heed;

void all_reduce(Communicator& process, Array& x);

namespace {

std::string name_of(std::size_t rank) { return "rank " + std::to_string(rank); }

// Thrown in a rank that waits for nothing any more, because another one has failed.
struct Stopped {};

// What ranks have sent and not received yet, and the first fault of any rank.
class Post {
 public:
  void send(std::size_t from, std::size_t to, const void* data, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const char* const begin = static_cast<const char*>(data);
    letters_[{from, to}].emplace_back(begin, begin + bytes);
    changed_.notify_all();
  }

  void receive(std::size_t from, std::size_t to, void* data, std::size_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    std::vector<std::vector<char>>& letters = letters_[{from, to}];
    const bool in_time = changed_.wait_for(lock, std::chrono::seconds(5),
                                           [&] { return !fault_.empty() || !letters.empty(); });
    if (!fault_.empty()) throw Stopped();
    if (!in_time) stop(name_of(to) + " waits for " + name_of(from) + ", which sends nothing");
    if (letters[0].size() != bytes)
      stop(name_of(to) + " receives " + std::to_string(bytes) + " bytes, but " + name_of(from) +
           " sends " + std::to_string(letters[0].size()));
    std::memcpy(data, letters[0].data(), bytes);
    letters.erase(letters.begin());
  }

  void fail(const std::string& fault) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (fault_.empty()) fault_ = fault;
    changed_.notify_all();
  }

  const std::string& fault() const { return fault_; }  // after all ranks have ended

 private:
  [[noreturn]] void stop(const std::string& fault) {  // with the mutex locked
    fault_ = fault;
    changed_.notify_all();
    throw Stopped();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::vector<char>>> letters_;
  std::string fault_;
};

// The communicator of one rank, which counts its exchanges and the bytes that it sends.
class Counting : public Communicator {
 public:
  Counting(Post& post, std::size_t rank, std::size_t size)
      : post_(post), rank_(rank), size_(size) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  std::size_t local_size() const override { return size_; }
  void exchange(std::size_t partner, const void* sent, std::size_t sent_bytes, void* received,
                std::size_t received_bytes) override {
    if (partner >= size_ || !is_power_of_two(partner ^ rank_)) {
      post_.fail(name_of(rank_) + " calls exchange() with partner " + std::to_string(partner));
      throw Stopped();
    }
    ++exchanges, bytes += sent_bytes;
    post_.send(rank_, partner, sent, sent_bytes);
    post_.receive(partner, rank_, received, received_bytes);
  }
  void abandon() override { post_.fail(name_of(rank_) + " calls abandon()"); }

  std::size_t exchanges = 0, bytes = 0;

 private:
  Post& post_;
  std::size_t rank_, size_;
};

// (x0 + x1) + (x2 + x3)
Array tree_of(std::vector<Array> x) {
  for (std::size_t count = x.size(); count > 1; count /= 2)
    for (std::size_t i = 0; i < count / 2; ++i) x[i] = Array(x[2 * i] + x[2 * i + 1]);
  return x[0];
}

// Describes the first element that is wrong, or has other bits than the tree gives; or "".
std::string fault_of(std::size_t rank, const Array& got, const Array& expected) {
  if (got.shape() != expected.shape())
    return name_of(rank) + " has shape " + str(shape_of(got)) + ", expected " +
           str(shape_of(expected));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(got(i) == expected(i)))
      return name_of(rank) + " has " + decimal(double(got(i)), 8) + " at element " +
             std::to_string(i) + ", expected " + decimal(double(expected(i)), 8) +
             ", with all bits";
  return "";
}

void judge(std::size_t P, std::size_t n, Generator& g) {
  std::vector<Array> x;
  for (std::size_t r = 0; r < P; ++r) x.push_back(g.randn({n}));
  const Array expected = tree_of(x);
  Post post;
  std::deque<Counting> ranks;  // which are not copied
  for (std::size_t r = 0; r < P; ++r) ranks.emplace_back(post, r, P);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < P; ++r)
    threads.emplace_back([&, r] {
      try {
        all_reduce(ranks[r], x[r]);
      } catch (const Stopped&) {  // the post has the fault
      } catch (const std::exception& error) {
        post.fail(name_of(r) + ": " + error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::string sums = post.fault(), traffic = post.fault();
  std::size_t steps = 0;
  while ((std::size_t{1} << steps) < P) ++steps;
  const std::size_t limit = 2 * (n * (P - 1) / P + steps);  // a half may have one element more
  for (std::size_t r = 0; r < P; ++r) {
    const std::size_t exchanges = ranks[r].exchanges, sent = ranks[r].bytes / sizeof(Real);
    if (sums.empty()) sums = fault_of(r, x[r], expected);
    if (traffic.empty() && (exchanges > 2 * steps || sent > limit))
      traffic = name_of(r) + " sends " + counted(sent, "element") + " in " +
                counted(exchanges, "exchange") + "; the limits are " + std::to_string(limit) +
                " and " + std::to_string(2 * steps);
  }
  const std::string name = counted(P, "rank") + ", " + counted(n, "element");
  expect(name + ": each rank has the sum", sums.empty(), sums);
  expect(name + ": no rank sends too much", traffic.empty(), traffic);
}

}  // namespace

int main() {
  Generator g(26);
  judge(1, 5, g);
  judge(2, 2, g);
  judge(2, 7, g);
  judge(4, 1000, g);
  judge(4, 13, g);
  judge(8, 3, g);
  judge(16, 4099, g);
  return verdict();
}
