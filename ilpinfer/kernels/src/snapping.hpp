// Scores in nats as grid units.
#pragma once

#include "view.hpp"

namespace ilpinfer {

// Fill rows of grid units with chosen rows of nats, which are as wide; the largest size, or NaN where one is NaN or at least `most`.
template <typename Number>
double snap(View<const Number, 2> nats, ConstInts rows, double most, View<Int, 2> units);

// As `snap`, of the logarithms of the softmax of each row; the size of each number of nats counts, too.
template <typename Number>
double snap_softmax(View<const Number, 2> nats, ConstInts rows, double most, View<Int, 2> units);

}  // namespace ilpinfer
