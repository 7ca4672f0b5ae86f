// run_file_test.cpp: tests of saving and resuming a training run.

#include <map>
#include <string>

#include "catch.hpp"
#include "heed/files/model_file.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"
#include "small_model.hpp"
#include "train/fields.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;
using heed_test::ScratchFolder;

// Saves the run's checkpoint and reads it.
ModelFile saved(const Run& run, const std::filesystem::path& path) {
  save_run(path, run.trainer, run.text.vocabulary, {});
  return ModelFile::open(path);
}

std::map<std::string, std::string> texts_of(const TrainOptions& options) {
  std::map<std::string, std::string> texts;
  each_option(options, [&](const Field& field, const auto& value) {
    texts[field.name] = field_text(value);
  });
  return texts;
}

// The checkpoint of a run. restore_error() changes it and returns the error of restoring the run
// from it.
struct SavedRun {
  explicit SavedRun(Run& of) : run(of) {
    save_run(folder / "run", run.trainer, run.text.vocabulary, {});
    file = read_safetensors(folder / "run");
  }
  std::string restore_error(const Metadata& metadata, const std::vector<StoredTensor>& tensors) {
    write_safetensors(folder / "changed", metadata, tensors);
    return message_of([&] { ModelFile::open(folder / "changed").restore(run.trainer); });
  }
  std::string restore_error(const std::string& key, const std::string& value) {
    Metadata metadata = file.metadata;
    metadata[key] = value;
    return restore_error(metadata, file.tensors);
  }
  const ScratchFolder folder;
  Run& run;
  SafetensorsFile file;
};

// Whether a run that is saved after `middle` steps and resumed equals an uninterrupted run.
bool resumes(std::int64_t middle, double dropout, ModelKind kind = ModelKind::gpt2) {
  const ScratchFolder folder;
  const auto new_run = [&] { return Run(few_steps(23, dropout), small_text(), {}, kind); };
  Run straight = new_run(), first = new_run(), second = new_run();
  straight.steps(23);
  first.steps(middle);
  saved(first, folder / "run.safetensors").restore(second.trainer);
  if (second.trainer.steps_done() != middle) return false;
  second.steps(23 - middle);
  return same_parameters(straight.trainer, second.trainer) &&
         history(straight.trainer) == history(second.trainer);
}

}  // namespace

TEST_CASE("a resumed run equals an uninterrupted run bit for bit", "[train][checkpoint]") {
  CHECK(resumes(10, 0));    // at a row of the history
  CHECK(resumes(13, 0));    // between rows
  CHECK(resumes(13, 0.2));  // with dropout
  CHECK(resumes(0, 0));     // before the first step
  CHECK(resumes(13, 0, ModelKind::llama));
  CHECK(resumes(13, 0.2, ModelKind::llama));
}

TEST_CASE("a run can be restored after it has done other steps", "[train][checkpoint]") {
  const ScratchFolder folder;
  Run straight(few_steps(12, 0.1)), other(few_steps(12, 0.1));
  straight.steps(6);
  const ModelFile file = saved(straight, folder / "run.safetensors");
  other.steps(9);
  file.restore(other.trainer);
  straight.steps(6);
  other.steps(6);
  CHECK(same_parameters(straight.trainer, other.trainer));
  CHECK(history(straight.trainer) == history(other.trainer));
}

TEST_CASE("an ended run continued with more steps equals one with that number from the start",
          "[train][checkpoint]") {
  const ScratchFolder folder;
  for (const std::int64_t end :
       {1, 7, 13, 15, 20, 25, 30}) {  // some have a row only because the run ends
    INFO("ended after " << end << " steps");
    Run straight(few_steps(34, 0.1)), ended(few_steps(end, 0.1)), more(few_steps(34, 0.1));
    straight.steps(34);
    ended.steps(end);
    CHECK(ended.trainer.history().back().step == end);
    CHECK(ended.trainer.history().back().val_loss);
    saved(ended, folder / "run.safetensors").restore(more.trainer);
    more.steps(34 - end);
    CHECK(same_parameters(straight.trainer, more.trainer));
    CHECK(history(straight.trainer) == history(more.trainer));
  }
}

