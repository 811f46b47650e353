// Labellings that a search records.
#pragma once

#include "view.hpp"

namespace ilpinfer {

// Room for N labellings: their values, the work done before each, and their states or labels.
template <typename Label>
struct Labellings {
    Ints values;           // (N,)
    Ints when;             // (N,)
    View<Label, 2> paths;  // (N, T)
};

}  // namespace ilpinfer
