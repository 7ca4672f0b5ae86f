// checkpoint.hpp: a training run as text that reads back exactly: its options and its history.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heed/nn/safetensors.hpp"
#include "heed/train/trainer.hpp"

namespace heed {

// Every option by name, {"batch_size", "12"} and so on, written so that it reads back exactly.
std::map<std::string, std::string> option_texts(const TrainOptions& options);

// The options as checkpoint entries, "train.lr" and so on.
void put_options(Metadata& metadata, const TrainOptions& options);
TrainOptions options_from(const SafetensorsFile& file);  // throws Error

// step,train_loss,val_loss,learning_rate,grad_norm,ms, with that as the first line.
std::string csv(const std::vector<LogRow>& rows);
std::string csv_header();
std::string csv(const LogRow& row);

}  // namespace heed
