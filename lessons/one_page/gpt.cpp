// gpt.cpp: a GPT on one page. It reads a play, character by character, and learns to write on.
//   c++ -O3 -std=c++17 lessons/one_page/gpt.cpp -o gpt && ./gpt     (in the project's folder)
// Each part names its lesson and the file of the library that does it properly. The library's
// nn::Gpt has the same losses from the same seed; that of step 500 is 1.968, in half a minute.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <valarray>
#include <vector>

constexpr int L = 2, H = 4;            // transformer blocks; attention heads in each
constexpr int C = 64, D = C / H;       // numbers that represent a token; in each head
constexpr int T = 64, B = 8;           // tokens in a window; windows in a training step
using Ids = std::vector<int>;          // tokens, as indices into the vocabulary
using Values = std::valarray<double>;  // an array with elementwise arithmetic: a + b, exp(a)
constexpr double pi = 3.14159265358979323846;

std::slice row(int i, int n) { return std::slice(i * n, n, 1); }  // row i of an array (..., n)

// The product of matrices a (..., n, k) and b (..., k, m): lesson 02; src/gemm/gemm.cpp
Values product(const Values& a, const Values& b, int n, int k, int m) {
  Values y(a.size() / k * m);
  for (int r = 0; r < int(a.size()) / k; ++r)  // the rows of all matrices
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < m; ++j) y[r * m + j] += a[r * k + i] * b[(r / n * k + i) * m + j];
  return y;
}

// x (..., m, n, d) as (..., n, m, d); (2, 3, 1) as (3, 2, 1): lesson 10; src/array/strided.cpp
Values swapped(const Values& x, std::size_t m, std::size_t n, std::size_t d = 1) {
  return x[std::gslice(0, {x.size() / (m * n * d), n, m, d}, {m * n * d, d, n * d, 1})];
}

// The sum of each row of x (..., n), in each element of the row: lesson 01; src/array/reduce.cpp
Values sums(const Values& x, int n) {
  Values y(x.size());
  for (int i = 0; i < int(x.size()) / n; ++i) y[row(i, n)] = Values(x[row(i, n)]).sum();
  return y;
}

// exp(x_j) / sum_k exp(x_k), if causal up to j = i in row i: lessons 03, 08; src/ops/softmax.cpp
Values softmax(const Values& x, int n, bool causal = false) {
  Values y(x.size());
  for (int i = 0; i < int(x.size()) / n; ++i) {
    const std::slice visible(i * n, causal ? i % n + 1 : n, 1);
    const Values v = x[visible], e = std::exp(v - v.max());  // the same quotient, no overflow
    y[visible] = e / e.sum();
  }
  return y;
}

// Autograd: lesson 05; include/heed/autograd/record.hpp, src/autograd/backward.cpp
// A node is the result y of an operation. backward(y) adds to the gradients of the inputs.
struct Node {
  int rows, cols;  // shape of each matrix in `value`
  Values value;
  std::function<void(const Node&)> backward = nullptr;
  Values grad = Values(value.size());  // the derivatives of the loss; zeros before backward
};
using Tensor = std::shared_ptr<Node>;
std::vector<Tensor> tape;  // all results, each after those from which it was computed
Tensor record(int rows, int cols, const Values& value, std::function<void(const Node&)> backward) {
  tape.emplace_back(new Node{rows, cols, value, std::move(backward)});
  return tape.back();
}

void backward(const Tensor& loss) {  // the chain rule, from the last result to the first
  loss->grad = 1;
  for (; !tape.empty(); tape.pop_back()) tape.back()->backward(*tape.back());
}

// Operations, each with its backward: dy is the gradient of y, the derivative of the loss.
// y = a + b, da = db = dy: lesson 05; src/ops/arithmetic.cpp
Tensor operator+(const Tensor& a, const Tensor& b) {
  return record(a->rows, a->cols, a->value + b->value, [=](const Node& y) {
    for (const Tensor& input : {a, b}) input->grad += y.grad;
  });
}

// y = x w^T, dx = dy w, dw = dy^T x: lesson 06; src/ops/matmul.cpp
Tensor linear(const Tensor& x, const Tensor& w) {
  const int n = x->rows, k = x->cols, m = w->rows;
  return record(n, m, product(x->value, swapped(w->value, m, k), n, k, m), [=](const Node& y) {
    x->grad += product(y.grad, w->value, n, m, k);
    w->grad += product(swapped(y.grad, n, m), x->value, m, n, k);
  });
}

