// graph.hpp: the graph behind a tensor, as text and for Graphviz.
#pragma once

#include <string>

#include "heed/autograd/tensor.hpp"

namespace heed {

// One line a node, inputs first:
//   #2  MatMul  scores  (3, 3)  from #0 #1  lessons/05_query_key_value.cpp:41
std::string graph_text(const Tensor& output);

// The same in Graphviz's language: `dot -Tsvg graph.dot -o graph.svg` draws it.
std::string graph_dot(const Tensor& output);

}  // namespace heed
