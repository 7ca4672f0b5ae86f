// checkpoint.hpp: a training run as text that reads back exactly: its options and its history.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/safetensors.hpp"
#include "heed/train/trainer.hpp"

namespace heed {

// The options as checkpoint entries, "train.lr" and so on, written so that they read back exactly.
void put_options(Metadata& metadata, const TrainOptions& options);
TrainOptions options_from(const SafetensorsFile& file);  // throws Error

// step,train_loss,val_loss,learning_rate,grad_norm,ms, with that as the first line.
std::string csv(const std::vector<LogRow>& rows);
std::string csv_header();
std::string csv(const LogRow& row);

}  // namespace heed