// x (..., m, n, d) as (..., n, m, d), in matrices (rows, cols): lesson 10; src/ops/shape.cpp
Tensor swap_axes(const Tensor& x, int m, int n, int d, int rows, int cols) {
  return record(rows, cols, swapped(x->value, m, n, d),
                [=](const Node& y) { x->grad += swapped(y.grad, n, m, d); });
}

// y_i = table[ids_i]: lesson 01; src/ops/embedding.cpp
Tensor embedding(const Tensor& table, const Ids& ids) {
  const int N = ids.size();
  Values y(N * C);
  for (int i = 0; i < N; ++i) y[row(i, C)] = table->value[row(ids[i], C)];
  return record(N, C, y, [=](const Node& y) {
    for (int i = 0; i < N; ++i) table->grad[row(ids[i], C)] += y.grad[row(i, C)];
  });
}

// y = w n, n = s (x - mean(x)), s = 1 / sqrt(variance(x) + 1e-5) for each row x. dw = sum of dy n,
// dx = s (g - mean(g) - n mean(g n)), where g = w dy: lesson 12; src/ops/normalize.cpp
Tensor layer_norm(const Tensor& x, const Tensor& w) {
  const int N = x->rows;
  const Values ones(1.0, N), weight = product(ones, w->value, N, 1, C);  // w in each row
  const Values centred = x->value - sums(x->value, C) / double(C);
  const Values s = 1.0 / std::sqrt(sums(centred * centred, C) / double(C) + 1e-5), n = s * centred;
  return record(N, C, weight * n, [=](const Node& y) {
    const Values g = weight * y.grad;
    w->grad += product(ones, y.grad * n, 1, N, C);
    x->grad += s * (g - sums(g, C) / double(C) - n * sums(g * n, C) / double(C));
  });
}

// y = causal softmax(c x), dx = c y (dy - sum(dy y)): lessons 06, 08, 09; src/ops/attention.cpp
Tensor causal_softmax(double c, const Tensor& x) {
  const int n = x->cols;
  return record(n, n, softmax(c * x->value, n, true), [=](const Node& y) {
    x->grad += c * y.value * (y.grad - sums(y.grad * y.value, n));
  });
}

// y = x P(x), dx = dy (P(x) + x P'(x)), P the normal CDF: lesson 12; src/ops/activation.cpp
Tensor gelu(const Tensor& x) {
  const Values P = x->value.apply([](double u) { return (1 + std::erf(u / std::sqrt(2))) / 2; });
  const Values slope = P + x->value * std::exp(-0.5 * x->value * x->value) / std::sqrt(2 * pi);
  return record(x->rows, x->cols, x->value * P, [=](const Node& y) { x->grad += slope * y.grad; });
}

// y = -sum(q ln p) / N, p = softmax(x), q = 1 at the target of each of N rows, else 0.
// dx = dy (p - q) / N: lessons 05 and 07; src/ops/loss.cpp
Tensor cross_entropy(const Tensor& x, const Ids& targets) {
  const int N = x->rows, V = x->cols;
  const Values p = softmax(x->value, V);
  Values q(N * V);
  for (int i = 0; i < N; ++i) q[i * V + targets[i]] = 1;
  return record(1, 1, Values(-std::log(p[q > 0.0]).sum() / N, 1),
                [=](const Node& y) { x->grad += y.grad[0] / N * (p - q); });
}

// A weight with AdamW's running means: lesson 07; src/nn/parameters.cpp
struct Parameter : Node {
  Values m = Values(value.size()), v = m;  // means of the gradient and its square
};
std::vector<std::shared_ptr<Parameter>> parameters;
std::mt19937 random_number(1);  // PyTorch's generator, with the seed 1
Tensor parameter(int rows, int cols, const Values& value) {
  parameters.emplace_back(new Parameter{{rows, cols, value}});
  return parameters.back();
}
Tensor ones() { return parameter(1, C, Values(1.0, C)); }

// Normal samples, in PyTorch's order (any order would do): lesson 13; src/array/random.cpp
Tensor normal(int rows, int cols, float std = 0.02) {
  Values w(rows * cols);
  for (double& u : w) u = double(random_number() % (1 << 24)) / (1 << 24);  // uniform in [0, 1)
  for (int i = 0; i < rows * cols; i += i % 16 == 7 ? 9 : 1) {  // pairs of samples i and i + 8
    const float radius = std::sqrt(-2 * std::log(1 - float(w[i])));
    const float angle = float(2 * pi) * float(w[i + 8]);
    w[i] = radius * std::cos(angle) * std;
    w[i + 8] = radius * std::sin(angle) * std;
  }
  return parameter(rows, cols, w);
}

