// layer_name.hpp: names the results of layers, for graphs and the debugger.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE::nn {

// Names the result of a layer by the layer's scope: the name of one of its parameters without the
// last `components` components. With 1, "blocks.0.attention.out.weight" gives
// "blocks.0.attention.out"; with 2, it gives "blocks.0.attention". A result without a graph stays
// unnamed, which saves time in generation, and so does the result of a layer outside any scope.
Tensor named_by_layer(Tensor result, const Tensor& parameter, std::size_t components = 1);

}  // namespace HEED_NAMESPACE::nn
