// 27 many_hands: data-parallel training in several processes, with the same bits for any number.
//
// Before this lesson: 26_inside_bert, and 05_autograd for the backward pass.
// After it: 28_a_real_model, which examines models that others have trained.
// A useful breakpoint: heed::DataParallel::sum_gradients. Print first and last: the rank's shards.

#include "training.hpp"

using namespace heed;
const std::string lesson = "27_many_hands";

void two_halves_of_a_batch() {
  section("Two halves of a batch");
  say("DATA PARALLELISM: each process has all weights and computes the gradient of a",
      "part of the batch. The loss is a mean over the batch, so the gradient is the",
      "mean of the gradients of equal parts. Linear regression with 8 examples, by", "hand:");
  Generator g(26);
  const Array x = g.randn({8, 2}), y = g.randn({8, 1}), W = zeros({2, 1});
  const Array g0 = gradient_of(rows(x, 0, 4), rows(y, 0, 4), W),
              g1 = gradient_of(rows(x, 4, 8), rows(y, 4, 8), W);
  show("gradient of the first half", g0);
  show("gradient of the second half", g1);
  check("(first + second) / 2 = the gradient of the whole batch", Array((g0 + g1) * Real(0.5)),
        gradient_of(x, y, W));
}

void two_processes() {
  section("Two processes");
  say("fork() copies this program: rank 0 goes on, the copy is rank 1. Each takes one",
      "half of the batch. They exchange gradients, and both add and take the same step.",
      "So their weights stay equal without being sent. 20 steps of gradient descent:");
  Generator g(26);
  const Array x = g.randn({8, 2}), y = g.randn({8, 1});
  Array alone = zeros({2, 1}), shared = zeros({2, 1}), other = zeros({2, 1});
  for (int step = 0; step < 20; ++step) {
    const Array g0 = gradient_of(rows(x, 0, 4), rows(y, 0, 4), alone),
                g1 = gradient_of(rows(x, 4, 8), rows(y, 4, 8), alone);
    alone = Array(alone - (g0 + g1) * Real(0.05));
  }
  in_processes(2, [&](Communicator& process) {
    const std::size_t rank = process.rank(), bytes = 2 * sizeof(Real);
    for (int step = 0; step < 20; ++step) {
      const Array own =
          gradient_of(rows(x, 4 * rank, 4 * rank + 4), rows(y, 4 * rank, 4 * rank + 4), shared);
      Array received = zeros({2, 1});
      process.exchange(1 - rank, own.data(), bytes, received.data(), bytes);
      shared = Array(shared - (own + received) * Real(0.05));
    }
    process.exchange(1 - rank, shared.data(), bytes, other.data(), bytes);
  });
  show("W of rank 0 after 20 steps", shared);
  claim("rank 1 has the same bits", same_bits(shared, other), "other bits");
  claim("one process that adds both halves has the same bits", same_bits(shared, alone),
        "other bits");
  say("", "ALL-REDUCE is the name of an exchange after which all ranks have the sum (MPI's",
      "MPI_Allreduce). A sum of two terms has only one order: a + b and b + a are", "equal.");
}

void the_order_of_a_sum() {
  section("Why another order gives other bits");
  say("Each addition of floats is rounded, so (a + b) + c may differ from a + (b + c).",
      "With a = 1, b = c = 2^-24, half the distance from 1 to the next float:", "");
  const float a = 1, b = 1.0F / (1 << 24), left = (a + b) + b, right = a + (b + b);
  say("  (a + b) + c - 1 = " + scientific(double(left) - 1, 4),
      "  a + (b + c) - 1 = " + scientific(double(right) - 1, 4), "");
  claim("the two sums differ in float32", left != right, "equal");
  say("", "Here are 8 arrays of 1000 random numbers, the gradients of 8 parts of a batch.",
      "We count the elements that differ from the sum in turn:", "");
  const Arrays shards = random_gradients();
  const Array turn = sum_in_turn(shards), tree = sum_by_tree(shards);
  say("  tree          " + std::to_string(count_different(turn, tree)));
  for (const std::size_t P : {2, 4, 8})
    say("  ring, P = " + std::to_string(P) + "   " +
        std::to_string(count_different(turn, ring(shards, P))));
  check("ring, P = 4 = tree, up to rounding", ring(shards, 4), tree, 1e-5);
  say("", "A ring (Patarasuk and Yuan 2009) adds in an order that depends on P. So the same",
      "training on 2 and on 4 processes has other bits, and after many steps other",
      "digits. The sums of PyTorch's DDP depend on P as well.");
}

