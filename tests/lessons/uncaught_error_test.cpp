// uncaught_error_test.cpp: how a lesson ends whose error is not caught.

#include "lessons/programs.hpp"

using heed_test::run_in;

TEST_CASE("a lesson with an uncaught error ends with exit code 1, after its output", "[lessons]") {
  const heed_test::ScratchFolder scratch;
  const heed_test::LessonRun run =
      run_in(scratch.path.string(), HEED_BINARY_DIR "/tests/heed_uncaught_error");
  CHECK(run.output == "before\n");
  CHECK(run.exit_code == 1);
}
