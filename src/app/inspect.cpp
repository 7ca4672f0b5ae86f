// inspect.cpp: heed inspect: names, types and shapes of the tensors in a safetensors file.

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
    std::string shape;
    for (const std::size_t size : tensor.shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    std::cout << pad_right(tensor.dtype, 8) << ' ' << in_quotes(tensor.name) << " (" << shape << ")\n";
    bytes += tensor.bytes;
  }
  std::cout << file.tensors.size() << (file.tensors.size() == 1 ? " tensor, " : " tensors, ")
            << grouped(static_cast<double>(bytes)) << " bytes"
            << (file.has_checksum ? ", checksum right" : ", no checksum") << '\n';
  for (const auto& [key, value] : file.metadata)
    std::cout << in_quotes(key) << " = " << in_quotes(value) << '\n';
  return 0;
}

}  // namespace heed::app
