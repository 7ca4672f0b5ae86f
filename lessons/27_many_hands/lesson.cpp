// 27 many_hands: data-parallel training in several processes, with the same bits for any number.
//
// Worth a breakpoint: heed::DataParallel::sum_gradients. Print first and last: the rank's shards.

#include <sys/wait.h>
#include <unistd.h>

#include "guess.hpp"
#include "harbour.hpp"
#include "heed/parallel/shared_memory.hpp"
#include "heed/train/data_parallel.hpp"
#include "link.hpp"
#include "measures.hpp"

using namespace heed;
using Arrays = std::vector<Array>;

const Link memory{"memory"}, network{"network", 1e-4, 0.125e9};  // 0.1 ms, 1 Gbit/s

// Runs body() in P processes: this one is rank 0, and fork() makes the others. Each has its own
// copy of all variables, and they share only the mailboxes of the communicator.
void in_processes(std::size_t P, const Link& link, const std::function<void(Communicator&)>& body) {
  SharedMemory mailboxes(P);
  std::size_t rank = 0;
  for (std::size_t r = 1; r < P && rank == 0; ++r)
    if (fork() == 0) rank = r;
  SharedMemoryCommunicator through_memory(mailboxes, rank);
  LinkCommunicator communicator(link, through_memory);
  body(communicator);
  if (rank > 0) _exit(0);              // ends the copy
  while (wait(nullptr) > 0) continue;  // until all copies have ended
}

// The gradient of the mean squared error of x W against y, for examples `begin` to `end` - 1.
Array gradient_of(const Array& x, const Array& y, const Array& W, std::size_t begin,
                  std::size_t end) {
  const Array inputs = xt::view(x, xt::range(begin, end)),
              targets = xt::view(y, xt::range(begin, end));
  const Tensor w(W, true), error = matmul(Tensor(inputs), w) - Tensor(targets);
  mean(error * error).backward();
  return w.grad();
}

void two_halves_of_a_batch() {
  section("Two halves of a batch");
  Generator g(26);
  const Array x = g.randn({8, 2}), y = g.randn({8, 1});
  Array W = zeros({2, 1});
  const auto shard_gradient = [&](std::size_t shard) {
    return gradient_of(x, y, W, 4 * shard, 4 * shard + 4);
  };
  const Array g0 = shard_gradient(0), g1 = shard_gradient(1);
  show("gradients", Array{{g0(0, 0), g0(1, 0)}, {g1(0, 0), g1(1, 0)}}, {"shard 0", "shard 1"});
  check("(g0 + g1) / 2 = the gradient of the whole batch", Array((g0 + g1) * Real(0.5)),
        gradient_of(x, y, W, 0, 8));
  say();
  Array other = W;  // the weights of rank 1
  in_processes(2, memory, [&](Communicator& process) {
    const std::size_t rank = process.rank(), bytes = 2 * sizeof(Real);
    for (int step = 0; step < 20; ++step) {
      const Array own = shard_gradient(rank);
      Array received = own;
      process.exchange(1 - rank, own.data(), bytes, received.data(), bytes);
      W = Array(W - (own + received) * Real(0.05));
    }
    process.exchange(1 - rank, W.data(), bytes, other.data(), bytes);
  });
  claim("rank 1 has the same bits", same_bits(W, other), "other bits");
  const Array shared = W;
  W = zeros({2, 1});
  for (int step = 0; step < 20; ++step)
    W = Array(W - (shard_gradient(0) + shard_gradient(1)) * Real(0.05));
  claim("one process that adds both gradients has the same bits", same_bits(W, shared), "others");
  say();
}

// The gradients of 8 shards (1000): products of random numbers.
Arrays made_up_gradients() {
  Generator g(8);
  Arrays x;
  for (int i = 0; i < 8; ++i)
    x.push_back(Array(g.uniform({1000}, -1, 1) * g.uniform({1000}, -1, 1)));
  return x;
}

// ((x0 + x1) + x2) + ...
Array sum_in_turn(const Arrays& x) {
  Array sum = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) sum = Array(sum + x[i]);
  return sum;
}

// (x0 + x1) + (x2 + x3): the sum of each half, then their sum.
Array sum_by_tree(const Arrays& x) {
  if (x.size() == 1) return x[0];
  const auto middle = x.begin() + std::ptrdiff_t(x.size() / 2);
  return Array(sum_by_tree({x.begin(), middle}) + sum_by_tree({middle, x.end()}));
}

// The S / P neighbouring shards of a rank.
Arrays shards_of(const Arrays& shards, std::size_t rank, std::size_t P) {
  const auto first = shards.begin() + std::ptrdiff_t(rank * shards.size() / P);
  return {first, first + std::ptrdiff_t(shards.size() / P)};
}

