// options.cpp: the training options as metadata.

#include "files/model_file/parts.hpp"
#include "train/fields.hpp"

namespace HEED_NAMESPACE {

std::map<std::string, std::string> option_texts(const TrainOptions& options) {
  std::map<std::string, std::string> texts;
  each_option(options, [&](const Field& field, const auto& value) {
    texts[field.name] = field_text(value);
  });
  return texts;
}

namespace model_file {

void put_options(Metadata& metadata, const TrainOptions& options) {
  for (const auto& [name, value] : option_texts(options)) metadata["train." + name] = value;
  if (options.shards == 1) metadata.erase("train.shards");  // as in a run without --shards
}

TrainOptions options_in(const SafetensorsFile& file) {
  TrainOptions options;
  each_option(options, [&](const Field& field, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const std::string key = std::string("train.") + field.name;
    if constexpr (std::is_floating_point_v<Value>)
      value = number_entry(file, key);
    else if (key == "train.shards" && file.metadata.count(key) == 0)
      value = 1;  // a run without --shards
    else if (key == "train.seed")
      value = static_cast<Value>(integer_entry(file, key, any_integer));
    else
      value = static_cast<Value>(integer_entry(file, key));
  });
  return options;
}

}  // namespace model_file
}  // namespace HEED_NAMESPACE
