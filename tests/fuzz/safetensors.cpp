// safetensors.cpp: fuzz test of read_safetensors, whose errors are one line.

#include "heed/files/safetensors.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static heed_fuzz::File input;
  try {
    const heed::SafetensorsFile file = heed::read_safetensors(input.holding(data, size));
    std::size_t bytes = 0;
    for (const heed::StoredTensor& tensor : file.tensors) {
      heed_fuzz::expect(tensor.data == file.data.get() + bytes, "the tensors are contiguous");
      bytes += tensor.bytes;
      if (tensor.dtype == "F32" || tensor.dtype == "F64") file.array(tensor.name);
    }
    heed_fuzz::expect(bytes < size, "the tensors are inside the file");
  } catch (const heed::Error& error) {
    heed_fuzz::expect_one_line(error);
  }
  return 0;
}
