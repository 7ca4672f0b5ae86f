// communicator_test.cpp: exchanges of bytes through shared memory, and collective operations.

#include "heed/parallel/communicator.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/base/error.hpp"
#include "heed/parallel/shared_memory.hpp"
#include "message_of.hpp"
#include "parallel/threads_as_ranks.hpp"

using namespace heed;
using heed::test::message_of;
using heed_test::run_ranks;

TEST_CASE("every rank gets the texts of all ranks in order, of any length",
          "[parallel][communicator]") {
  for (const std::size_t processes : {1, 2, 4, 8}) {
    std::vector<std::string> expected, first(processes);
    for (std::size_t r = 0; r < processes; ++r)
      expected.push_back(std::string(r * r * 70000, static_cast<char>('a' + r)));
    std::vector<int> right(processes);
    run_ranks(processes, [&](Communicator& c) {
      right[c.rank()] = gather_texts(c, expected[c.rank()]) == expected;
      first[c.rank()] = broadcast_text(c, "rank " + std::to_string(c.rank()));
    });
    CHECK(right == std::vector<int>(processes, 1));
    CHECK(first == std::vector<std::string>(processes, "rank 0"));
  }
}

TEST_CASE("forked processes exchange messages of any length", "[parallel][communicator]") {
  SharedMemory memory(2);
  const std::size_t chunk = SharedMemory::Mailbox::chunk;
  const auto exchanged = [&](std::size_t rank) {
    SharedMemoryCommunicator communicator(memory, rank);
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, 5 * chunk + 7}) {
      const std::string sent(rank == 0 ? n : n / 2, rank == 0 ? 'x' : 'y');
      const std::string expected(rank == 0 ? n / 2 : n, rank == 0 ? 'y' : 'x');
      std::string received(expected.size(), ' ');
      communicator.exchange(1 - rank, sent.data(), sent.size(), received.data(), received.size());
      if (received != expected) return false;
    }
    return true;
  };
  const pid_t child = fork();
  if (child == 0) _exit(exchanged(1) ? 0 : 1);
  CHECK(exchanged(0));
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("an exchange ends with PeerLost when another process has failed",
          "[parallel][communicator]") {
  SharedMemory memory(4);
  SharedMemoryCommunicator communicator(memory, 0);
  memory.status().failed = 1;
  char sent = 0, received = 0;
  CHECK_THROWS_AS(communicator.exchange(1, &sent, 1, &received, 1), PeerLost);
}

TEST_CASE("an exchange needs a partner whose rank differs in one bit", "[parallel][communicator]") {
  SharedMemory memory(4);
  SharedMemoryCommunicator communicator(memory, 0);
  char sent = 0, received = 0;
  const auto with = [&](std::size_t partner) {
    return message_of([&] { communicator.exchange(partner, &sent, 1, &received, 1); });
  };
  CHECK(with(3) == "exchange: rank 0 has no partner 3 among 4");
  CHECK(with(0) == "exchange: rank 0 has no partner 0 among 4");
  CHECK(with(4) == "exchange: rank 0 has no partner 4 among 4");
  CHECK(message_of([] { SharedMemory(3); }) ==
        "SharedMemory: 3 processes; give a power of two up to 64");
  CHECK(message_of([&] { SingleProcess().exchange(1, &sent, 1, &received, 1); }) ==
        "exchange: a single process has no partner 1");
}
