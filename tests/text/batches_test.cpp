// batches_test.cpp: random windows match torch.randint; targets are shifted by one token.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/utf8.hpp"
#include "heed/text/corpus.hpp"

namespace {

using namespace heed;
using Numbers = std::vector<std::int64_t>;

// A corpus of n different characters in which each token id equals its position.
Corpus counting(std::uint32_t n) {
  std::string text;
  for (std::uint32_t i = 0; i < n; ++i) append_utf8(text, 0x10000 + i);
  return Corpus(text, Vocabulary::of_text(text));
}

Split entire(const Corpus& corpus) { return {&corpus, 0, corpus.size(), "entire"}; }

Numbers starts(const Batch& batch) {
  Numbers firsts;
  for (std::size_t b = 0; b < batch.inputs.shape(0); ++b) firsts.push_back(batch.inputs(b, 0));
  return firsts;
}

}  // namespace

TEST_CASE("window starts equal torch.randint(len - block_size, (B,))", "[text][batches]") {
  const Corpus corpus = counting(1000);
  Batches batches(entire(corpus), 4, 8, 1337);
  CHECK(starts(batches.next()) == Numbers{119, 925, 796, 360});  // PyTorch 1.13.1
  CHECK(starts(batches.next()) == Numbers{711, 345, 295, 666});
}

TEST_CASE("targets are the inputs shifted by one token", "[text][batches]") {
  const Corpus corpus = counting(100);
  Batches batches(corpus.training(), 5, 7, 1);
  const Batch batch = batches.next();
  CHECK(str(shape_of(batch.inputs)) == "(5, 7)");
  CHECK(str(shape_of(batch.targets)) == "(5, 7)");
  for (std::size_t b = 0; b < 5; ++b)
    for (std::size_t t = 0; t < 7; ++t) {
      CHECK(batch.inputs(b, t) == batch.inputs(b, 0) + static_cast<std::int64_t>(t));
      CHECK(batch.targets(b, t) == batch.inputs(b, t) + 1);
    }
}

TEST_CASE("windows stay inside their split and reach both of its ends", "[text][batches]") {
  const Corpus corpus = counting(200);
  Batches training(corpus.training(), 1000, 8, 1), validation(corpus.validation(), 1000, 8, 1);
  const Batch t = training.next(), v = validation.next();
  CHECK(*std::min_element(t.inputs.begin(), t.inputs.end()) == 0);
  CHECK(*std::max_element(t.targets.begin(), t.targets.end()) == 179);
  CHECK(*std::min_element(v.inputs.begin(), v.inputs.end()) == 180);
  CHECK(*std::max_element(v.targets.begin(), v.targets.end()) == 199);
}

TEST_CASE("a split of block_size + 1 tokens has one window", "[text][batches]") {
  const Corpus corpus = counting(17);
  Batches batches(entire(corpus), 3, 16, 1);
  const Batch batch = batches.next();
  CHECK(starts(batch) == Numbers{0, 0, 0});
  CHECK(batch.targets(2, 15) == 16);
}

TEST_CASE("rewinding gives the same windows again", "[text][batches]") {
  const Corpus corpus = counting(1000);
  Batches batches(corpus.training(), 4, 8, 1337);
  const Numbers first = starts(batches.next());
  batches.next();
  batches.rewind(1337);
  CHECK(starts(batches.next()) == first);
  batches.rewind(1338);
  CHECK(starts(batches.next()) != first);
}

TEST_CASE("a restored state gives the next windows", "[text][batches]") {
  const Corpus corpus = counting(1000);
  Batches batches(corpus.training(), 4, 8, 1337), restored(corpus.training(), 4, 8, 1);
  for (int i = 0; i < 200; ++i) batches.next();  // beyond the generator's 624 words
  restored.set_state(batches.state());
  CHECK(starts(restored.next()) == starts(batches.next()));
  CHECK_THROWS_AS(restored.set_state("no state"), Error);
  CHECK(restored.state() == batches.state());
}

TEST_CASE("random_batch and Batches draw the same windows from equal generators",
          "[text][batches]") {
  const Corpus corpus = counting(1000);
  Generator generator(7);
  Batches batches(entire(corpus), 4, 8, 7);
  for (int i = 0; i < 2; ++i)
    CHECK(starts(random_batch(entire(corpus), 4, 8, generator)) == starts(batches.next()));
  CHECK(batches.state() == generator.state());
}

TEST_CASE("a split with at most block_size tokens throws", "[text][batches]") {
  const Corpus corpus = counting(120), tiny = counting(1);
  CHECK_THROWS_WITH(Batches(corpus.validation(), 4, 16, 1),
                    "the validation split has 12 of the text's 120 tokens, too few for block "
                    "size 16; give a longer text or a smaller block size");
  CHECK_THROWS_WITH(Batches(corpus.training(), 4, 108, 1),
                    "the training split has 108 of the text's 120 tokens, too few for block "
                    "size 108; give a longer text or a smaller block size");
  CHECK_THROWS_WITH(Batches(tiny.training(), 4, 16, 1),
                    "the training split has 0 of the text's 1 token, too few for block size "
                    "16; give a longer text or a smaller block size");
  CHECK_NOTHROW(Batches(corpus.training(), 4, 107, 1));
  CHECK_THROWS_WITH(Batches(corpus.training(), 0, 8, 1),
                    "batches: batch size is 0; give at least 1");
  CHECK_THROWS_WITH(Batches(corpus.training(), 4, 0, 1),
                    "batches: block size is 0; give at least 1");
}
