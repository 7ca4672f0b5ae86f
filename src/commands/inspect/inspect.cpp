// inspect.cpp: heed inspect, which lists the tensors and metadata of a safetensors file.

#include "commands/inspect/inspect.hpp"

#include <iostream>

#include "commands/run_folder.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/text.hpp"
#include "heed/files/safetensors.hpp"

namespace heed::app {

void declare_flags(Flags& flags, InspectCommand& c) {
  flags.positional("FILE", c.file, "a safetensors file, such as a checkpoint",
                   "a safetensors file");
  flags.example("./heed inspect runs/harbour");
  flags.example("./heed inspect gpt2/model.safetensors");
}

int run(const InspectCommand& command) {
  const SafetensorsFile file = read_safetensors(checkpoint_in(command.file));
  std::size_t bytes = 0;
  for (const StoredTensor& tensor : file.tensors) {
    const Shape shape(tensor.shape.begin(), tensor.shape.end());
    std::cout << pad_right(tensor.dtype, 8) << ' ' << in_quotes(tensor.name) << ' ' << str(shape)
              << '\n';
    bytes += tensor.bytes;
  }
  std::cout << counted(file.tensors.size(), "tensor") << ", " << counted(bytes, "byte")
            << (file.has_checksum ? ", checksum right" : ", no checksum") << '\n';
  for (const auto& [key, value] : file.metadata)
    std::cout << in_quotes(key) << " = " << in_quotes(value) << '\n';
  return 0;
}

}  // namespace heed::app
