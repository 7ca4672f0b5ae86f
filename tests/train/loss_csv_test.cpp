// loss_csv_test.cpp: tests of read_loss_csv.

#include "heed/train/loss_csv.hpp"

#include <cmath>

#include "catch.hpp"
#include "foreign_locale.hpp"
#include "scratch_folder.hpp"

using namespace heed;
using namespace heed_test;

namespace {

const std::string header = "step,train_loss,val_loss,learning_rate,grad_norm,ms\n";

}  // namespace

TEST_CASE("training and validation losses are read from loss.csv", "[train][loss_csv]") {
  const ScratchFolder folder;
  folder.write("loss.csv", header + "0,4.25,4.5,0.001,1.5,130\n10,4,,0.001,1.5,130\n");
  const LossCsv csv = read_loss_csv(folder / "loss.csv");
  CHECK(csv.training.steps == std::vector<double>{0, 10});
  CHECK(csv.training.values == std::vector<double>{4.25, 4});
  CHECK(csv.validation.steps == std::vector<double>{0});
  CHECK(csv.validation.values == std::vector<double>{4.5});
}

TEST_CASE("columns are found by their names", "[train][loss_csv]") {
  const ScratchFolder folder;
  folder.write("loss.csv", "ms,val_loss,train_loss,step\r\n5,2.5,2.25,30\r\n");
  const LossCsv csv = read_loss_csv(folder / "loss.csv");
  CHECK(csv.step_column == 3);
  CHECK(csv.training.steps == std::vector<double>{30});
  CHECK(csv.validation.values == std::vector<double>{2.5});
}

TEST_CASE("infinite losses are read, and losses of NaN are left out", "[train][loss_csv]") {
  const ScratchFolder folder;
  folder.write("loss.csv", "step,train_loss,val_loss\n1, 2,\n2,-inf,\n3,nan,nan\n4,-nan,\n");
  const LossCsv csv = read_loss_csv(folder / "loss.csv");
  REQUIRE(csv.training.values.size() == 2);
  CHECK(csv.training.values[0] == 2);
  CHECK(csv.training.values[1] == -std::numeric_limits<double>::infinity());
  CHECK(csv.validation.values.empty());
}

TEST_CASE("a last line without an end is not read", "[train][loss_csv]") {
  const ScratchFolder folder;
  folder.write("loss.csv", header + "1,4,,0.1,1,2\n2,3,2.5,0.1,1,12");  // perhaps 123 ms
  const LogRows cut = read_log_rows(folder / "loss.csv");
  CHECK(cut.is_last_row_cut);
  REQUIRE(cut.rows.size() == 1);
  CHECK(cut.rows[0].step == 1);
  CHECK(read_loss_csv(folder / "loss.csv").training.steps == std::vector<double>{1});
  folder.write("loss.csv", header + "1,4,,0.1,1,2\n");
  CHECK(!read_log_rows(folder / "loss.csv").is_last_row_cut);
  folder.write("loss.csv", header.substr(0, 9));
  CHECK_THROWS_WITH(
      read_log_rows(folder / "loss.csv"),
      std::string(folder / "loss.csv") + ": is empty; heed train --resume writes it again");
}

TEST_CASE("a locale with a decimal comma does not change what is read", "[train][loss_csv]") {
  const ScratchFolder folder;
  folder.write("loss.csv", "step,train_loss,val_loss\n1,2.5,\n");
  const ForeignLocale locale;
  const LossCsv csv = read_loss_csv(folder / "loss.csv");
  CHECK(csv.training.values == std::vector<double>{2.5});
}

TEST_CASE("the error of an invalid loss.csv contains file and line", "[train][loss_csv]") {
  const ScratchFolder folder;
  const std::string path = folder / "loss.csv";
  CHECK_THROWS_WITH(read_loss_csv(path), path + ": No such file or directory");
  folder.write("loss.csv", "");
  CHECK_THROWS_WITH(read_loss_csv(path), path + ": is empty; heed train --resume writes it again");
  folder.write("loss.csv", "step,loss\n");
  CHECK_THROWS_WITH(read_loss_csv(path), path + ": its first line has no column 'train_loss'");
  folder.write("loss.csv", "step,train_loss,val_loss\n1,2,\n2,two,\n");
  CHECK_THROWS_WITH(read_loss_csv(path), path + ":3: 'two' is not a number");
  folder.write("loss.csv", "step,train_loss,val_loss\n1,2\n");
  CHECK_THROWS_WITH(read_loss_csv(path), path + ":2: a cell is missing");
  for (const char* step : {"", "nan", "-inf"}) {
    folder.write("loss.csv", "step,train_loss,val_loss\n\n" + std::string(step) + ",2,\n");
    CHECK_THROWS_WITH(read_loss_csv(path), path + ":3: the step must be a finite number");
  }
}
