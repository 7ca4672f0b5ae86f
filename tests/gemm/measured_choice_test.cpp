// measured_choice_test.cpp: the measured choice of libraries for matrix products, and its file.

#include "gemm/measured_choice.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "catch.hpp"
#include "commands/child.hpp"
#include "gemm/library_version.hpp"
#include "gemm/speeds.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using heed_test::content;
using heed_test::only_file_in;
using heed_test::ScratchFolder;
using heed_test::speeds;

}  // namespace

TEST_CASE("LIBXSMM is chosen if it takes 0.97 of the time, and oneDNN if it takes 0.9", "[gemm]") {
  const GemmChoice choice = fastest(speeds());
  CHECK(choice.at(GemmForm::nn, GemmSize::small) == GemmLibrary::xsmm);
  CHECK(choice.at(GemmForm::nt, GemmSize::medium) == GemmLibrary::onednn);
  CHECK(choice.at(GemmForm::tn, GemmSize::medium) == GemmLibrary::openblas);
  CHECK(choice.at(GemmForm::tn, GemmSize::large) == GemmLibrary::openblas);
  const auto chosen = [](double xsmm, double onednn) {  // beside OpenBLAS with 100 GFLOP/s
    return fastest({{GemmForm::nn, 32, 64, 32, {100, xsmm, onednn}}})
        .at(GemmForm::nn, GemmSize::small);
  };
  CHECK(chosen(102, 0) == GemmLibrary::openblas);
  CHECK(chosen(104, 0) == GemmLibrary::xsmm);
  CHECK(chosen(90, 110) == GemmLibrary::openblas);
  CHECK(chosen(90, 112) == GemmLibrary::onednn);
  CHECK(chosen(104, 114) == GemmLibrary::xsmm);
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
  const std::size_t first_end = stored.find('\n') + 1,
                    second_end = stored.find('\n', first_end) + 1;
  const std::string machine = stored.substr(0, first_end),
                    measured_with = stored.substr(0, second_end);
  std::ofstream(file) << measured_with << "openblas\n";
  CHECK(measured_choice(folder) == GemmChoice());
  std::ofstream(file) << "another processor\n\nopenblas\n";
  measured_choice(folder);
  CHECK(content(file).substr(0, second_end) == measured_with);
  std::ofstream(file) << measured_with << "damaged\n";
  measured_choice(folder);
  CHECK(content(file).find("damaged") == std::string::npos);

  // A new library, or another version of a chosen one, is measured. (Each measurement takes long.)
  for (const GemmLibrary library : {GemmLibrary::xsmm, GemmLibrary::onednn})
    if (is_installed(library))
      CHECK(measured_with.find(name_and_version(library) + "; ") != std::string::npos);
  if (!is_installed(GemmLibrary::onednn)) return;
  std::ofstream(file) << machine << "xsmm; \nopenblas\n";
  measured_choice(folder);
  CHECK(content(file).substr(0, second_end) == measured_with);
  std::ofstream(file) << machine << "xsmm; onednn 0.1; \nonednn\n";
  measured_choice(folder);
  CHECK(content(file).substr(0, second_end) == measured_with);
}

#if defined(__linux__)
// Hidden: the next test runs this one in a process of its own.
TEST_CASE("a stored choice of OpenBLAS is read", "[gemm][.][stored_openblas]") {
  CHECK(measured_choice(std::getenv("STORED_CHOICE")) == GemmChoice());
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  CHECK(text.find("libopenblas") != text.npos);
  CHECK(text.find("libdnnl") == text.npos);
}

TEST_CASE("oneDNN is not loaded if the stored choice does not use it", "[gemm]") {
  const ScratchFolder scratch;
  measured_choice(scratch.path);  // writes the file
  const std::filesystem::path file = only_file_in(scratch.path);
  const std::string stored = content(file);
  const std::size_t second_end = stored.find('\n', stored.find('\n') + 1) + 1;
  std::ofstream(file) << stored.substr(0, second_end) << "openblas\n";
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  heed_test::Call call{{self.string(), "[stored_openblas]"}, self.parent_path(), ""};
  call.environment["STORED_CHOICE"] = scratch.path.string();
  const heed_test::Finished child = heed_test::run(call);
  INFO(child.out);
  CHECK(child.code == 0);
  CHECK(child.out.find("No tests ran") == child.out.npos);
}
#endif

TEST_CASE("without a folder that can be written the choice is OpenBLAS", "[gemm]") {
  const ScratchFolder scratch;
  std::ofstream(scratch / "file") << "not a folder";
  CHECK(measured_choice(scratch / "file" / "heed") == GemmChoice());
  CHECK(measured_choice("") == GemmChoice());
  CHECK(content(scratch / "file") == "not a folder");
}
