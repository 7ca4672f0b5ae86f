// schedule_test.cpp: learning rate schedules against their formulas and PyTorch.

#include "heed/optim/schedule.hpp"

#include <cmath>

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed::test;
using heed::optim::CosineAnnealingLR;
using heed::optim::ExponentialLR;
using heed::optim::LinearLR;
using heed::optim::StepLR;
using heed::optim::WarmupCosine;

// "" when the first learning rates are `rates`.
template <class Schedule>
std::string mismatch(const Schedule& schedule, const std::vector<double>& rates) {
  std::ostringstream text;
  text.precision(17);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double rate = schedule.at(static_cast<std::int64_t>(i));
    if (!close(rate, rates[i], 1e-14)) text << "step " << i << " is " << rate << "; ";
  }
  return text.str();
}

template <class Schedule>
std::string error_of(const Schedule& schedule) {
  return message_of([&] { schedule.at(0); });
}

}  // namespace

TEST_CASE("WarmupCosine: linear rise, cosine decay, then constant", "[optim][schedule]") {
  const WarmupCosine schedule{1.0, 0.2, 4, 12};
  CHECK(close(schedule.at(0), 0.2, 1e-12));  // (0 + 1) / (4 + 1)
  CHECK(close(schedule.at(3), 0.8, 1e-12));
  CHECK(close(schedule.at(4), 1.0, 1e-12));
  CHECK(close(schedule.at(6), 0.6 + 0.4 * std::sqrt(0.5), 1e-12));
  CHECK(close(schedule.at(8), 0.6, 1e-12));
  CHECK(close(schedule.at(11), 0.6 + 0.4 * std::cos(std::acos(-1.0) * 7 / 8), 1e-12));
  CHECK(schedule.at(12) == 0.2);
  CHECK(schedule.at(1000000) == 0.2);
}

TEST_CASE("WarmupCosine does not overflow at the largest learning rates", "[optim][schedule]") {
  const WarmupCosine schedule{1e308, 1e300, 99, 200};
  for (std::int64_t step = 0; step <= 200; ++step) CHECK(schedule.at(step) <= 1e308);
  CHECK(close(schedule.at(49) / 1e308, 0.5, 1e-14));
}

TEST_CASE("WarmupCosine works without warmup, decay or both", "[optim][schedule]") {
  CHECK(WarmupCosine{1.0, 0.1, 0, 10}.at(0) == 1.0);
  CHECK(close(WarmupCosine{1.0, 0.1, 5, 5}.at(4), 5.0 / 6, 1e-12));
  CHECK(WarmupCosine{1.0, 0.1, 5, 5}.at(5) == 0.1);
  CHECK(WarmupCosine{1.0, 0.1, 0, 0}.at(0) == 0.1);
}

TEST_CASE("CosineAnnealingLR falls to eta_min and rises again, repeatedly", "[optim][schedule]") {
  const double cos45 = std::sqrt(0.5);
  CHECK(mismatch(CosineAnnealingLR{0.5, 4, 0.1},
                 {0.3 + 0.2, 0.3 + 0.2 * cos45, 0.3, 0.3 - 0.2 * cos45, 0.1, 0.3 - 0.2 * cos45, 0.3,
                  0.3 + 0.2 * cos45, 0.5}) == "");
  CHECK(mismatch(CosineAnnealingLR{0.5, 3}, {0.5, 0.375, 0.125, 0, 0.125, 0.375, 0.5, 0.375}) ==
        "");
  CHECK(mismatch(CosineAnnealingLR{2, 1}, {2, 0, 2, 0}) == "");
  CHECK(CosineAnnealingLR{0.5, 1000000, 0.1}.at(1000000) == 0.1);
}

TEST_CASE("LinearLR goes from one factor to the other, then is constant", "[optim][schedule]") {
  CHECK(mismatch(LinearLR{0.3}, {0.1, 0.14, 0.18, 0.22, 0.26, 0.3, 0.3, 0.3}) == "");
  CHECK(mismatch(LinearLR{0.8, 0.5, 0.25, 4}, {0.4, 0.35, 0.3, 0.25, 0.2, 0.2}) == "");
  CHECK(mismatch(LinearLR{0.8, 0, 1, 2}, {0, 0.4, 0.8, 0.8}) == "");
  CHECK(LinearLR{0.8, 1, 0, 10}.at(1000000) == 0);
}