// Attention with H heads, then an MLP: lessons 04, 10, 12; src/nn/attention.cpp, src/nn/block.cpp
struct Block {
  Tensor norm1 = ones(), query = normal(C, C), key = normal(C, C), value = normal(C, C);
  Tensor out = normal(C, C, 0.02 / std::sqrt(2 * L));
  Tensor norm2 = ones(), up = normal(4 * C, C), down = normal(C, 4 * C, 0.02 / std::sqrt(2 * L));
  Tensor operator()(const Tensor& x) const {  // x (N, C): windows of T tokens
    const Tensor n = layer_norm(x, norm1);
    const Tensor q = swap_axes(linear(n, query), T, H, D, T, D);  // a matrix (T, D) for each head
    const Tensor k = swap_axes(linear(n, key), T, H, D, T, D);
    const Tensor v = swap_axes(linear(n, value), T, C, 1, D, T);  // (C, T): H matrices (D, T)
    const Tensor heads = linear(causal_softmax(1 / std::sqrt(D), linear(q, k)), v);
    const Tensor y = x + linear(swap_axes(heads, H, T, D, x->rows, C), out);
    return y + linear(gelu(linear(layer_norm(y, norm2), up)), down);
  }
};

// The model, whose output layer is the token embedding: lesson 13; src/nn/gpt.cpp
struct Gpt {
  Tensor token, position, norm;
  std::vector<Block> blocks;
  Tensor operator()(const Ids& ids) const {  // the logits of the token after each token
    Ids positions;
    for (std::size_t i = 0; i < ids.size(); ++i) positions.push_back(i % T);
    Tensor x = embedding(token, ids) + embedding(position, positions);  // lesson 11
    for (const Block& block : blocks) x = block(x);
    return linear(layer_norm(x, norm), token);
  }
};

// AdamW: lesson 07; src/optim/adamw.cpp
void update_parameters(int step, double learning_rate) {
  for (const auto& p : parameters) {
    p->m = 0.9 * p->m + 0.1 * p->grad;
    p->v = 0.999 * p->v + 0.001 * p->grad * p->grad;
    const Values m = p->m / (1 - std::pow(0.9, step)), v = p->v / (1 - std::pow(0.999, step));
    p->value -= learning_rate * (m / (std::sqrt(v) + 1e-8) + 0.01 * p->value);
    p->grad = 0;
  }
}

// Training, then sampling: lessons 05 and 15; src/train/trainer.cpp, src/train/generate.cpp
int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::stoi(argv[1]) : 500;
  std::string text;
  std::getline(std::ifstream("data/harbour.txt"), text, '\0');
  if (text.empty()) return std::puts("cannot read data/harbour.txt in this folder"), 1;
  const std::set<char> characters(text.begin(), text.end());
  const std::string vocabulary(characters.begin(), characters.end());
  Ids ids;
  for (char c : text) ids.push_back(vocabulary.find(c));
  const int V = vocabulary.size(), training = ids.size() * 9 / 10;

  random_number.discard((V + T) * C + L * 12 * C * C);  // PyTorch's constructors draw first
  const Gpt model{normal(V, C), normal(T, C), ones(), std::vector<Block>(L)};
  random_number.seed(1);
  for (int step = 1; step <= steps; ++step) {
    Ids inputs, targets;
    for (int b = 0; b < B; ++b) {
      const auto start = ids.begin() + random_number() % (training - T);
      inputs.insert(inputs.end(), start, start + T);
      targets.insert(targets.end(), start + 1, start + 1 + T);
    }
    const Tensor loss = cross_entropy(model(inputs), targets);
    backward(loss);
    update_parameters(step, 0.004 * (steps + 1 - step) / steps);
    if (step == 1 || step % 10 == 0) std::printf("step %3d   loss %.4f\n", step, loss->value[0]);
  }
  for (int n = 0; n < 400; ++n) {  // the next character of the play
    const Tensor logits = model(Ids(ids.end() - T, ids.end()));
    const Values p = softmax(logits->value[row(T - 1, V)], V);
    tape.clear();  // no backward pass
    ids.push_back(std::discrete_distribution<int>(std::begin(p), std::end(p))(random_number));
    std::putchar(vocabulary[ids.back()]);
  }
}
