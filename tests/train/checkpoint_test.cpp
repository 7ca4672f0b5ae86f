// checkpoint_test.cpp: a run goes on where it was, from a file that is whole, or not at all.

#include <string>

#include "catch.hpp"
#include "near.hpp"
#include "nn/file_tests.hpp"
#include "train/small_run.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;
using heed_test::TemporaryFolder;

SafetensorsFile saved(const Trainer& trainer, const std::filesystem::path& path) {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  optim::State kept;
  trainer.save(metadata, tensors, kept);
  write_safetensors(path, metadata, tensors);
  return read_safetensors(path);
}

// Saved in the middle and restored elsewhere, against one run straight through.
bool resumes(std::int64_t middle, double dropout) {
  const TemporaryFolder folder;
  Run straight(few_steps(23, dropout)), first(few_steps(23, dropout)),
      second(few_steps(23, dropout));
  straight.steps(23);
  first.steps(middle);
  second.trainer.restore(saved(first.trainer, folder / "run.safetensors"));
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
  const SafetensorsFile file = saved(straight.trainer, folder / "run.safetensors");
  lost.steps(9);
  lost.trainer.restore(file);
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
    more.trainer.restore(saved(ended.trainer, folder / "run.safetensors"));
    more.steps(34 - end);
    CHECK(same_parameters(straight.trainer, more.trainer));
    CHECK(history(straight.trainer) == history(more.trainer));
  }
}

TEST_CASE("moments that are not finite are refused by name", "[train][checkpoint]") {
  const TemporaryFolder folder;
  Run run(few_steps(10));
  run.steps(2);
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  optim::State kept;
  run.trainer.save(metadata, tensors, kept);
  kept.arrays.back().second(0) = static_cast<Real>(not_a_number);
  write_safetensors(folder / "run", metadata, tensors);
  const SafetensorsFile file = read_safetensors(folder / "run");
  CHECK(message_of([&] { run.trainer.restore(file); }) == file.path + ": tensor 'optimizer." +
                                                              kept.arrays.back().first +
                                                              "' holds values that are not finite");
}

TEST_CASE("options come back from a checkpoint exactly as they went in", "[train][checkpoint]") {
  const TemporaryFolder folder;
  TrainOptions options = few_steps(23, 0.1);
  options.lr = 1.0 / 3;
  options.seed = static_cast<std::uint64_t>(-1);
  const SafetensorsFile file = saved(Run(options).trainer, folder / "run.safetensors");
  const TrainOptions back = options_from(file);
  Metadata before, after;
  put_options(before, options);
  put_options(after, back);
  CHECK(before == after);
  CHECK(before.size() == 15);
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
  const SafetensorsFile file = saved(deep, folder / "run.safetensors");
  CHECK(message_of([&] { small.trainer.restore(file); }) ==
        file.path + ": 'model.layers' is '3', this model's is '2'");
  small.steps(3);
  untouched.steps(3);
  CHECK(same_parameters(small.trainer, untouched.trainer));
}

TEST_CASE("a checkpoint with a part missing or spoiled is refused, and changes nothing",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  Run run(few_steps(10)), untouched(few_steps(10));
  run.steps(5);
  untouched.steps(5);
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  optim::State kept;
  run.trainer.save(metadata, tensors, kept);
  const auto refused = [&](Metadata with, const std::vector<StoredTensor>& of) {
    write_safetensors(folder / "spoiled", with, of);
    return message_of([&] { run.trainer.restore(read_safetensors(folder / "spoiled")); });
  };
  const auto spoiled = [&](const std::string& key, const std::string& value) {
    Metadata with = metadata;
    with[key] = value;
    return refused(with, tensors);
  };
  CHECK(has(spoiled("train.generator", "torn"), "/spoiled: "));
  CHECK(has(spoiled("train.dropout_generator", "torn"), "/spoiled: "));
  CHECK(has(spoiled("train.step", "-1"), "metadata 'train.step' is '-1', not a whole number"));
  CHECK(has(spoiled("train.pending_loss", "1.5x"), "metadata 'train.pending_loss' holds '1.5x'"));
  CHECK(has(spoiled("train.history", "1,2\n"), "metadata 'train.history' has a line '1,2'"));
  Metadata without = metadata;
  without.erase("train.pending");
  CHECK(has(refused(without, tensors), "its metadata has no 'train.pending'"));
  std::vector<StoredTensor> fewer(tensors.begin(), tensors.end() - 1);
  CHECK(has(refused(metadata, fewer), "/spoiled: optimizer state: no 'norm.weight."));
  fewer.assign(tensors.begin() + 1, tensors.end());
  CHECK(has(refused(metadata, fewer), "/spoiled: no tensor 'token.weight'"));
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
  const TemporaryFolder folder;
  Run run(few_steps(10)), untouched(few_steps(10));
  run.steps(5);
  untouched.steps(5);
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  optim::State kept;
  run.trainer.save(metadata, tensors, kept);
  const auto refused = [&](const std::string& key, const std::string& value) {
    Metadata with = metadata;
    with[key] = value;
    write_safetensors(folder / "spoiled", with, tensors);
    return message_of([&] { run.trainer.restore(read_safetensors(folder / "spoiled")); });
  };
  const std::string begin = (folder / "spoiled").string() + ": metadata 'train.step' is ";
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
