// loss_csv.cpp: any text is a table of losses or refused in one line.

#include "heed/report/loss_csv.hpp"

#include "fuzz.hpp"
#include "heed/array/error.hpp"
#include "heed/report/curve.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static heed_fuzz::File input;
  static std::size_t count = 0;
  const std::string& path = input.holding(data, size);
  try {
    const heed::LossCsv csv = heed::read_loss_csv(path);
    if (++count % 32 == 0) heed::curve_text({csv.training, csv.validation}, {});  // takes long
  } catch (const heed::Error& error) {
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
