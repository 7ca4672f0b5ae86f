// embedding_test.cpp: rows by index, and the gradient of rows that are used several times.

#include "heed/ops/embedding.hpp"

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

const Array table = array_of({3, 2}, {1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("embedding returns the row of each index", "[ops][embedding]") {
  const Tensor y = embedding(indices_of({2, 2}, {2, 0, 1, 2}), Tensor(table));
  CHECK((y.value() == array_of({2, 2, 2}, {5, 6, 1, 2, 3, 4, 5, 6})));
  CHECK((embedding(indices_of({}, {1}), Tensor(table)).value() == array_of({2}, {3, 4})));
  CHECK(str(embedding(indices_of({0}, {}), Tensor(table)).shape()) == "(0, 2)");
}

TEST_CASE("the gradient of a row is summed over its uses", "[ops][embedding]") {
  const Indices indices = indices_of({3}, {2, 0, 2});
  const Array up = array_of({3, 2}, {1, 2, 3, 4, 10, 20});
  CHECK((gradients([&](X x) { return embedding(indices, x[0]); }, {table}, up)[0] ==
         array_of({3, 2}, {3, 4, 0, 0, 11, 22})));
  CHECK((gradients([&](X x) { return embedding(indices, x[0], 2); }, {table}, up)[0] ==
         array_of({3, 2}, {3, 4, 0, 0, 0, 0})));
}

TEST_CASE("an index out of range throws an error with its value", "[ops][embedding]") {
  const Tensor weight(table);
  CHECK(message_of([&] {
          embedding(indices_of({2}, {0, 3}), weight);
        }) == "embedding: index 3 among (2) indices is out of range for weight (3, 2)");
  CHECK(message_of([&] {
          embedding(indices_of({1, 1}, {-1}), weight);
        }) == "embedding: index -1 among (1, 1) indices is out of range for weight (3, 2)");
  CHECK(message_of([&] { embedding(indices_of({1}, {0}), Tensor(zeros({3}))); }) ==
        "embedding: the weight must be (V, C): weight (3)");
}

TEST_CASE("embedding rejects a padding index that is no row", "[ops][embedding]") {
  const Tensor weight(ones({3, 2}));
  for (const std::int64_t padding : {-1, 3})
    CHECK(message_of([&] { embedding(indices_of({1}, {0}), weight, padding); }) ==
          "embedding: padding_idx " + std::to_string(padding) +
              " is out of range for weight (3, 2)");
}
