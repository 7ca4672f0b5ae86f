// shape_test.cpp: reshape, expand, transpose, slice, concat, split and their gradients.

#include "heed/ops/shape.hpp"

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

const Array in_order = array_of({2, 3}, {1, 2, 3, 4, 5, 6});
Tensor six() { return Tensor(in_order); }

// The gradient of x if the gradient of f(x) is 1, 2, 3, ...
Array counting_gradient(const Function& f, const Array& x) {
  Array upstream = uninitialized(f({Tensor(x)}).shape());
  for (std::size_t i = 0; i < upstream.size(); ++i) upstream.data()[i] = static_cast<Real>(i + 1);
  return gradients(f, {x}, upstream)[0];
}

}  // namespace

TEST_CASE("reshape keeps the row-major order, and infers one size of -1", "[ops][shape]") {
  CHECK((reshape(six(), {3, 2}).value() == array_of({3, 2}, {1, 2, 3, 4, 5, 6})));
  CHECK(str(reshape(six(), {-1}).shape()) == "(6)");
  CHECK(str(reshape(six(), {1, -1, 2}).shape()) == "(1, 3, 2)");
  CHECK(str(reshape(Tensor(scalar(1)), {1, 1}).shape()) == "(1, 1)");
  CHECK(str(reshape(Tensor(ones({1})), {}).shape()) == "()");
  CHECK(str(reshape(Tensor(zeros({0, 3})), {3, -1}).shape()) == "(3, 0)");
  CHECK((counting_gradient([](X x) { return reshape(x[0], {3, 2}); }, in_order) == in_order));
}

TEST_CASE("slices and the like copy: a change of the copy leaves the original unchanged",
          "[ops][shape]") {
  const std::vector<Function> operations = {[](X x) { return slice(x[0], 0, 0, 1); },
                                            [](X x) { return slice(x[0], 0, 0, 2); },  // all of x
                                            [](X x) { return transpose(x[0], 0, 1); },
                                            [](X x) { return reshape(x[0], {3, 2}); },
                                            [](X x) { return reshape(x[0], {2, 3}); },
                                            [](X x) { return unsqueeze(x[0], 0); },
                                            [](X x) { return expand(x[0], {2, 3}); },
                                            [](X x) { return split(x[0], {1, 2}, 1)[0]; },
                                            [](X x) { return concat({x[0]}, 0); }};
  for (const Function& operation : operations) {
    const Tensor x = six(), copy = operation({x});
    copy.mutable_value().fill(9);
    CHECK((x.value() == in_order));
    const Tensor y = six(), second = operation({y});
    y.mutable_value().fill(9);
    CHECK((second.value() == operation({six()}).value()));
  }
}

TEST_CASE("reshape throws an error with both shapes and the reason", "[ops][shape]") {
  const auto error_of = [](const std::vector<int>& shape) {
    return message_of([&] { reshape(six(), shape); });
  };
  CHECK(error_of({4}) == "reshape: x (2, 3) cannot become (4): the number of elements differs");
  CHECK(error_of({}) == "reshape: x (2, 3) cannot become (): the number of elements differs");
  CHECK(error_of({-2, 3}) ==
        "reshape: x (2, 3) cannot become (-2, 3): each size must be 0 or more; one size may be -1");
  CHECK(error_of({-1, -1}) == "reshape: x (2, 3) cannot become (-1, -1): only one size may be -1");
  CHECK(error_of({4, -1}) ==
        "reshape: x (2, 3) cannot become (4, -1): the number of elements is not divisible by the "
        "product of the other sizes");
  CHECK(error_of({0, -1}) ==
        "reshape: x (2, 3) cannot become (0, -1): the number of elements is not divisible by the "
        "product of the other sizes");
}

TEST_CASE("squeeze removes only axes of size 1, unsqueeze inserts one anywhere", "[ops][shape]") {
  const Tensor x(zeros({2, 1, 3}));
  CHECK(str(squeeze(x, 1).shape()) == "(2, 3)");
  CHECK(str(squeeze(x, -2).shape()) == "(2, 3)");
  CHECK(str(squeeze(x, 0).shape()) == "(2, 1, 3)");
  CHECK(str(squeeze(Tensor(scalar(1)), 0).shape()) == "()");
  CHECK(str(unsqueeze(six(), 0).shape()) == "(1, 2, 3)");
  CHECK(str(unsqueeze(six(), 2).shape()) == "(2, 3, 1)");
  CHECK(str(unsqueeze(six(), -1).shape()) == "(2, 3, 1)");
  CHECK(str(unsqueeze(six(), -3).shape()) == "(1, 2, 3)");
  CHECK(str(unsqueeze(Tensor(scalar(1)), 0).shape()) == "(1)");
  CHECK((counting_gradient([](X in) { return unsqueeze(in[0], 1); }, in_order) == in_order));
  CHECK(message_of([&] { squeeze(x, 3); }) ==
        "squeeze: axis 3 is out of range for x (2, 1, 3); use -3 to 2");
  CHECK(message_of([&] { unsqueeze(six(), 3); }) ==
        "unsqueeze: axis 3 is out of range for the result (2, 3, 1); use -3 to 2");
}

