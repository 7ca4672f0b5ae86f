// main.cpp: heed train, heed sample, heed inspect.

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <new>

#include "heed/app/commands.hpp"
#include "heed/array/error.hpp"
#include "heed/array/matmul.hpp"

namespace {

int run(const heed::app::Command& command) {
  using namespace heed::app;
  if (const auto* train_command = std::get_if<TrainCommand>(&command)) return train(*train_command);
  if (const auto* sample_command = std::get_if<SampleCommand>(&command))
    return sample(*sample_command);
  if (const auto* file = std::get_if<InspectCommand>(&command)) return inspect(*file);
  std::cout << std::get<ShowText>(command).text;
  return 0;
}

// OpenBLAS chooses its kernels when it is loaded, so a better choice means starting again. If that
// cannot be done, the program goes on with the slow ones.
void restart_with_fast_blas(char** argv) {
  const char* const core = heed::better_blas_core();
  if (core == nullptr || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  setenv("OPENBLAS_CORETYPE", core, 1);
  execv("/proc/self/exe", argv);
}

int failed(int code, const std::string& text) {
  std::cerr << "heed: error: " << text << std::endl;
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_fast_blas(argv);
  try {
    return run(heed::app::parse_command_line(argc, argv));
  } catch (const heed::app::UsageError& error) {
    return failed(2, error.what());
  } catch (const std::bad_alloc&) {
    return failed(1, "out of memory; use a smaller model, batch or block");
  } catch (const std::exception& error) {
    return failed(1, error.what());
  }
}
