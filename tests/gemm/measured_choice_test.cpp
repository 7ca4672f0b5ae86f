// measured_choice_test.cpp: the measured choice of libraries for matrix products, and its file.

#include "gemm/measured_choice.hpp"

#include <fstream>

#include "catch.hpp"
#include "gemm/speeds.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using heed_test::content;
using heed_test::only_file_in;
using heed_test::ScratchFolder;
using heed_test::speeds;

}  // namespace

TEST_CASE("the fastest library is chosen where it is 3 % faster than OpenBLAS", "[gemm]") {
  const GemmChoice choice = fastest(speeds());
  CHECK(choice.at(GemmForm::nn, GemmSize::small) == GemmLibrary::xsmm);
  CHECK(choice.at(GemmForm::nt, GemmSize::medium) == GemmLibrary::onednn);
  CHECK(choice.at(GemmForm::tn, GemmSize::medium) == GemmLibrary::openblas);
  CHECK(choice.at(GemmForm::tn, GemmSize::large) == GemmLibrary::openblas);
}

TEST_CASE("measured speeds are possible ones", "[gemm]") {
  for (const GemmSpeed& speed : measure_gemm())
    for (const GemmLibrary library : all_gemm_libraries) {
      const double gflops = speed.gflops[static_cast<std::size_t>(library)];
      INFO(name_of(library) << " " << gflops);
      if (is_installed(library)) CHECK((gflops > 0.001 && gflops < 1e5));
    }
}

TEST_CASE("the measured choice is stored and used again", "[gemm]") {
  const ScratchFolder scratch;
  const std::filesystem::path folder = scratch / "cache" / "heed";
  const GemmChoice measured = measured_choice(folder);
  const std::filesystem::path file = only_file_in(folder);
  const std::string stored = content(file);
  CHECK(stored.find("\n" + measured.text() + "\n") != std::string::npos);

  // Another choice in the file wins, if it was measured with the same processor and libraries.
  const std::string first_line = stored.substr(0, stored.find('\n') + 1);
  std::ofstream(file) << first_line << "openblas\n";
  CHECK(measured_choice(folder) == GemmChoice());
  std::ofstream(file) << "another processor\nopenblas\n";
  measured_choice(folder);
  CHECK(content(file).substr(0, first_line.size()) == first_line);
  std::ofstream(file) << first_line << "damaged\n";
  measured_choice(folder);
  CHECK(content(file).find("damaged") == std::string::npos);
}

TEST_CASE("without a folder that can be written the choice is OpenBLAS", "[gemm]") {
  const ScratchFolder scratch;
  std::ofstream(scratch / "file") << "not a folder";
  CHECK(measured_choice(scratch / "file" / "heed") == GemmChoice());
  CHECK(measured_choice("") == GemmChoice());
  CHECK(content(scratch / "file") == "not a folder");
}