TEST_CASE("expand repeats x, and its gradient is summed over the repetitions", "[ops][shape]") {
  const Array column = array_of({2, 1}, {1, 2});
  CHECK((expand(Tensor(column), {2, 3}).value() == array_of({2, 3}, {1, 1, 1, 2, 2, 2})));
  CHECK((expand(Tensor(scalar(7)), {2}).value() == array_of({2}, {7, 7})));
  CHECK(str(expand(Tensor(column), {4, 2, 0}).shape()) == "(4, 2, 0)");
  CHECK((expand(Tensor(column), {-1, 3}).value() == array_of({2, 3}, {1, 1, 1, 2, 2, 2})));
  CHECK(str(expand(Tensor(column), {5, -1, -1}).shape()) == "(5, 2, 1)");
  CHECK(message_of([&] {
          expand(six(), {-1, 2, 3});
        }) ==
        "expand: size -1 for x (2, 3) must be 0 or more; -1 keeps the size of an axis that x has");
  CHECK((counting_gradient(
             [](X x) {
               return expand(x[0], {2, 2, 3});
             },
             column) == array_of({2, 1}, {30, 48})));  // 1+2+3+7+8+9, 4+5+6+10+11+12
  CHECK((counting_gradient([](X x) { return expand(x[0], {2, 0}); }, column) == zeros({2, 1})));
  CHECK(message_of([] {
          expand(six(), {4, 3});
        }) == "expand: x (2, 3) does not broadcast to (4, 3): only axes of size 1 can be expanded");
  CHECK(message_of([] { expand(six(), {3}); }) ==
        "expand: x (2, 3) does not broadcast to (3): only axes of size 1 can be expanded");
}

TEST_CASE("transpose swaps two axes", "[ops][shape]") {
  CHECK((transpose(six(), 0, 1).value() == array_of({3, 2}, {1, 4, 2, 5, 3, 6})));
  CHECK((transpose(six(), -1, -1).value() == in_order));
  CHECK(str(transpose(Tensor(zeros({2, 3, 4, 5})), 1, -1).shape()) == "(2, 5, 4, 3)");
  CHECK((transpose(Tensor(scalar(3)), 0, -1).value() == scalar(3)));
  CHECK((counting_gradient([](X x) { return transpose(x[0], 0, 1); }, in_order) ==
         array_of({2, 3}, {1, 3, 5, 2, 4, 6})));
  CHECK(message_of([] { transpose(six(), 0, 2); }) ==
        "transpose: axis 2 is out of range for x (2, 3); use -2 to 1");
}

TEST_CASE("axis k of permute is axis order[k] of x", "[ops][shape]") {
  const Array x = random_array({2, 3, 4}, 1);
  const Array y = permute(Tensor(x), {2, 0, -2}).value();
  REQUIRE(str(y.shape()) == "(4, 2, 3)");
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k) CHECK(y(k, i, j) == x(i, j, k));
  CHECK((gradients([](X in) { return permute(in[0], {2, 0, 1}); }, {x}, y)[0] == x));
  CHECK((permute(Tensor(scalar(3)), {}).value() == scalar(3)));
}

TEST_CASE("permute throws unless the order names each axis once", "[ops][shape]") {
  CHECK(message_of([] { permute(six(), {0}); }) ==
        "permute: x (2, 3) has 2 axes, the order names 1");
  CHECK(message_of([] {
          permute(six(), {1, 1});
        }) == "permute: axis 1 is given twice for x (2, 3)");
  CHECK(message_of([] {
          permute(six(), {0, 2});
        }) == "permute: axis 2 is out of range for x (2, 3); use -2 to 1");
}

