// heed.hpp: includes the headers for building and training models: array, autograd, ops, nn, optim.
#pragma once

#if __has_include(<xtensor/io/xio.hpp>)  // xtensor 0.26 and later
#include <xtensor/io/xio.hpp>            // for std::cout << array
#else
#include <xtensor/xio.hpp>
#endif

#include "heed/array/array.hpp"
#include "heed/array/parallel.hpp"
#include "heed/array/random.hpp"
#include "heed/array/shape.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/autograd/record.hpp"
#include "heed/autograd/tensor.hpp"
#include "heed/base/error.hpp"
#include "heed/debug/gradcheck.hpp"
#include "heed/debug/graph.hpp"
#include "heed/debug/nan_check.hpp"
#include "heed/debug/provenance.hpp"
#include "heed/debug/timer.hpp"
#include "heed/debug/trace.hpp"
#include "heed/files/save.hpp"
#include "heed/nn/attention.hpp"
#include "heed/nn/encoder_decoder.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/nn/init.hpp"
#include "heed/nn/layers.hpp"
#include "heed/nn/parameters.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/rotary.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/optimizer.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/optim/sgd.hpp"
