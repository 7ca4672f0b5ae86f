// measured_choice.cpp: measures the libraries for matrix products, and keeps the choice in a file.

#include "gemm/measured_choice.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/hash.hpp"
#include "base/instructions.hpp"
#include "base/machine.hpp"
#include "gemm/library_version.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

using Clock = std::chrono::steady_clock;

// Factors that are stored as the form says: a is (m, k) and b is (k, n) after transposing.
struct Factors {
  Array a_buffer, b_buffer, c_buffer;
  MatrixView a, b;
  MatrixRef<Real> c;

  Factors(GemmForm form, std::size_t m, std::size_t n, std::size_t k)
      : a_buffer(zeros({m, k}) + Real{0.5}),
        b_buffer(zeros({k, n}) + Real{0.25}),
        c_buffer(zeros({m, n})),
        a{a_buffer.data(), m, k, k},
        b{b_buffer.data(), k, n, n},
        c{c_buffer.data(), m, n, n} {
    if (form == GemmForm::tn) a = MatrixView{a_buffer.data(), k, m, m}.transposed();
    if (form == GemmForm::nt) b = MatrixView{b_buffer.data(), n, k, k}.transposed();
  }
};

double seconds_of(GemmLibrary library, const Factors& x, int repetitions) {
  const auto start = Clock::now();
  for (int i = 0; i < repetitions; ++i) gemm_by(library, x.a, x.b, x.c);
  return std::chrono::duration<double>(Clock::now() - start).count() / repetitions;
}

// Each library takes its turn in each of several rounds; its fastest round counts.
GemmSpeed measured(GemmForm form, std::size_t m, std::size_t n, std::size_t k) {
  const Factors factors(form, m, n, k);
  const double flop = 2.0 * static_cast<double>(m * n * k);
  const int repetitions = std::max(1, static_cast<int>(3e7 / flop));  // 0.5 ms at 60 GFLOP/s
  GemmSpeed speed{form, m, n, k, {}};
  for (int round = 0; round < 6; ++round)
    for (const GemmLibrary library : all_gemm_libraries) {
      if (!is_installed(library)) continue;
      const double seconds = seconds_of(library, factors, repetitions);
      double& best = speed.gflops[static_cast<std::size_t>(library)];
      if (round > 0) best = std::max(best, flop / seconds * 1e-9);
    }
  return speed;
}

// The seconds that a library takes for all measured products of the form and size.
double total_seconds(const std::vector<GemmSpeed>& speeds, GemmForm form, GemmSize size,
                     std::size_t library) {
  double seconds = 0;
  for (const GemmSpeed& each : speeds)
    if (each.form == form && each.size() == size)
      seconds += 2e-9 * static_cast<double>(each.m * each.n * each.k) / each.gflops[library];
  return seconds;
}

// Identifies the processor, the OpenBLAS and the HEED_ISA with which a choice was measured. The
// number of threads does not matter: each product is measured on one thread, and results must not
// depend on it.
std::string machine() {
  const std::string isa = isa_setting();
  return "heed 5; " + processor_name() + "; " + name_and_version(GemmLibrary::openblas) +
         (isa.empty() ? "" : "; HEED_ISA " + isa);
}

// Each processor has a file of its own, because several machines may share a home folder.
std::filesystem::path file_in(const std::filesystem::path& folder) {
  return folder / ("gemm-" + hexadecimal("%016llx", hash64(machine())));
}

// The other libraries that are installed, with their versions: "xsmm 1.17; onednn 2.6.3; ".
std::string other_libraries() {
  std::string text;
  for (const GemmLibrary library : {GemmLibrary::xsmm, GemmLibrary::onednn})
    if (is_installed(library)) text += name_and_version(library) + "; ";
  return text;
}

// Whether a choice from measurements of the libraries in the text still holds. It does not load a
// library that was measured but not chosen, so that programs start faster.
bool is_current(const std::string& measured, const GemmChoice& choice) {
  const auto holds = [&](GemmLibrary library) {
    const bool was_measured = measured.find(name_of(library)) != measured.npos;
    if (!uses(choice, library)) return was_measured || !is_installed(library);
    return is_installed(library) &&
           measured.find(name_and_version(library) + "; ") != measured.npos;
  };
  return holds(GemmLibrary::xsmm) && holds(GemmLibrary::onednn);
}

