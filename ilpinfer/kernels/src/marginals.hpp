// Forward and backward sums over the product of a lattice with its rules' machines.
//
// Sums over labels are computed in plain numbers, scaled by the largest term. A sum so small that terms may
// have been lost is computed again in logarithms.
#pragma once

#include "expansion.hpp"

namespace ilpinfer {

// Scores in nats.
struct Nats {
    View<const double, 2> node;     // (T, K)
    View<const double, 3> pool;     // (P, K, K)
    View<const double, 3> scaled;   // (P, K, K) exp(pool - largest)
    View<const double, 2> largest;  // (P, K) the maximum of each row, or 0 for -inf
};

// A product, with what its steps read and score.
struct Lattice {
    Expansion product;
    Readings readings;
    Groups groups;
    Nats scores;
};

// Fill tail (V, K): log sum of all suffixes from a vector and label on, their own scores included. Each token
// is shifted by a number on the grid. Returns the logarithm of the whole sum, -inf for none.
double backward(const Lattice& lattice, View<double, 2> tail);

// What `forward` fills with probabilities.
struct Shares {
    View<double, 2> labels;  // (T, K)
    View<double, 3> edges;   // (T-1, K, K), unless empty
    Row<double> mass;        // (A,) of arcs
    Row<double> ended;       // (V,) of last vectors
};

// Fill the probabilities, from the log sums of `backward`.
void forward(const Lattice& lattice, View<double, 2> tail, const Shares& shares);

// Fill ids (n, T) with labellings drawn token by token, from numbers uniform (n, T) in [0, 1).
void draw(const Lattice& lattice, View<double, 2> tail, View<const double, 2> uniform, View<Int, 2> ids);

}  // namespace ilpinfer
