// 09 predict: ten predictions about attention, made before you compute anything.
//
// First write a number for each question, with pen and paper, and without running any code. Then
// run the exercise. It computes every answer with heed, and for each wrong prediction it prints
// what it measured, and which lesson explains it. It computes nothing until all ten predictions are
// there.
//
// q is a query, k a key, d their size. p_1, p_2, ... are the attention weights of one query: the
// softmax of its scores. A prediction of a measured variance may be wrong by 10 %, of a measured
// standard deviation by 5 %, all others by 0.001. The questions get harder.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() {
  // Your part begins here.
  // 1. q and k have d = 256 independent random numbers each, with mean 0 and variance 1.
  //    What is the variance of the score q.k?
  const double variance = 256;
  // 2. What is the standard deviation of the score q.k / sqrt(d)?
  const double deviation = 1;
  // 3. A query has the scores -7, -7, -7, -7 with four keys. What is p_1?
  const double equal_scores = 0.25;
  // 4. A query has the scores 1, 2, 3. You add 5 to each. By how much does p_3 grow?
  const double after_adding_5 = 0;
  // 5. A query has many keys. Its first two scores are s_1 = s_2 + ln 3. What is p_1 / p_2?
  const double ratio = 3;
  // 6. The query of question 5 is multiplied by 2, the keys stay. What is p_1 / p_2 now?
  const double doubled_ratio = 9;
  // 7. Five positions with a causal mask. For position 0, the score with its own key is -50, the
  //    scores with the four later keys are 50. What is the attention weight of its own key?
  const double first_weight = 1;
  // 8. A query has two keys, and p_1 = 0.95. What is the derivative of p_1 with
  //    respect to its score s_1?
  const double derivative = 0.0475;
  // 9. Three rows of scores: 1 is (0, 0, 0), 2 is (0, 0, 20), 3 is (0, 20, 20). For which row is
  //    the norm of the Jacobian of softmax the largest? Write 1, 2 or 3.
  const double largest_jacobian = 3;
  // 10. A query has the scores ln 3, 0 with two keys. A copy of key 1 is added as a third key.
  //     What is p_1 + p_3, the weight of both copies together?
  const double two_copies = 6.0 / 7;
  // Your part ends here.
  return {variance,      deviation,    equal_scores, after_adding_5,   ratio,
          doubled_ratio, first_weight, derivative,   largest_jacobian, two_copies};
}
