// trainer_evaluation.cpp: the validation loss of a Trainer, and the rows of its loss history.

#include <cstring>

#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

bool Trainer::row_is_due() const {
  return step_ == 1 || step_ % options_.log_every == 0 || step_ % options_.eval_every == 0;
}

LogRow Trainer::finish_row() {
  const auto n = static_cast<double>(pending_);
  LogRow row{step_, loss_sum_ / n, {}, last_lr_, last_norm_, ms_sum_ / n};
  if (step_ % options_.eval_every == 0 || done()) row.val_loss = checked_validation_loss();
  if (!row_is_due()) return row;  // the sums are not reset: a resumed run replaces this row
  loss_sum_ = ms_sum_ = 0;
  pending_ = 0;
  return row;
}

// Rank r computes the batches r, r + P, r + 2 P, ...
std::vector<double> Trainer::own_validation_losses() const {
  const NoGrad no_grad;
  Batches windows(validation_, options_.batch_size, model_.config.block_size, options_.seed + 2);
  std::vector<double> losses;
  for (std::size_t i = 0; i < options_.eval_batches; ++i) {
    const Batch batch = windows.next();
    if (i % communicator_->size() != communicator_->rank()) continue;
    losses.push_back(static_cast<double>(model_.loss(batch.inputs, batch.targets).item()));
  }
  return losses;
}

// Adds the losses of all ranks in the order of the batches, so that the sum has the same bits for
// any number of processes.
double Trainer::validation_loss() const {
  const std::vector<double> own = own_validation_losses();
  const std::vector<std::string> parts = gather_texts(
      *communicator_, {reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double)});
  double sum = 0;
  for (std::size_t i = 0; i < options_.eval_batches; ++i) {
    double loss = 0;
    std::memcpy(&loss, parts[i % parts.size()].data() + i / parts.size() * sizeof loss,
                sizeof loss);
    sum += loss;
  }
  return sum / static_cast<double>(options_.eval_batches);
}

}  // namespace HEED_NAMESPACE
