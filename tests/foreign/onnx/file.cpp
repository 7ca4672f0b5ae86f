// file.cpp: reads models and tensors of ONNX's test suite (onnx.proto names the field numbers).

#include "foreign/onnx/file.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

namespace heed_test::onnx {
namespace {

// ---- Protocol Buffers: fields of a number and, by wire type, an integer, 4 or 8 bytes, or a text

struct Field {
  unsigned number, wire;
  std::uint64_t integer;  // wire types 0, 1 and 5
  std::string_view text;  // wire type 2
};

std::uint64_t read_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) break;
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("a varint without end");
}

std::string_view take(std::string_view& bytes, std::size_t count) {
  if (count > bytes.size()) throw std::runtime_error("a field beyond the end of the file");
  const std::string_view taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void for_each_field(std::string_view message, const std::function<void(const Field&)>& read) {
  while (!message.empty()) {
    const std::uint64_t key = read_varint(message);
    Field field{static_cast<unsigned>(key >> 3), static_cast<unsigned>(key & 7), 0, {}};
    if (field.wire == 0)
      field.integer = read_varint(message);
    else if (field.wire == 1 || field.wire == 5)
      field.integer = little_endian(take(message, field.wire == 1 ? 8 : 4));
    else if (field.wire == 2)
      field.text = take(message, read_varint(message));
    else
      throw std::runtime_error("an unknown wire type");
    read(field);
  }
}

double real32(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof value);
  return static_cast<double>(value);
}

double real64(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double half(std::uint64_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1, fraction = static_cast<double>(bits & 0x3ff);
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1 + fraction / 1024, exponent - 15);
}

double signed_integer(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits));
}

// The integers of a field that is packed (a text of varints) or not (one varint).
void append_integers(const Field& field, std::vector<double>& list) {
  if (field.wire == 0) return list.push_back(signed_integer(field.integer));
  for (std::string_view text = field.text; !text.empty();)
    list.push_back(signed_integer(read_varint(text)));
}

// The same for numbers of `width` bytes.
void append_numbers(const Field& field, std::size_t width, double (*number)(std::uint64_t),
                    std::vector<double>& list) {
  if (field.wire != 2) return list.push_back(number(field.integer));
  for (std::string_view text = field.text; !text.empty();)
    list.push_back(number(little_endian(take(text, width))));
}

// ---- ONNX's messages

void append_raw(std::string_view bytes, Value& value) {
  const auto append = [&](std::size_t width, double (*number)(std::uint64_t)) {
    while (!bytes.empty()) value.elements.push_back(number(little_endian(take(bytes, width))));
  };
  switch (value.type) {
    case Type::real:
      return append(4, real32);
    case Type::real64:
      return append(8, real64);
    case Type::half:
      return append(2, half);
    case Type::int64:
      return append(8, signed_integer);
    case Type::int32:
      return append(4, [](std::uint64_t bits) {
        return static_cast<double>(static_cast<std::int32_t>(bits));
      });
    case Type::int8:
      return append(1, [](std::uint64_t bits) {
        return static_cast<double>(static_cast<std::int8_t>(bits));
      });
    case Type::boolean:
      return append(1, signed_integer);
  }
}

Type type_of(std::uint64_t type) {
  switch (type) {
    case 1:
    case 3:
    case 6:
    case 7:
    case 9:
    case 10:
    case 11:
      return static_cast<Type>(type);
    default:
      throw NotExpressible("elements of ONNX's type " + std::to_string(type));
  }
}

