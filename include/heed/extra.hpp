// extra.hpp: includes the headers of extra, more of PyTorch's operations, losses and layers.
#pragma once

#include "heed/extra/comparison.hpp"
#include "heed/extra/elementwise.hpp"
#include "heed/extra/indexing.hpp"
#include "heed/extra/losses.hpp"
#include "heed/extra/parameter_groups.hpp"
#include "heed/extra/recurrent.hpp"
#include "heed/extra/reductions.hpp"
#include "heed/extra/several_results.hpp"
