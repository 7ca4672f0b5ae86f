// load_script.hpp: the Python programs that load an exported model with torch alone.
#pragma once

#include <string>

#include "heed/files/hugging_face.hpp"

namespace HEED_NAMESPACE::hugging_face {

// The text of load.py.
std::string load_script(ExportFormat format);

}  // namespace HEED_NAMESPACE::hugging_face
