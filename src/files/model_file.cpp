// model_file.cpp: saves and loads models and training runs as safetensors files.

#include "heed/files/model_file.hpp"

#include "base/hash.hpp"
#include "base/machine.hpp"
#include "files/entries.hpp"
#include "files/load.hpp"
#include "files/model_entries.hpp"
#include "files/run_entries.hpp"
#include "files/vocabulary_entries.hpp"
#include "heed/base/text.hpp"
#include "heed/files/save.hpp"

namespace HEED_NAMESPACE {

TextFingerprint fingerprint_of(const std::string& path, std::string_view text) {
  return {path, text.size(), hash64(text)};
}

ModelFile::ModelFile(SafetensorsFile file)
    : reader_(std::make_shared<const SafetensorsReader>(
          std::make_shared<const SafetensorsFile>(std::move(file)))) {}

ModelFile ModelFile::open(const std::filesystem::path& path) {
  try {
    return ModelFile(std::make_shared<const SafetensorsReader>(path));
  } catch (const NotSafetensors& error) {
    throw_error(path.string(), ": not a checkpoint: ", error.reason);
  }
}

const SafetensorsFile& ModelFile::header() const { return reader_->header(); }

const std::string& ModelFile::path() const { return header().path; }

bool ModelFile::has_checksum() const { return header().has_checksum; }

bool ModelFile::has_text() const { return header().metadata.count("text.path") != 0; }

nn::GptConfig ModelFile::config() const { return config_in(header()); }

nn::GptConfig ModelFile::config_for(const Vocabulary& vocabulary) const {
  const nn::GptConfig checked = config();
  if (checked.vocab_size != vocabulary.size())
    throw_error(path(), ": the model's vocab_size is ", checked.vocab_size,
                ", but its vocabulary has ", vocabulary.size(), " tokens");
  return checked;
}

Vocabulary ModelFile::vocabulary() const { return vocabulary_in(header()); }

void ModelFile::load_parameters(const Parameters& parameters) const {
  set_values(parameters, parameter_values(*reader_, parameters));
}

void ModelFile::load_in_place(const Parameters& parameters, const CompactMatrices& matrices) const {
  HEED_NAMESPACE::load_in_place(*reader_, parameters, matrices);
}

TrainOptions ModelFile::options() const { return options_in(header()); }

std::int64_t ModelFile::steps() const {
  return static_cast<std::int64_t>(integer_entry(header(), "train.step"));
}

GemmChoice ModelFile::gemm() const {
  if (header().metadata.count("train.gemm") == 0) return GemmChoice();  // an older file
  try {
    return GemmChoice::parse(text_entry(header(), "train.gemm"));
  } catch (const Error& error) {
    throw_error(path(), ": metadata 'train.gemm': ", error.what());
  }
}

TextFingerprint ModelFile::text() const {
  const bool has_size = header().metadata.count("text.vocab_size") != 0;
  return {path_in(header()), integer_entry(header(), "text.bytes", any_integer),
          integer_entry(header(), "text.hash", any_integer),
          has_size ? size_entry(header(), "text.vocab_size") : 0};
}

void ModelFile::restore(Trainer& trainer) const {
  check_same_model(path(), config(), trainer.model().config);
  TrainerState state = trainer_state_in(*reader_);
  std::vector<Array> values = parameter_values(*reader_, trainer.parameters());
  try {
    trainer.restore(std::move(state));
  } catch (const Error& error) {
    throw_error(path(), ": ", error.what());
  }
  set_values(trainer.parameters(), std::move(values));
}

static double bytes_of(WeightType weights) {
  if (weights == WeightType::int8) return 1;
  return weights == WeightType::bf16 ? 2 : sizeof(Real);
}

static CompactMatrices of_type(WeightType weights) {
  CompactMatrices matrices;
  matrices.type = weights;
  return matrices;
}

// The configuration. Throws Error if the memory does not suffice for the model.
static nn::GptConfig checked_config(const ModelFile& file, WeightType weights,
                                    const Vocabulary& vocabulary) {
  const nn::GptConfig config = file.config_for(vocabulary);
  const double bytes_each = bytes_of(weights);
  check_memory(nn::parameter_count<double>(config) * bytes_each, file.path() + ": its model needs");
  return config;
}

LoadedModel::LoadedModel(const ModelFile& file, WeightType weights)
    : vocabulary(file.vocabulary()),
      compact_matrices(of_type(weights)),
      model(weights != WeightType::f32
                ? nn::without_values(parameters, compact_matrices,
                                     checked_config(file, weights, vocabulary))
                : nn::without_values(parameters, checked_config(file, weights, vocabulary))) {
  file.load_in_place(parameters, compact_matrices);
}

void check_complete(const char* function, const Parameters& parameters, const nn::GptConfig& config,
                    const Vocabulary& vocabulary) {
  if (const auto count = nn::parameter_count<std::size_t>(config); parameters.count() != count)
    throw_error(
        function, ": ", parameters.count(), " parameters for a model of ", count,
        "; give all (a model in BF16 or int8 has its matrices elsewhere: load it in float)");
  if (vocabulary.size() != config.vocab_size)
    throw_error(function, ": a vocabulary of ", vocabulary.size(), " tokens for a model of ",
                config.vocab_size);
}

Metadata model_metadata(const nn::GptConfig& config, const Vocabulary& vocabulary) {
  Metadata metadata;
  put_config(metadata, config);
  put_vocabulary(metadata, vocabulary);
  return metadata;
}

namespace {

// The metadata and tensors of a file to be written. The tensors point to the memory of the model's
// parameters.
struct Content {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
};

Content content_of(const Parameters& parameters, const nn::GptConfig& config,
                   const Vocabulary& vocabulary) {
  check_complete("save_model", parameters, config, vocabulary);
  Content content{model_metadata(config, vocabulary), {}};
  for (const Tensor& parameter : parameters)
    content.tensors.push_back(stored_tensor(parameter.name(), parameter.value()));
  return content;
}

}  // namespace

void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary) {
  Content content = content_of(parameters, config, vocabulary);
  write_safetensors(path, std::move(content.metadata), content.tensors);
}

// The content of a run's checkpoint. Its tensors point to the memory of the trainer and of `state`.
static Content content_of(const Trainer& trainer, const TrainerState& state,
                          const Vocabulary& vocabulary, const TextFingerprint& text) {
  Content content = content_of(trainer.parameters(), trainer.model().config, vocabulary);
  Metadata& metadata = content.metadata;
  put_trainer_state(metadata, content.tensors, state);
  metadata["train.gemm"] = gemm_choice().text();
  put_path(metadata, text.path);
  metadata["text.bytes"] = std::to_string(text.bytes);
  metadata["text.hash"] = std::to_string(text.hash);
  if (text.vocab_size != 0) metadata["text.vocab_size"] = std::to_string(text.vocab_size);
  return content;
}

void save_run(const std::filesystem::path& path, const Trainer& trainer,
              const Vocabulary& vocabulary, const TextFingerprint& text) {
  const TrainerState state = trainer.state();
  Content content = content_of(trainer, state, vocabulary, text);
  write_safetensors(path, std::move(content.metadata), content.tensors);
}

void check_run(const std::filesystem::path& path, const Trainer& trainer,
               const Vocabulary& vocabulary, const TextFingerprint& text) {
  const TrainerState state = trainer.state();
  Content content = content_of(trainer, state, vocabulary, text);
  check_safetensors(path, std::move(content.metadata), content.tensors);
}

}  // namespace HEED_NAMESPACE
