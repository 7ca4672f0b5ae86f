// inspect.cpp: heed inspect, which lists the tensors and metadata of a safetensors file.

#include <iostream>

#include "heed/app/commands.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/base/text.hpp"
#include "heed/io/safetensors.hpp"

namespace heed::app {

int inspect(const InspectCommand& command) {
  const SafetensorsFile file = read_safetensors(checkpoint_in(command.file));
  std::size_t bytes = 0;
  for (const StoredTensor& tensor : file.tensors) {
    std::vector<std::string> sizes;
    for (const std::size_t size : tensor.shape) sizes.push_back(std::to_string(size));
    std::cout << pad_right(tensor.dtype, 8) << ' ' << in_quotes(tensor.name) << " ("
              << joined(sizes, ", ") << ")\n";
    bytes += tensor.bytes;
  }
  std::cout << counted(file.tensors.size(), "tensor") << ", " << counted(bytes, "byte")
            << (file.has_checksum ? ", checksum right" : ", no checksum") << '\n';
  for (const auto& [key, value] : file.metadata)
    std::cout << in_quotes(key) << " = " << in_quotes(value) << '\n';
  return 0;
}

}  // namespace heed::app
