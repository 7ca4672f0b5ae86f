// library_version.cpp: the versions of the libraries for matrix products.

#include "gemm/library_version.hpp"

#include <dlfcn.h>
#ifdef HEED_WITH_XSMM
#include <libxsmm.h>
#endif

#include "heed/array/blas.hpp"

namespace HEED_NAMESPACE {

static std::string xsmm_version() {
#ifdef HEED_WITH_XSMM
  return LIBXSMM_VERSION;
#else
  return "";
#endif
}

static std::string xsmm_instructions() {
#ifdef HEED_WITH_XSMM
  return libxsmm_get_target_arch();
#else
  return "";
#endif
}

// The function of oneDNN, which has no parameters; nullptr if oneDNN is not installed.
template <class Result>
static auto onednn_function(const char* name) {
  using Function = Result();
  for (const char* file : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.3.dylib"})
    if (void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL))
      if (void* const function = dlsym(library, name)) return reinterpret_cast<Function*>(function);
  return static_cast<Function*>(nullptr);
}

static std::string onednn_version() {
  struct Version {  // the first members of dnnl_version_t
    int major, minor, patch;
  };
  const auto version = onednn_function<const Version*>("dnnl_version");
  if (version == nullptr) return "";
  const Version& v = *version();
  return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch);
}

static std::string onednn_instructions() {
  const auto isa = onednn_function<int>("dnnl_get_effective_cpu_isa");
  constexpr int avx512 = 0x20, avx2 = 0x4;  // bits of dnnl_cpu_isa_t
  const int bits = isa == nullptr ? 0 : isa();
  return (bits & avx512) != 0 ? "AVX-512" : (bits & avx2) != 0 ? "AVX2" : "";
}

std::string name_and_version(GemmLibrary library) {
  const std::string version = library == GemmLibrary::openblas ? blas_name()
                              : library == GemmLibrary::xsmm   ? xsmm_version()
                                                               : onednn_version();
  return std::string(name_of(library)) + " " + version;
}

std::string instructions_of(GemmLibrary library) {
  if (library == GemmLibrary::openblas) return "";
  return library == GemmLibrary::xsmm ? xsmm_instructions() : onednn_instructions();
}

}  // namespace HEED_NAMESPACE