TEST_CASE("slice takes begin, end and step as in Python", "[ops][shape]") {
  const Tensor x(array_of({6}, {0, 1, 2, 3, 4, 5}));
  CHECK((slice(x, 0, 1, 4).value() == array_of({3}, {1, 2, 3})));
  CHECK((slice(x, 0, -2).value() == array_of({2}, {4, 5})));
  CHECK((slice(x, 0, 0, -4).value() == array_of({2}, {0, 1})));
  CHECK((slice(x, 0, 1, to_the_end, 2).value() == array_of({3}, {1, 3, 5})));
  CHECK((slice(x, 0, 0, 5, 4).value() == array_of({2}, {0, 4})));
  CHECK((slice(x, 0, -100, 100, 100).value() == array_of({1}, {0})));
  CHECK(slice(x, 0, 4, 2).value().size() == 0);
  CHECK(slice(x, 0, 6).value().size() == 0);
  CHECK((slice(six(), 1, 1).value() == array_of({2, 2}, {2, 3, 5, 6})));
  CHECK((slice(six(), 0, 1).value() == array_of({1, 3}, {4, 5, 6})));
}

TEST_CASE("the largest possible step takes only the first element", "[ops][shape]") {
  CHECK((slice(six(), 0, 0, to_the_end, to_the_end).value() == array_of({1, 3}, {1, 2, 3})));
}

TEST_CASE("the gradient of x is 0 outside the slice", "[ops][shape]") {
  CHECK((counting_gradient([](X x) { return slice(x[0], 1, 0, to_the_end, 2); }, in_order) ==
         array_of({2, 3}, {1, 0, 2, 3, 0, 4})));
  CHECK((counting_gradient([](X x) { return slice(x[0], 0, 2); }, in_order) == zeros({2, 3})));
}

TEST_CASE("slice throws for a step below 1 and for rank 0", "[ops][shape]") {
  CHECK(message_of([] { slice(six(), 0, 0, 2, 0); }) ==
        "slice: step 0 of x (2, 3) must be at least 1");
  CHECK(message_of([] { slice(Tensor(scalar(1)), 0, 0); }) == "slice: x () has no axes to slice");
  CHECK(message_of([] { slice(six(), 2, 0); }) ==
        "slice: axis 2 is out of range for x (2, 3); use -2 to 1");
}

TEST_CASE("select takes one index of an axis and removes the axis", "[ops][shape]") {
  CHECK((select(six(), 0, 1).value() == array_of({3}, {4, 5, 6})));
  CHECK((select(six(), 1, -1).value() == array_of({2}, {3, 6})));
  CHECK((select(select(six(), 0, 0), 0, 1).value() == scalar(2)));
  CHECK((counting_gradient([](X x) { return select(x[0], 1, 1); }, in_order) ==
         array_of({2, 3}, {0, 1, 0, 0, 2, 0})));
  CHECK(message_of([] { select(six(), 1, 3); }) ==
        "select: index 3 is out of range for axis 1 of x (2, 3)");
  CHECK(message_of([] { select(six(), 1, -4); }) ==
        "select: index -4 is out of range for axis 1 of x (2, 3)");
  CHECK(message_of([] { select(Tensor(scalar(1)), 0, 0); }) ==
        "select: x () has no axes to select from");
  CHECK(message_of([] { select(six(), -3, 0); }) ==
        "select: axis -3 is out of range for x (2, 3); use -2 to 1");
}