// The choice in the file, if it was measured with the same processor and libraries.
std::optional<GemmChoice> stored_choice(const std::filesystem::path& file) {
  constexpr std::size_t most_bytes = 10'000;
  try {
    const InputFile input(file);
    if (input.size() > most_bytes) return {};
    const std::vector<std::string> lines = lines_of(input.read_to_end());
    if (lines.size() < 3 || lines[0] != machine()) return {};
    const GemmChoice choice = GemmChoice::parse(lines[2]);
    return is_current(lines[1], choice) ? std::optional(choice) : std::nullopt;
  } catch (const Error&) {
    return {};  // no file, or a damaged one
  }
}

// A lock of a folder, which one process at a time can hold: the constructor waits for others.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder)
      : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    flock(descriptor_, LOCK_EX);
  }
  ~FolderLock() { close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

GemmSize GemmSpeed::size() const { return size_of({nullptr, m, k, k}, {nullptr, k, n, n}); }

std::vector<GemmSpeed> measure_gemm() {
  struct Sizes {
    std::size_t m, n, k;
  };
  std::vector<GemmSpeed> speeds;
  for (const GemmForm form : all_gemm_forms) {
    // Eight rows in layers of width 128; attention in blocks of 32 queries; a narrow model; linear
    // layers of width 128; large ones.
    for (const Sizes& s : {Sizes{8, 128, 128},
                           {8, 512, 128},
                           {8, 128, 512},
                           {32, 64, 32},
                           {32, 32, 64},
                           {256, 32, 32},
                           {768, 128, 128},
                           {768, 512, 128},
                           {768, 128, 512},
                           {1024, 1024, 512}})
      if (form != GemmForm::tn)
        speeds.push_back(measured(form, s.m, s.n, s.k));
      else if (s.m > 8)  // dW = dy^T x sums over the rows of the batch: the long axis is k
        speeds.push_back(measured(form, s.n, s.k, s.m));
  }
  return speeds;
}

GemmChoice fastest(const std::vector<GemmSpeed>& speeds) {
  // A library's largest time, as a fraction of that of the one that is chosen so far.
  constexpr std::array<double, all_gemm_libraries.size()> needed{1, 0.97, 0.9};
  GemmChoice choice;
  for (const GemmForm form : all_gemm_forms)
    for (const GemmSize size : all_gemm_sizes) {
      double best = total_seconds(speeds, form, size, 0);
      for (std::size_t i = 1; i < all_gemm_libraries.size(); ++i) {
        const double seconds = total_seconds(speeds, form, size, i);
        if (!(seconds < needed[i] * best)) continue;  // infinite for one that is not installed
        best = seconds;
        choice.at(form, size) = all_gemm_libraries[i];
      }
    }
  return choice;
}

bool uses(const GemmChoice& choice, GemmLibrary library) {
  for (const GemmForm form : all_gemm_forms)
    for (const GemmSize size : all_gemm_sizes)
      if (choice.at(form, size) == library) return true;
  return false;
}

std::filesystem::path cache_folder() {
  const auto absolute = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? std::filesystem::path(value)
                                               : std::filesystem::path();
  };
  if (const auto cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache / "heed";
  const auto home = absolute("HOME");
  return home.empty() ? home : home / ".cache" / "heed";
}

GemmChoice measured_choice(const std::filesystem::path& folder) {
  if (folder.empty()) return GemmChoice();
  const std::filesystem::path file = file_in(folder);
  if (const auto stored = stored_choice(file)) return *stored;
  try {
    std::filesystem::create_directories(folder);
    const FolderLock lock(folder);
    if (const auto stored = stored_choice(file)) return *stored;  // written by another process
    AtomicFile written(file);
    const GemmChoice choice = fastest(measure_gemm());
    const std::string content = machine() + "\n" + other_libraries() + "\n" + choice.text() + "\n";
    written.write(content.data(), content.size());
    written.commit();
    return choice;
  } catch (const std::exception&) {
    return GemmChoice();  // because the folder cannot be written
  }
}

}  // namespace HEED_NAMESPACE