void one_tree() {
  section("One tree for any number of processes");
  say("The remedy: divide the batch into S SHARDS, and fix the order of their sum. The",
      "tree adds shards 0 and 1, 2 and 3, then these sums in pairs:", "",
      "        sum          rank XOR 2", "      /     \\        rank XOR 1", "    .         .",
      "   / \\       / \\     inside a rank, if P = 2", "  0   1     2   3", "",
      "With P processes, a power of two, each has S / P neighbouring shards: a subtree.",
      "In RECURSIVE DOUBLING rank r exchanges with rank r XOR 1, then r XOR 2, r XOR 4,",
      "...: these are the upper levels of the same tree.", "");
  const Arrays shards = random_gradients();
  const Array tree = sum_by_tree(shards);
  for (const std::size_t P : {1, 2, 4, 8}) {
    std::size_t different = 0;
    for (const Array& sum : recursive_doubling(shards, P)) different += count_different(sum, tree);
    claim("P = " + std::to_string(P) + ": all ranks have the bits of the tree", different == 0,
          std::to_string(different) + " elements differ");
  }
  say("", "Now a GPT with dropout, trained with S = 4 in 1, 2 and 4 processes:", "");
  const Trained one = train(4, 1), two = train(4, 2), four = train(4, 4), whole = train(1, 1);
  claim("2 processes: the same weights, bit for bit", same_bits(one.weights, two.weights),
        "differ");
  claim("4 processes: the same weights, bit for bit", same_bits(one.weights, four.weights),
        "differ");
  claim("another S: other bits", !same_bits(one.weights, whole.weights), "equal");
  say("",
      "last training loss   S = 4 " + trained(one.loss()) + "   S = 1 " + trained(whole.loss()));
  loss_curves("training loss (nats per token)", {one.losses, whole.losses});
  say("", "S belongs to the result, like the batch size; P only to the time. Dropout masks",
      "depend on step and shard, not on the rank. So a run saved by 4 processes can be",
      "resumed by 2:", "", "  ./heed train --shards 4 --processes 4",
      "  ./heed train --resume --processes 2");
}

void overlap() {
  section("Overlap");
  say("The backward pass completes the gradients of the last layers first. They can be",
      "sent while it computes the others. DDP collects them in BUCKETS, in the reverse",
      "order of the parameters. The order in which this GPT's gradients are complete:", "");
  const Names names = order_of_gradients();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (i < 3 || i + 2 >= names.size())
      say(pad_left(std::to_string(i + 1), 4) + "  " + names[i]);
    else if (i == 3)
      say(" ...");
  claim("the first are those of the last layers", names[0] == "norm.weight", names[0]);
  claim("the token embedding is last: it is the output layer, too", names.back() == "token.weight",
        names.back());
  say("", "Buckets change which bytes travel together, and no order of any sum: the bits",
      "stay the same. What remains after the backward pass is the last bucket.");
}

void what_it_costs() {
  section("What it costs");
  say("A message of n bytes takes about a + n b: the LATENCY a, and b = 1 / bandwidth",
      "for each byte. HALVING AND DOUBLING sends half of the array in the first step,",
      "then a quarter, ... and gathers the sums in the reverse order: 2 (P - 1) / P n",
      "bytes. It is the same tree for each element. So a step takes, without overlap,", "",
      "  T(P) = T(1) / P + 2 a log2 P + 2 (P - 1) / P n b", "",
      "A model of 0.8 million parameters (n = 3.2 MB) with T(1) = 74 ms, and latencies",
      "of 5, 20 and 100 microseconds:");
  const std::vector<Network> networks = {{"memory of one machine, 5 GB/s", 5e-6, 5e9},
                                         {"25 Gbit/s", 2e-5, 3.125e9},
                                         {"1 Gbit/s", 1e-4, 0.125e9}};
  Array ms = zeros({3, 4});
  Names names;
  for (std::size_t i = 0; i < 3; ++i) {
    names.push_back(networks[i].name);
    for (std::size_t j = 0; j < 4; ++j)
      ms(i, j) = Real(1e3 * step_seconds(0.074, 3.2e6, std::pow(2, double(j)), networks[i]));
  }
  show("milliseconds per step, by the model", ms, names, {"P = 1", "P = 2", "P = 4", "P = 8"});
  claim("1 Gbit/s: 8 processes need more than 0.9 of the time of 4",
        ms(2, 3) > Real(0.9) * ms(2, 2), decimal(double(ms(2, 3)), 1));
  say("", "It is a model: latencies and bandwidths are assumed. ./heed bench --processes",
      "measures yours. Larger batches help: T(1) grows with them, n does not.");
}

int main() {
  set_num_threads(1);  // fork() copies only one thread
  opening({"to train in several processes, with the same bits for any number",
           "g = (1 / S) sum_s g_s   g_s: gradient of shard s, batch / S windows\n"
           "all-reduce by recursive doubling: step k adds that of rank r XOR 2^k",
           "Li et al., \"PyTorch Distributed: Experiences on Accelerating Data\n"
           "Parallel Training\", section 3 (2020); Thakur, Rabenseifner and\n"
           "Gropp, \"Optimization of Collective Communication Operations in\n"
           "MPICH\", section 4.5 (2005); Rajbhandari et al., \"ZeRO: Memory\n"
           "Optimizations Toward Training Trillion Parameter Models\", section 5\n"
           "(2020)",
           "torch.nn.parallel.DistributedDataParallel (DDP)"});
  two_halves_of_a_batch();
  two_processes();
  the_order_of_a_sum();
  one_tree();
  overlap();
  what_it_costs();
  questions(
      "In recursive_doubling (by_hand.hpp), begin with the largest distance.\n"
      "Which of the claims fail, and why not that of P = 2?",
      "In random_gradients (by_hand.hpp), multiply by 100 and round to whole\n"
      "numbers (xt::round). How many elements differ now?",
      "In tiny_run (training.hpp), set steps to 600. How far apart are the losses\n"
      "of S = 4 and S = 1?");
}
