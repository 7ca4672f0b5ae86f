// Tests exercise 25 rope_cache: compares each output with the engine's attention over the window of
// the token. A wrong output is compared with the outputs of known faults, so that the message can
// name the fault.

#include <cmath>

#include "exercise.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/rotary.hpp"
#include "rope_cache.hpp"

using namespace heed;

Array next_output(const Array& q, const Array& k, const Array& v, Cache& cache);

namespace {

std::vector<std::size_t> positions;  // the positions in calls of `rotated`

Array rotate(const Array& x, std::size_t position) {
  const Tensor one_row(Array(xt::view(x, xt::newaxis(), xt::all())));  // (1, D)
  return xt::view(rotary_embedding(one_row, 1, position).value(), 0);
}

}  // namespace

namespace heed {

Array rotated(const Array& x, std::size_t position) {
  positions.push_back(position);
  if (x.dimension() != 1 || x.size() == 0 || x.size() % 2 != 0)
    throw_error("rotated: x must be (D) with an even D, got ", str(shape_of(x)));
  return rotate(x, position);
}

Array attend(const Array& q, const std::vector<Array>& keys, const std::vector<Array>& values) {
  if (keys.size() != values.size() || keys.empty())
    throw_error("attend: got ", keys.size(), " keys and ", values.size(), " values");
  const std::size_t D = q.size();
  Array K = zeros({keys.size(), D}), V = K;
  for (std::size_t s = 0; s < keys.size(); ++s) {
    if (keys[s].size() != D || values[s].size() != D)
      throw_error("attend: key ", s, " has size ", keys[s].size(), ", its value ", values[s].size(),
                  ", the query ", D);
    xt::view(K, s) = keys[s], xt::view(V, s) = values[s];
  }
  Array row = q;
  row.reshape({1, D});
  const Array all = scaled_dot_product_attention(Tensor(row), Tensor(K), Tensor(V)).value();
  return xt::view(all, 0);
}

}  // namespace heed

namespace {

struct Sequence {
  Array q, k, v;  // (N, D) each
};

Sequence random_sequence(std::size_t N, std::size_t D, Generator& g) {
  return {g.randn({N, D}) * Real(2), g.randn({N, D}), g.randn({N, D})};
}

Array row_at(const Array& x, std::size_t t) { return xt::view(x, t); }

// The correct outputs (N, D): causal attention with rotary embedding and a sliding window.
Array expected_outputs(const Sequence& s, std::size_t capacity) {
  AttentionOptions options;
  options.causal = true, options.window = capacity;
  return scaled_dot_product_attention(rotary_embedding(Tensor(s.q)), rotary_embedding(Tensor(s.k)),
                                      Tensor(s.v), options)
      .value();
}

// A mistake that readers make.
enum class Fault {
  handed_out,  // no rotation, and the cache keeps all tokens
  no_rotation,
  keys_only,
  queries_only,
  position_from_size,
  query_one_ahead,
  rotates_again,
  rotates_values,
  keeps_all,
  one_too_many,
  removes_newest,
  one_too_few
};

// The outputs (N, D) with this mistake.
Array outputs_with(Fault fault, const Sequence& s, std::size_t capacity) {
  Array outputs = zeros(shape_of(s.q));
  std::vector<Array> keys, values;
  for (std::size_t t = 0; t < s.q.shape(0); ++t) {
    const std::size_t at = fault == Fault::position_from_size ? keys.size() : t;
    const bool none = fault == Fault::no_rotation || fault == Fault::handed_out;
    const bool no_keys = none || fault == Fault::queries_only,
               no_queries = none || fault == Fault::keys_only,
               keeps_all = fault == Fault::keeps_all || fault == Fault::handed_out;
    const std::size_t query_at = fault == Fault::query_one_ahead ? at + 1 : at;
    if (fault == Fault::rotates_again)
      for (Array& key : keys) key = rotate(key, t);
    keys.push_back(no_keys ? row_at(s.k, t) : rotate(row_at(s.k, t), at));
    values.push_back(fault == Fault::rotates_values ? rotate(row_at(s.v, t), t) : row_at(s.v, t));
    std::size_t limit = capacity;
    if (fault == Fault::one_too_few && capacity > 1) --limit;
    if (fault == Fault::one_too_many) ++limit;
    if (!keeps_all && keys.size() > limit) {
      const std::ptrdiff_t removed = fault == Fault::removes_newest ? std::ptrdiff_t(limit) - 1 : 0;
      keys.erase(keys.begin() + removed), values.erase(values.begin() + removed);
    }
    const Array q = no_queries ? row_at(s.q, t) : rotate(row_at(s.q, t), query_at);
    xt::view(outputs, t) = attend(q, keys, values);
  }
  return outputs;
}

bool close(const Array& a, const Array& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a.data()[i] - b.data()[i]) < 1e-4)) return false;
  return true;
}

