// run_file_test.cpp: a run goes on where it was, from a file that is whole, or not at all.

#include <string>

#include "catch.hpp"
#include "io/file_tests.hpp"
#include "near.hpp"
#include "train/small_run.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;
using heed_test::TemporaryFolder;

// The run's checkpoint, as written and read.
ModelFile saved(const Run& run, const std::filesystem::path& path) {
  save_run(path, run.trainer, run.text.vocabulary, {});
  return ModelFile::open(path);
}

// A run's checkpoint, to be spoiled and offered to that run again.
struct SavedRun {
  explicit SavedRun(Run& of) : run(of) {
    save_run(folder / "run", run.trainer, run.text.vocabulary, {});
    file = read_safetensors(folder / "run");
  }
  std::string refused(const Metadata& metadata, const std::vector<StoredTensor>& tensors) {
    write_safetensors(folder / "spoiled", metadata, tensors);
    return message_of([&] { ModelFile::open(folder / "spoiled").restore(run.trainer); });
  }
  std::string refused(const std::string& key, const std::string& value) {
    Metadata metadata = file.metadata;
    metadata[key] = value;
    return refused(metadata, file.tensors);
  }
  const TemporaryFolder folder;
  Run& run;
  SafetensorsFile file;
};

// Saved in the middle and restored elsewhere, against one run straight through.
bool resumes(std::int64_t middle, double dropout) {
  const TemporaryFolder folder;
  Run straight(few_steps(23, dropout)), first(few_steps(23, dropout)),
      second(few_steps(23, dropout));
  straight.steps(23);
  first.steps(middle);
  saved(first, folder / "run.safetensors").restore(second.trainer);
  if (second.trainer.steps_done() != middle) return false;
  second.steps(23 - middle);
  return same_parameters(straight.trainer, second.trainer) &&
         history(straight.trainer) == history(second.trainer);
}

}  // namespace

TEST_CASE("a run saved, read and resumed is the run uninterrupted, bit for bit",
          "[train][checkpoint]") {
  CHECK(resumes(10, 0));    // on a row
  CHECK(resumes(13, 0));    // between rows
  CHECK(resumes(13, 0.2));  // with a generator for dropout
  CHECK(resumes(0, 0));     // before anything happened
}

TEST_CASE("a run can be restored over another that went elsewhere", "[train][checkpoint]") {
  const TemporaryFolder folder;
  Run straight(few_steps(12, 0.1)), lost(few_steps(12, 0.1));
  straight.steps(6);
  const ModelFile file = saved(straight, folder / "run.safetensors");
  lost.steps(9);
  file.restore(lost.trainer);
  straight.steps(6);
  lost.steps(6);
  CHECK(same_parameters(straight.trainer, lost.trainer));
  CHECK(history(straight.trainer) == history(lost.trainer));
}

TEST_CASE("a run that ended and is given more steps is the run that had them from the start",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  for (const std::int64_t end : {1, 7, 13, 15, 20, 25, 30}) {  // rows: none but the last's, or not
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

TEST_CASE("moments that are not finite are refused by name", "[train][checkpoint]") {
  Run run(few_steps(10));
  run.steps(2);
  SavedRun saved_run(run);
  std::vector<StoredTensor> tensors = saved_run.file.tensors;
  const std::vector<Real> spoiled(tensors.back().bytes / sizeof(Real),
                                  static_cast<Real>(not_a_number));
  tensors.back().data = reinterpret_cast<const unsigned char*>(spoiled.data());
  CHECK(has(saved_run.refused(saved_run.file.metadata, tensors),
            "/spoiled: tensor '" + tensors.back().name + "' holds values that are not finite"));
  CHECK(has(tensors.back().name, "optimizer."));
}

TEST_CASE("options come back from a checkpoint exactly as they went in", "[train][checkpoint]") {
  const TemporaryFolder folder;
  TrainOptions options = few_steps(23, 0.1);
  options.lr = 1.0 / 3;
  options.seed = static_cast<std::uint64_t>(-1);
  const TrainOptions back = saved(Run(options), folder / "run.safetensors").options();
  CHECK(option_texts(back) == option_texts(options));
  CHECK(option_texts(back).size() == 15);
  CHECK(back.lr == 1.0 / 3);
  CHECK(back.seed == options.seed);
}

TEST_CASE("a checkpoint of another model is refused by name, and changes nothing",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  Run small(few_steps(10)), untouched(few_steps(10));
  nn::GptConfig deeper = small_model(small.text);
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

TEST_CASE("a checkpoint with a part missing or spoiled is refused, and changes nothing",
          "[train][checkpoint]") {
  Run run(few_steps(10)), untouched(few_steps(10));
  run.steps(5);
  untouched.steps(5);
  SavedRun saved_run(run);
  const Metadata& metadata = saved_run.file.metadata;
  const auto spoiled = [&](const std::string& key, const std::string& value) {
    return saved_run.refused(key, value);
  };
  CHECK(has(spoiled("train.generator", "torn"), "/spoiled: "));
  CHECK(has(spoiled("train.dropout_generator", "torn"), "/spoiled: "));
  CHECK(has(spoiled("train.step", "-1"), "metadata 'train.step' is '-1', not a whole number"));
  CHECK(has(spoiled("train.pending_loss", "1.5x"), "metadata 'train.pending_loss' holds '1.5x'"));
  CHECK(has(spoiled("train.history", "1,2\n"), "metadata 'train.history' has a line '1,2'"));
  Metadata without = metadata;
  without.erase("train.pending");
  CHECK(has(saved_run.refused(without, saved_run.file.tensors),
            "its metadata has no 'train.pending'"));
  std::vector<StoredTensor> fewer(saved_run.file.tensors.begin(), saved_run.file.tensors.end() - 1);
  CHECK(has(saved_run.refused(metadata, fewer), "/spoiled: optimizer state: no 'norm.weight."));
  fewer.assign(saved_run.file.tensors.begin() + 1, saved_run.file.tensors.end());
  CHECK(has(saved_run.refused(metadata, fewer), "/spoiled: no tensor 'token.weight'"));
  run.steps(5);
  untouched.steps(5);
  CHECK(same_parameters(run.trainer, untouched.trainer));
}

TEST_CASE("a history as lines of text", "[train][csv]") {
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

TEST_CASE("a checkpoint whose counts of steps differ, or that has no history, is refused",
          "[train][checkpoint]") {
  Run run(few_steps(10)), untouched(few_steps(10));
  run.steps(5);
  untouched.steps(5);
  SavedRun saved_run(run);
  const auto refused = [&](const std::string& key, const std::string& value) {
    return saved_run.refused(key, value);
  };
  const std::string begin = (saved_run.folder / "spoiled").string() + ": metadata 'train.step' is ";
  CHECK(refused("train.step", "6") ==
        begin + "6, but the optimizer has done 5 steps and the history has 2 lines");
  CHECK(refused("train.optimizer_step", "4") ==
        begin + "5, but the optimizer has done 4 steps and the history has 2 lines");
  CHECK(refused("train.history", "") ==
        begin + "5, but the optimizer has done 5 steps and the history has 0 lines");
  run.steps(5);
  untouched.steps(5);
  CHECK(same_parameters(run.trainer, untouched.trainer));
}