// Each rank adds its own shards in turn. Then chunk c of P travels from rank c around the ring, and
// each rank adds its own chunk to it.
Array ring(const Arrays& shards, std::size_t P) {
  Arrays own;
  for (std::size_t r = 0; r < P; ++r) own.push_back(sum_in_turn(shards_of(shards, r, P)));
  Array sum = own[0];
  for (std::size_t c = 0; c < P; ++c)
    for (std::size_t i = sum.size() * c / P; i < sum.size() * (c + 1) / P; ++i) {
      sum(i) = own[c](i);
      for (std::size_t step = 1; step < P; ++step) sum(i) += own[(c + step) % P](i);
    }
  return sum;
}

void the_order_of_a_sum() {
  section("Why another order gives other bits");
  const float a = 1, b = 1.0F / (1 << 24), left = (a + b) + b, right = a + (b + b);
  say("  (a + b) + c - 1 = " + scientific(double(left) - 1, 2) +
      "\n  a + (b + c) - 1 = " + scientific(double(right) - 1, 2));
  claim("the two sums differ in float32", left != right, "equal");
  say();
  draw_sums();
  say();
  const Arrays shards = made_up_gradients();
  const Array turn = sum_in_turn(shards), tree = sum_by_tree(shards);
  say("  tree         " + std::to_string(count_different(turn, tree)));
  say("  ring, P = 4  " + std::to_string(count_different(turn, ring(shards, 4))));
  check("ring, P = 4 = tree, up to rounding", ring(shards, 4), tree);
  say();
}

// Recursive doubling: the sum of the x of all ranks.
Tensor all_reduce(Communicator& process, Tensor x) {
  const std::size_t bytes = x.value().size() * sizeof(Real);
  for (std::size_t distance = 1; distance < process.size(); distance *= 2) {
    Array received = x.value();
    process.exchange(process.rank() ^ distance, x.value().data(), bytes, received.data(), bytes);
    x = x + Tensor(received);
  }
  return x;
}

const std::int64_t steps = in_brief(40, 10);
const int runs = int(in_brief(5, 2));
const Harbour play;

nn::GptConfig small_gpt() {
  nn::GptConfig config;
  config.vocab_size = play.vocab_size(), config.block_size = 32;
  config.layers = 4, config.heads = 4, config.embed_dim = 64;
  return config;
}

// The result of training the GPT, and the time of a step in several runs.
struct Trained {
  Array weights = {};     // of the token embedding (V, C)
  std::size_t bytes = 0;  // of all gradients
  double loss = 0;
  Times step = {};
};

// Trains with 4 shards in P processes. All gradients are sent together, unless `exchange` is given.
Trained train(std::size_t P, const Link& link, const ExchangeOptions& exchange = {1 << 22, false}) {
  TrainOptions options;
  options.batch_size = 16, options.shards = 4, options.steps = steps, options.dropout = 0.1;
  options.lr = 3e-3, options.warmup = 5, options.eval_every = steps, options.eval_batches = 1;
  Trained result;
  for (int run = 0; run < runs; ++run)
    in_processes(P, link, [&](Communicator& process) {
      const auto trainer = make_trainer(play.corpus, small_gpt(), options, {&process, exchange});
      trainer->step();
      result.step.add(time_of(process, steps - 2, [&] { trainer->step(); }));
      trainer->step();  // and evaluates
      result.weights = trainer->parameters().at("token.weight").value();
      result.bytes = 0;
      for (const Tensor& p : trainer->parameters()) result.bytes += p.value().size() * sizeof(Real);
      result.loss = trainer->history().back().train_loss;
    });
  return result;
}

std::vector<Trained> one_tree() {
  section("One tree for any number of processes");
  const Arrays shards = made_up_gradients();
  const Array tree = sum_by_tree(shards);
  for (const std::size_t P : {2, 4, 8}) {
    std::size_t different = 0;
    in_processes(P, memory, [&](Communicator& process) {
      const Tensor own(sum_by_tree(shards_of(shards, process.rank(), P)));
      const Array sum = all_reduce(process, own).value();
      for (const std::string& n : gather_texts(process, std::to_string(count_different(sum, tree))))
        different += std::stoul(n);
    });
    claim("P = " + std::to_string(P) + ": all ranks have the bits of the tree", different == 0,
          std::to_string(different) + " elements differ");
  }
  say({{"steps", steps}});
  const std::vector<Trained> all = {train(1, memory), train(2, memory), train(4, memory)};
  claim("2 processes: the same weights, bit for bit", same_bits(all[0].weights, all[1].weights),
        "they differ");
  claim("4 processes: the same weights, bit for bit", same_bits(all[0].weights, all[2].weights),
        "they differ");
  say();
  return all;
}

const std::vector<double> message_sizes = {64, 4096, 65536, 262144, 1048576, 4194304};

// Minimizes the sum of ((a + b n - t) / t)^2 over the messages: two linear equations for a and b.
Cost fitted(const std::vector<double>& n, const std::vector<double>& t) {
  double one = 0, x = 0, xx = 0, y = 0, xy = 0;  // weighted sums
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double weight = 1 / (t[i] * t[i]);
    one += weight, x += weight * n[i], xx += weight * n[i] * n[i];
    y += weight * t[i], xy += weight * n[i] * t[i];
  }
  const double b = (one * xy - x * y) / (one * xx - x * x);
  return {(y - b * x) / one, b};
}