TEST_CASE("concat joins parts along an axis and splits the gradient", "[ops][shape]") {
  const Array a = array_of({2, 1}, {1, 2}), b = array_of({2, 2}, {3, 4, 5, 6});
  CHECK((concat({Tensor(a), Tensor(b)}, 1).value() == array_of({2, 3}, {1, 3, 4, 2, 5, 6})));
  CHECK((concat({Tensor(b), Tensor(b)}, -2).value() == array_of({4, 2}, {3, 4, 5, 6, 3, 4, 5, 6})));
  CHECK((concat({Tensor(a), Tensor(zeros({2, 0}))}, 1).value() == a));
  const auto g = gradients(
      [](X x) {
        return concat({x[0], x[1], x[0]}, 1);
      },
      {a, b}, array_of({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK((g[0] == array_of({2, 1}, {5, 13})));  // used twice: 1 + 4, 5 + 8
  CHECK((g[1] == array_of({2, 2}, {2, 3, 6, 7})));
}

TEST_CASE("concat throws for shapes that do not fit", "[ops][shape]") {
  CHECK(message_of([] { concat({}, 0); }) == "concat: needs at least one tensor");
  CHECK(message_of([] { concat({Tensor(scalar(1))}, 0); }) ==
        "concat: a tensor of rank 0 has no axis; use stack");
  CHECK(message_of([] {
          concat({six(), Tensor(zeros({3, 2}))}, 0);
        }) == "concat: sizes other than axis 0's must be equal: part 0 (2, 3), part 1 (3, 2)");
  CHECK(message_of([] {
          concat({six(), Tensor(zeros({3}))}, -1);
        }) == "concat: sizes other than axis -1's must be equal: part 0 (2, 3), part 1 (3)");
  CHECK(message_of([] { concat({six()}, 2); }) ==
        "concat: axis 2 is out of range for part 0 (2, 3); use -2 to 1");
}

TEST_CASE("stack joins equal shapes along a new axis", "[ops][shape]") {
  const Array a = array_of({2}, {1, 2}), b = array_of({2}, {3, 4});
  CHECK((stack({Tensor(a), Tensor(b)}, 0).value() == array_of({2, 2}, {1, 2, 3, 4})));
  CHECK((stack({Tensor(a), Tensor(b)}, -1).value() == array_of({2, 2}, {1, 3, 2, 4})));
  CHECK((stack({Tensor(scalar(1)), Tensor(scalar(2))}, 0).value() == array_of({2}, {1, 2})));
  const auto g = gradients(
      [](X x) {
        return stack({x[0], x[1]}, 1);
      },
      {a, b}, array_of({2, 2}, {1, 2, 3, 4}));
  CHECK((g[0] == array_of({2}, {1, 3})));
  CHECK((g[1] == array_of({2}, {2, 4})));
}

TEST_CASE("stack throws for unequal shapes", "[ops][shape]") {
  CHECK(message_of([] { stack({}, 0); }) == "stack: needs at least one tensor");
  CHECK(message_of([] {
          stack({six(), Tensor(zeros({3}))}, 0);
        }) == "stack: shapes must be equal: part 0 (2, 3), part 1 (3)");
  CHECK(message_of([] { stack({six()}, 3); }) ==
        "stack: axis 3 is out of range for the result (2, 3, 1); use -3 to 2");
}

TEST_CASE("split is the inverse of concat", "[ops][shape]") {
  const auto parts = split(six(), {1, 0, 2}, 1);
  REQUIRE(parts.size() == 3);
  CHECK((parts[0].value() == array_of({2, 1}, {1, 4})));
  CHECK(str(parts[1].shape()) == "(2, 0)");
  CHECK((parts[2].value() == array_of({2, 2}, {2, 3, 5, 6})));
  CHECK((concat(parts, 1).value() == in_order));
  CHECK((counting_gradient(
             [](X x) {
               return split(x[0], {1, 2}, 1)[1];
             },
             in_order) == array_of({2, 3}, {0, 1, 2, 0, 3, 4})));
}

TEST_CASE("split throws for sizes that do not add up", "[ops][shape]") {
  CHECK(message_of([] {
          split(six(), {1, 1}, 1);
        }) == "split: the pieces add up to 2, axis 1 of x (2, 3) has size 3");
  CHECK(message_of([] {
          split(six(), {4, -1}, 1);
        }) == "split: size -1 of a piece of x (2, 3) is negative");
  CHECK(message_of([] { split(Tensor(scalar(1)), {1}, 0); }) == "split: x () has no axes to split");
  CHECK(message_of([] { split(six(), {3}, 2); }) ==
        "split: axis 2 is out of range for x (2, 3); use -2 to 1");
}

TEST_CASE("sizes whose sum or product overflows are rejected", "[ops][shape]") {
  const Tensor x(zeros({4}));
  const std::int64_t quarter = std::int64_t{1} << 62, root = std::int64_t{1} << 32;
  CHECK(message_of([&] {
          split(x, {quarter, quarter, quarter, quarter, 4}, 0);
        }) == "split: the pieces add up to 2^63 or more, axis 0 of x (4) has size 4");
  CHECK(message_of([&] {
          reshape(x, {root, root, -1});
        }) ==
        "shape (4294967296, 4294967296, 1) is too large: it has 2^59 elements or more; give "
        "smaller sizes");
  CHECK(message_of([&] {
          reshape(Tensor(zeros({0})), {root, root});
        }) ==
        "shape (4294967296, 4294967296) is too large: it has 2^59 elements or more; give smaller "
        "sizes");
  CHECK(message_of([&] {
          expand(Tensor(zeros({1, 1})), {root, root});
        }) ==
        "shape (4294967296, 4294967296) is too large: it has 2^59 elements or more; give smaller "
        "sizes");
}