Value read_tensor_message(std::string_view message) {
  Value value;
  std::string_view raw;
  for_each_field(message, [&](const Field& field) {
    if (field.number == 1) {
      std::vector<double> dims;
      append_integers(field, dims);
      for (const double size : dims) value.shape.push_back(static_cast<std::size_t>(size));
    } else if (field.number == 2) {
      value.type = type_of(field.integer);
    } else if (field.number == 4) {
      append_numbers(field, 4, real32, value.elements);
    } else if (field.number == 5 || field.number == 7) {
      append_integers(field, value.elements);
    } else if (field.number == 9) {
      raw = field.text;
    } else if (field.number == 10) {
      append_numbers(field, 8, real64, value.elements);
    }
  });
  if (value.type == Type::half && raw.empty())
    for (double& element : value.elements) element = half(static_cast<std::uint64_t>(element));
  append_raw(raw, value);
  std::size_t size = 1;
  for (const std::size_t axis : value.shape) size *= axis;
  if (size != value.elements.size()) throw std::runtime_error("a tensor without all its elements");
  return value;
}

std::pair<std::string, Attribute> read_attribute(std::string_view message) {
  std::string name;
  Attribute attribute;
  for_each_field(message, [&](const Field& field) {
    if (field.number == 1) name = field.text;
    if (field.number == 2) attribute.number = real32(field.integer);
    if (field.number == 3) attribute.number = signed_integer(field.integer);
    if (field.number == 4) attribute.text = field.text;
    if (field.number == 5) attribute.tensor = read_tensor_message(field.text);
    if (field.number == 6) attribute.has_graph = true;
    if (field.number == 7) append_numbers(field, 4, real32, attribute.numbers);
    if (field.number == 8) append_integers(field, attribute.numbers);
  });
  return {name, attribute};
}

Node read_node(std::string_view message) {
  Node node;
  for_each_field(message, [&](const Field& field) {
    if (field.number == 1) node.inputs.emplace_back(field.text);
    if (field.number == 2) node.outputs.emplace_back(field.text);
    if (field.number == 4) node.op = field.text;
    if (field.number == 5) node.attributes.insert(read_attribute(field.text));
  });
  return node;
}

// The field 1 of a message, its name.
std::string name_in(std::string_view message) {
  std::string name;
  for_each_field(message, [&](const Field& field) {
    if (field.number == 1) name = field.text;
  });
  return name;
}

// The name of an input. Throws NotExpressible for a sequence or an optional value.
std::string name_of_input(std::string_view message) {
  for_each_field(message, [](const Field& field) {
    if (field.number != 2) return;
    for_each_field(field.text, [](const Field& type) {
      if (type.number != 1) throw NotExpressible("sequences and optional values");
    });
  });
  return name_in(message);
}

// The name of an initializer, which is field 8 of its tensor.
std::string name_of_tensor(std::string_view message) {
  std::string name;
  for_each_field(message, [&](const Field& field) {
    if (field.number == 8) name = field.text;
  });
  return name;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

double Node::number(const std::string& name, double otherwise) const {
  return has(name) ? attributes.at(name).number : otherwise;
}

int Node::integer(const std::string& name, int otherwise) const {
  return static_cast<int>(number(name, otherwise));
}

std::string Node::text(const std::string& name, const std::string& otherwise) const {
  return has(name) ? attributes.at(name).text : otherwise;
}

std::vector<int> Node::integers(const std::string& name) const {
  std::vector<int> list;
  if (has(name))
    for (const double number : attributes.at(name).numbers)
      list.push_back(static_cast<int>(number));
  return list;
}

Graph read_model(const std::filesystem::path& path) {
  const std::string bytes = content(path);
  Graph graph;
  for_each_field(bytes, [&](const Field& model) {
    if (model.number != 7) return;
    for_each_field(model.text, [&](const Field& field) {
      if (field.number == 1) graph.nodes.push_back(read_node(field.text));
      if (field.number == 5)
        graph.constants[name_of_tensor(field.text)] = read_tensor_message(field.text);
      if (field.number == 11) graph.inputs.push_back(name_of_input(field.text));
      if (field.number == 12) graph.outputs.push_back(name_in(field.text));
    });
  });
  return graph;
}

Value read_tensor(const std::filesystem::path& path) { return read_tensor_message(content(path)); }

}  // namespace heed_test::onnx