// Measures exchanges between two processes.
MeasuredLink measured(const Link& link) {
  MeasuredLink result{link.name, message_sizes, {}, {}};
  in_processes(2, link, [&](Communicator& process) {
    for (const double n : message_sizes) {
      std::vector<char> sent(std::size_t(n), 1), received(sent.size());
      result.milliseconds.push_back(shortest_time(process, [&] {
        process.exchange(1 - process.rank(), sent.data(), sent.size(), received.data(),
                         sent.size());
      }));
    }
  });
  result.cost = fitted(message_sizes, result.milliseconds);
  return result;
}

// All-reduces of n floats in P processes.
std::vector<Compared> all_reduces(std::size_t P, const Link& link, const Cost& cost,
                                  std::size_t n) {
  const double bytes = double(n * sizeof(Real)), levels = std::log2(P);
  const std::string name = std::to_string(P) + " processes, " + link.name + ", ";
  std::vector<Compared> rows = {
      {name + "doubling", levels * (cost.a + bytes * cost.b), {}},
      {name + "halving", 2 * levels * cost.a + 2 * double(P - 1) / double(P) * bytes * cost.b, {}}};
  in_processes(P, link, [&](Communicator& process) {
    const NoGrad no_grad;
    Array x = zeros({n}), scratch = x;
    rows[0].times.add(shortest_time(process, [&] { all_reduce(process, Tensor(x)); }));
    rows[1].times.add(
        shortest_time(process, [&] { sum_over_processes(process, x.data(), n, scratch.data()); }));
  });
  return rows;
}

std::vector<MeasuredLink> what_a_message_costs() {
  section("What a message costs");
  const std::vector<MeasuredLink> links = {measured(memory), measured(network)};
  quote(table_of(links));
  say();
  draw_messages(links);
  say();
  std::vector<Compared> rows;
  for (const std::size_t P : {2, 4})
    for (const std::size_t i : {0, 1})
      for (const Compared& row : all_reduces(P, i == 0 ? memory : network, links[i].cost, 250000))
        rows.push_back(row);
  quote(table_of(rows));
  say();
  return links;
}

// Returns the times of a step in 2 and in 4 processes over the network.
std::vector<Trained> what_a_step_costs(const std::vector<Trained>& in_memory,
                                       const std::vector<MeasuredLink>& links, const Guess& guess) {
  const double n = double(in_memory[0].bytes), cores = std::thread::hardware_concurrency();
  section("What a step costs", {{"kilobytes", decimal(n / 1e3, 0)}});
  const Times one = in_memory[0].step;
  const auto model = [&](double P, const Cost& link) {
    return one.shortest / std::min(P, cores) + 3 * link.a * std::log2(P) +
           2 * (P - 1) / P * n * link.b;
  };
  const std::vector<Trained> all = {train(2, network), train(4, network)};
  quote(counted(std::size_t(cores), "core") + "\n" +
        table_of({{"1 process", one.shortest, one},
                  {"2 processes, memory", model(2, links[0].cost), in_memory[1].step},
                  {"4 processes, memory", model(4, links[0].cost), in_memory[2].step},
                  {"2 processes, network", model(2, links[1].cost), all[0].step},
                  {"4 processes, network", model(4, links[1].cost), all[1].step}}));
  guess.compare(decimal(one.shortest / all[1].step.shortest, 2));
  claim("over the network: the same weights, bit for bit",
        same_bits(all[0].weights, in_memory[0].weights) &&
            same_bits(all[1].weights, in_memory[0].weights),
        "they differ");
  say();
  return all;
}

void overlap(const Trained& alone, const std::vector<Trained>& one_after_the_other) {
  section("Sending while computing");
  Generator g(1);
  const Names names = order_of_gradients(small_gpt(), play.batch(2, 32, g));
  for (std::size_t i : {0, 1, 2}) say("  " + pad_left(std::to_string(i + 1), 2) + "  " + names[i]);
  say("  ...\n  " + std::to_string(names.size()) + "  " + names.back());
  say();
  const std::vector<Trained> all = {train(2, network, {1 << 18, true}),
                                    train(4, network, {1 << 18, true})};
  quote(table_of({{"2 processes, one after the other", NAN, one_after_the_other[0].step},
                  {"2 processes, overlap", NAN, all[0].step},
                  {"4 processes, one after the other", NAN, one_after_the_other[1].step},
                  {"4 processes, overlap", NAN, all[1].step}}));
  claim("the same weights, bit for bit",
        same_bits(all[0].weights, alone.weights) && same_bits(all[1].weights, alone.weights),
        "differ");
  say();
}

int main() {
  set_num_threads(1);  // fork() copies only one thread
  opening();
  const Guess guess("the speed-up of four processes on two cores, over the network");
  two_halves_of_a_batch();
  the_order_of_a_sum();
  const std::vector<Trained> in_memory = one_tree();
  const std::vector<MeasuredLink> links = what_a_message_costs();
  overlap(in_memory[0], what_a_step_costs(in_memory, links, guess));
  ending();
}