TEST_CASE("the error of moments that are not finite contains the tensor name",
          "[train][checkpoint]") {
  Run run(few_steps(10));
  run.steps(2);
  SavedRun saved_run(run);
  std::vector<StoredTensor> tensors = saved_run.file.tensors;
  const std::vector<Real> nans(tensors.back().bytes / sizeof(Real),
                               static_cast<Real>(not_a_number));
  tensors.back().data = reinterpret_cast<const unsigned char*>(nans.data());
  CHECK(has(saved_run.restore_error(saved_run.file.metadata, tensors),
            "/changed: tensor '" + tensors.back().name + "' holds values that are not finite"));
  CHECK(has(tensors.back().name, "optimizer."));
}

TEST_CASE("options are loaded from a checkpoint unchanged", "[train][checkpoint]") {
  const ScratchFolder folder;
  TrainOptions options = few_steps(23, 0.1);
  options.lr = 1.0 / 3;
  options.seed = static_cast<std::uint64_t>(-1);
  const TrainOptions loaded = saved(Run(options), folder / "run.safetensors").options();
  CHECK(texts_of(loaded) == texts_of(options));
  CHECK(texts_of(loaded).size() == 16);
  CHECK(loaded.lr == 1.0 / 3);
  CHECK(loaded.seed == options.seed);
}

TEST_CASE("restoring the checkpoint of another model throws and changes nothing",
          "[train][checkpoint]") {
  const ScratchFolder folder;
  Run small(few_steps(10)), untouched(few_steps(10));
  nn::GptConfig deeper = small_config(small.text);
  deeper.layers = 3;
  const Trainer deep(small.text.corpus, deeper, few_steps(10));
  save_run(folder / "run.safetensors", deep, small.text.vocabulary, {});
  const ModelFile file = ModelFile::open(folder / "run.safetensors");
  CHECK(message_of([&] { file.restore(small.trainer); }) ==
        file.path() + ": 'model.layers' is '3', this model's is '2'");
  small.steps(3);
  untouched.steps(3);
  CHECK(same_parameters(small.trainer, untouched.trainer));
}

TEST_CASE("restoring the checkpoint of a model with another variant throws",
          "[train][checkpoint]") {
  const ScratchFolder folder;
  Run gpt2(few_steps(10)), llama(few_steps(10), small_text(), {}, ModelKind::llama);
  const ModelFile of_gpt2 = saved(gpt2, folder / "gpt2"), of_llama = saved(llama, folder / "llama");
  CHECK(message_of([&] { of_gpt2.restore(llama.trainer); }) ==
        of_gpt2.path() + ": 'model.kv_heads' is 'not given', this model's is '1'");
  CHECK(message_of([&] { of_llama.restore(gpt2.trainer); }) ==
        of_llama.path() + ": 'model.kv_heads' is '1', this model's is 'not given'");
}

TEST_CASE("restoring a damaged checkpoint throws and changes nothing", "[train][checkpoint]") {
  Run run(few_steps(10)), untouched(few_steps(10));
  run.steps(5);
  untouched.steps(5);
  SavedRun saved_run(run);
  const Metadata& metadata = saved_run.file.metadata;
  const auto error_with = [&](const std::string& key, const std::string& value) {
    return saved_run.restore_error(key, value);
  };
  CHECK(has(error_with("train.generator", "torn"), "/changed: "));
  CHECK(has(error_with("train.dropout_generator", "torn"), "/changed: "));
  CHECK(has(error_with("train.step", "-1"), "metadata 'train.step' is '-1', not a whole number"));
  CHECK(
      has(error_with("train.pending_loss", "1.5x"), "metadata 'train.pending_loss' holds '1.5x'"));
  CHECK(has(error_with("train.history", "1,2\n"), "metadata 'train.history' has a line '1,2'"));
  Metadata without = metadata;
  without.erase("train.pending");
  CHECK(has(saved_run.restore_error(without, saved_run.file.tensors),
            "its metadata has no 'train.pending'"));
  std::vector<StoredTensor> fewer(saved_run.file.tensors.begin(), saved_run.file.tensors.end() - 1);
  CHECK(
      has(saved_run.restore_error(metadata, fewer), "/changed: optimizer state: no 'norm.weight."));
  fewer.assign(saved_run.file.tensors.begin() + 1, saved_run.file.tensors.end());
  CHECK(has(saved_run.restore_error(metadata, fewer), "/changed: no tensor 'token.weight'"));
  run.steps(5);
  untouched.steps(5);
  CHECK(same_parameters(run.trainer, untouched.trainer));
}