// What to change if the outputs are those of a known mistake; "" if they are not.
std::string advice(const Array& got, const Sequence& s, std::size_t capacity) {
  const std::pair<Fault, const char*> known[] = {
      {Fault::no_rotation,
       "the outputs are those without positions: queries and keys must be rotated, each by the "
       "position of its own token, and cache.position must grow"},
      {Fault::handed_out,
       "the outputs are those without positions, of a query that attends to all tokens: rotate "
       "queries and keys, and remove the oldest token before `attend` if the cache has more than "
       "cache.capacity tokens"},
      {Fault::keys_only, "the outputs are those of rotated keys and queries that are not rotated"},
      {Fault::queries_only,
       "the outputs are those of rotated queries and keys that are not rotated"},
      {Fault::position_from_size,
       "the outputs are those of positions that stop growing when the cache is full: the number of "
       "cached keys is no position any more after the first token was removed"},
      {Fault::query_one_ahead,
       "the outputs are those of queries one position ahead: the query and the key of a token have "
       "the same position"},
      {Fault::rotates_again,
       "the outputs are those of cached keys that are rotated again for each new token: a key "
       "keeps "
       "the rotation of its own position"},
      {Fault::rotates_values, "the outputs are those of rotated values: values are not rotated"},
      {Fault::keeps_all,
       "the outputs are those of a query that attends to all tokens: remove the oldest token "
       "before "
       "`attend` if the cache has more than cache.capacity tokens"},
      {Fault::one_too_many,
       "the outputs are those of one token too many: remove the oldest token before `attend`"},
      {Fault::removes_newest,
       "the outputs are those of a full cache from which a new token is removed: the first "
       "elements "
       "of cache.keys and cache.values are the oldest"},
      {Fault::one_too_few,
       "the outputs are those of one token too few: a query attends to cache.capacity tokens, "
       "itself included"}};
  for (const auto& [fault, text] : known)
    if (close(got, outputs_with(fault, s, capacity))) return text;
  return "";
}

// "the output of token 3: element 0: expected 0.1000, got 0.2000" for the first wrong output.
std::string first_difference(const Array& got, const Array& expected) {
  for (std::size_t t = 0; t < got.shape(0); ++t) {
    std::size_t d = 0;  // the element with the largest difference, or NaN
    for (std::size_t i = 1; i < got.shape(1) && !std::isnan(got(t, d)); ++i)
      if (!(std::abs(got(t, i) - expected(t, i)) <= std::abs(got(t, d) - expected(t, d)))) d = i;
    if (!(std::abs(got(t, d) - expected(t, d)) < 1e-4))
      return "the output of token " + std::to_string(t) + ": element " + std::to_string(d) +
             ": expected " + decimal(expected(t, d), 4) + ", got " + decimal(got(t, d), 4);
  }
  return "";
}

// The reader's outputs for a sequence.
struct Run {
  explicit Run(const Sequence& s, std::size_t capacity)
      : sequence(s), cache{capacity}, outputs(zeros(shape_of(s.q))) {}

