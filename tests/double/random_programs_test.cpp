// random_programs_test.cpp: random programs of operations against PyTorch's results, in double.

#include "golden/random_programs.hpp"

#include "python.hpp"

TEST_CASE("random programs have PyTorch's results and gradients, and its rejections",
          "[random_programs]") {
  golden::check_random_programs();
}

TEST_CASE("the script draws programs on which heed and the installed PyTorch agree", "[torch]") {
  const std::string program = heed_test::python_with_torch();
  if (program.empty()) return;
  const std::string seed = "1";  // give the script other seeds by hand
  const heed_test::Finished script =
      heed_test::python(program,
                        {"random_programs.py", "--count", "5", "--seed", seed, "--tests",
                         HEED_BINARY_DIR "/tests/heed_double_tests"},
                        HEED_TESTS_DIR "/golden");
  INFO(script.out << script.err);
  CHECK(script.code == 0);
  CHECK(script.out == "5 programs, 0 differences\n");
}
