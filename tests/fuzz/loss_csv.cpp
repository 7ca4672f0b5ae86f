// loss_csv.cpp: fuzz test of read_loss_csv, whose errors are one line.

#include "commands/train/loss_curve.hpp"
#include "fuzz.hpp"
#include "heed/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static heed_fuzz::File input;
  static std::size_t count = 0;
  const std::string& path = input.holding(data, size);
  try {
    const heed::LossCsv csv = heed::read_loss_csv(path);
    if (++count % 32 == 0)
      heed::curve_text(heed::app::loss_series(csv), {});  // slow, so not for every input
  } catch (const heed::Error& error) {
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