  // Appends token t. Returns false if the output has the wrong shape.
  bool append(std::size_t t) {
    const std::size_t D = sequence.q.shape(1);
    const Array output =
        next_output(row_at(sequence.q, t), row_at(sequence.k, t), row_at(sequence.v, t), cache);
    most = std::max(most, cache.keys.size());
    if (output.dimension() != 1 || output.size() != D) {
      fault = "the output of token " + std::to_string(t) + ": expected shape " + str(Shape{D}) +
              ", got shape " + str(shape_of(output));
      return false;
    }
    xt::view(outputs, t) = output;
    return true;
  }
  // `otherwise` is the advice if the mistake is not a known one.
  void judge(const std::string& what, const std::string& otherwise = "") {
    const Array expected = expected_outputs(sequence, cache.capacity);
    if (fault.empty()) fault = first_difference(outputs, expected);
    if (!fault.empty()) {
      const std::string known = advice(outputs, sequence, cache.capacity);
      fault += "\n" + (known.empty() ? otherwise : known);
    }
    expect(what, fault.empty(), fault);
  }

  Sequence sequence;
  Cache cache;
  Array outputs;
  std::size_t most = 0;  // the largest number of keys in the cache
  std::string fault = "";
};

Run judge(const std::string& what, const Sequence& s, std::size_t capacity) {
  Run run(s, capacity);
  for (std::size_t t = 0; t < s.q.shape(0) && run.append(t); ++t) {
  }
  run.judge(what);
  return run;
}

// Scores depend on differences of positions only, so outputs do not show where positions begin. A
// model's cache must begin at 0, as its training did: others may append to it.
void judge_positions(const Run& run) {
  std::string fault;
  for (std::size_t i = 0; i < positions.size() && fault.empty(); ++i)
    if (positions[i] != i / 2)
      fault = "call " + std::to_string(i + 1) + " of `rotated` has position " +
              std::to_string(positions[i]) + ", " + std::to_string(i / 2) + " expected";
  expect("positions count from 0: both calls for token t have position t", fault.empty(), fault);
  expect("after 8 tokens cache.position is 8", run.cache.position == 8,
         "cache.position is " + std::to_string(run.cache.position));
}

void judge_two_caches(Generator& g) {
  Run first(random_sequence(6, 4, g), 3), second(random_sequence(8, 4, g), 5);
  bool right_shape = true;
  for (std::size_t t = 0; t < 8 && right_shape; ++t) {
    if (t < 6) right_shape = first.append(t);
    right_shape = right_shape && second.append(t);
  }
  const std::string own = "each cache has a position of its own, cache.position";
  first.judge("two caches in turn: the first", own);
  second.judge("two caches in turn: the second", own);
}

}  // namespace

int main() {
  Generator g(24);
  judge("one token", random_sequence(1, 4, g), 10);
  judge("three tokens, room for 10", random_sequence(3, 4, g), 10);
  positions.clear();
  const Run run = judge("8 tokens, room for 10", random_sequence(8, 4, g), 10);
  expect("`rotated` is called twice per token", positions.size() == 16,
         std::to_string(positions.size()) +
             " calls for 8 tokens, 16 expected: one query and one key each");
  judge_positions(run);
  const Run full =
      judge("12 tokens, room for 4: the oldest are removed", random_sequence(12, 6, g), 4);
  expect("the cache has at most 4 keys and as many values",
         full.most <= 4 && full.cache.values.size() == full.cache.keys.size(),
         std::to_string(full.most) + " keys at most, and at the end " +
             std::to_string(full.cache.keys.size()) + " keys and " +
             std::to_string(full.cache.values.size()) + " values");
  judge("room for one token: the output is its value", random_sequence(5, 4, g), 1);
  judge("50 tokens, room for 7", random_sequence(50, 8, g), 7);
  judge_two_caches(g);
  return verdict();
}
