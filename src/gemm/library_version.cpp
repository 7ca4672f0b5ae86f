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

static std::string onednn_version() {
  struct Version {  // the first members of dnnl_version_t
    int major, minor, patch;
  };
  for (const char* file : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.3.dylib"})
    if (void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL))
      if (void* const function = dlsym(library, "dnnl_version")) {
        const Version& v = *reinterpret_cast<const Version* (*)()>(function)();
        return std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
               std::to_string(v.patch);
      }
  return "";
}

std::string name_and_version(GemmLibrary library) {
  const std::string version = library == GemmLibrary::openblas ? blas_name()
                              : library == GemmLibrary::xsmm   ? xsmm_version()
                                                               : onednn_version();
  return std::string(name_of(library)) + " " + version;
}

}  // namespace HEED_NAMESPACE