TEST_CASE("the factors of LinearLR can be 0 and 1", "[optim][schedule]") {
  LinearLR schedule;
  schedule.lr = 2, schedule.start_factor = 0, schedule.end_factor = 1, schedule.total_iters = 4;
  CHECK(schedule.at(0) == 0);
  CHECK(schedule.at(1) == 0.5);
  CHECK(schedule.at(9) == 2);
}

TEST_CASE("StepLR multiplies by gamma every step_size steps", "[optim][schedule]") {
  CHECK(mismatch(StepLR{0.3, 2}, {0.3, 0.3, 0.03, 0.03, 0.003}) == "");
  CHECK(mismatch(StepLR{0.5, 1, 2}, {0.5, 1, 2, 4}) == "");
  CHECK(StepLR{0.5, 10, 0.5}.at(39) == 0.0625);
  CHECK(StepLR{0.5, 10, 0.5}.at(40) == 0.03125);
}

TEST_CASE("ExponentialLR multiplies by gamma in each step", "[optim][schedule]") {
  CHECK(mismatch(ExponentialLR{0.3, 1.5}, {0.3, 0.45, 0.675, 1.0125}) == "");
  CHECK(ExponentialLR{1, 0.5}.at(20) == 0x1p-20);
}

TEST_CASE("the defaults are those of PyTorch", "[optim][schedule]") {
  CHECK(CosineAnnealingLR().eta_min == 0);
  CHECK(LinearLR().start_factor == 1.0 / 3);
  CHECK(LinearLR().end_factor == 1);
  CHECK(LinearLR().total_iters == 5);
  CHECK(StepLR().gamma == 0.1);
}

TEST_CASE("options without a default in PyTorch must be set", "[optim][schedule]") {
  CHECK(error_of(CosineAnnealingLR()) == "CosineAnnealingLR: T_max 0 must be 1 or more");
  CHECK(error_of(StepLR()) == "StepLR: step_size 0 must be 1 or more");
  CHECK(error_of(ExponentialLR()) == "ExponentialLR: gamma 0 must be above 0");
}

TEST_CASE("schedules reject options out of range", "[optim][schedule]") {
  CHECK(error_of(WarmupCosine{-1}) == "WarmupCosine: lr -1 must be 0 or more");
  CHECK(error_of(WarmupCosine{1, not_a_number}) == "WarmupCosine: min_lr nan must be 0 or more");
  CHECK(error_of(WarmupCosine{1, 0, -1}) == "WarmupCosine: warmup -1 must be 0 or more");
  CHECK(error_of(WarmupCosine{1, 0, 0, -1}) == "WarmupCosine: decay_steps -1 must be 0 or more");
  CHECK(error_of(CosineAnnealingLR{-1, 1}) == "CosineAnnealingLR: lr -1 must be 0 or more");
  CHECK(error_of(CosineAnnealingLR{1, -2}) == "CosineAnnealingLR: T_max -2 must be 1 or more");
  CHECK(error_of(CosineAnnealingLR{1, 2, -0.5}) ==
        "CosineAnnealingLR: eta_min -0.5 must be 0 or more");
  CHECK(error_of(LinearLR{-1}) == "LinearLR: lr -1 must be 0 or more");
  CHECK(error_of(LinearLR{1, 1.5}) == "LinearLR: start_factor 1.5 must be in [0, 1]");
  CHECK(error_of(LinearLR{1, 0.5, -0.5}) == "LinearLR: end_factor -0.5 must be in [0, 1]");
  CHECK(error_of(LinearLR{1, 0.5, 1, 0}) == "LinearLR: total_iters 0 must be 1 or more");
  CHECK(error_of(StepLR{-1, 2}) == "StepLR: lr -1 must be 0 or more");
  CHECK(error_of(StepLR{1, -2}) == "StepLR: step_size -2 must be 1 or more");
  CHECK(error_of(StepLR{1, 2, not_a_number}) == "StepLR: gamma nan must be above 0");
  CHECK(error_of(ExponentialLR{-1, 0.5}) == "ExponentialLR: lr -1 must be 0 or more");
  CHECK(error_of(ExponentialLR{1, -0.5}) == "ExponentialLR: gamma -0.5 must be above 0");
}