TEST_CASE("sums since the last row of the history are saved and restored", "[train][checkpoint]") {
  const heed_test::ScratchFolder folder;
  Run run(few_steps(20));
  run.steps(8);  // three steps after the last row
  save_run(folder / "run", run.trainer, run.text.vocabulary, {});
  Run resumed(few_steps(20));
  ModelFile::open(folder / "run").restore(resumed.trainer);
  const TrainerState before = run.trainer.state(), after = resumed.trainer.state();
  CHECK(before.pending == 3);
  CHECK(before.pending_ms > 0);
  CHECK(after.pending == before.pending);
  CHECK(after.pending_ms == before.pending_ms);
  CHECK(after.pending_loss == before.pending_loss);
}

TEST_CASE("the name of the text is restored, whatever its bytes", "[train][checkpoint]") {
  const heed_test::ScratchFolder folder;
  const Run run(few_steps(20));
  for (const std::string name : {"", "a%41.txt", "caf\xc3\xa9.txt", "caf\xe9%\x7f \n.txt",
                                 "caf\xe9"
                                 "abc.txt"}) {
    save_run(folder / "run", run.trainer, run.text.vocabulary, {name, 1, 2});
    CHECK(ModelFile::open(folder / "run").text().path == name);
  }
  SafetensorsFile file = read_safetensors(folder / "run");
  for (const std::string damaged : {"caf%", "caf%e", "caf%eg", "caf%-1"}) {
    file.metadata["text.path"] = damaged;
    write_safetensors(folder / "damaged", file.metadata, file.tensors);
    CHECK_THROWS_WITH(ModelFile::open(folder / "damaged").text(),
                      (folder / "damaged").string() + ": metadata 'text.path' is '" + damaged +
                          "', which is not percent-encoded");
  }
}

TEST_CASE("check_run throws what save_run would throw, and writes nothing", "[train][checkpoint]") {
  const heed_test::ScratchFolder folder;
  const Run run(few_steps(20));
  check_run(folder / "run", run.trainer, run.text.vocabulary, {"in.txt", 1, 2});
  CHECK(folder.files() == 0);
  std::filesystem::create_directory(folder / "run");
  CHECK_THROWS_WITH(
      check_run(folder / "run", run.trainer, run.text.vocabulary, {}),
      (folder / "run").string() + ": is a folder; move it away, or give another name");
}

TEST_CASE("the loss history as CSV", "[train][csv]") {
  LogRow row;
  row.step = 250;
  row.train_loss = 2.5;
  row.learning_rate = 0.001;
  row.grad_norm = 1.25;
  row.ms = 20;
  CHECK(csv(std::vector<LogRow>{row}) ==
        "step,train_loss,val_loss,learning_rate,grad_norm,ms\n250,2.5,,0.001,1.25,20\n");
  row.val_loss = 2.75;
  CHECK(csv(row) == "250,2.5,2.75,0.001,1.25,20\n");
}

TEST_CASE("restoring a checkpoint with different step counts or no history throws",
          "[train][checkpoint]") {
  Run run(few_steps(10)), untouched(few_steps(10));
  run.steps(5);
  untouched.steps(5);
  SavedRun saved_run(run);
  const auto restore_error = [&](const std::string& key, const std::string& value) {
    return saved_run.restore_error(key, value);
  };
  const std::string begin = (saved_run.folder / "changed").string() + ": metadata 'train.step' is ";
  CHECK(restore_error("train.step", "6") ==
        begin + "6, but the optimizer has done 5 steps and the history has 2 lines");
  CHECK(restore_error("train.optimizer_step", "4") ==
        begin + "5, but the optimizer has done 4 steps and the history has 2 lines");
  CHECK(restore_error("train.history", "") ==
        begin + "5, but the optimizer has done 5 steps and the history has 0 lines");
  run.steps(5);
  untouched.steps(5);
  CHECK(same_parameters(run.trainer, untouched.trainer));
}

TEST_CASE("a run is not restored from a file of which only the header was read",
          "[train][checkpoint]") {
  Run run(few_steps(10));
  run.steps(2);
  const SavedRun saved(run);
  const std::string path = (saved.folder / "run").string();
  SafetensorsFile header = read_safetensors(path);
  for (StoredTensor& tensor : header.tensors) tensor.data = nullptr;
  const ModelFile file(std::move(header));
  const std::string error = message_of([&] { file.restore(run.trainer); });
  CHECK(error.rfind(path + ": tensor 'optimizer.", 0) == 0);
  CHECK(has(error, ": only the header of the file was read, not its numbers"));
}
