// An evolutionary algorithm over labellings.
//
// Offspring are evaluated only between the first change and the token where the machine states agree again.
// Steps that the lattice forbids count as hard violations.
#pragma once

#include "chain.hpp"
#include "joint_states.hpp"
#include "runs.hpp"

namespace ilpinfer {

// Labels, joint states of the machines, values and hard violations up to each token, and the last two in all.
struct IndividualArrays {
    View<Small, 2> label;  // (N, T)
    View<Small, 2> joint;  // (N, T)
    View<Int, 2> worth;    // (N, T)
    View<Int, 2> broken;   // (N, T)
    Ints total;            // (N,)
    Ints breaks;           // (N,)
};

// Numbers of the individuals of the population (μ,), and free numbers (λ,).
struct Population {
    Ints living, free;
};

// Mutation rate β, selection pressure s, shift rate ω; whether parents are ranked, and borders shift both
// ways.
struct Settings {
    double rate, pressure, shift;
    bool ranked, both;
};

// Weight of a hard violation at the start, grid units, and its growth each generation (eq. 67).
struct Weights {
    Int start, increase;
};

// Individuals, and how they change.
struct Breeding {
    Chain chain;
    MemoJoint machines;  // which count hard violations
    IndividualArrays individuals;
    Row<std::uint64_t> seed;
    Runs runs;
    Settings settings;
    Ints counts;  // (4,) generations and valuations so far, labellings recorded, and the best value

    // Evaluate an individual that has changed from `first` to `last`; false if there is no room for joint states.
    bool value(Int who, Int first, Int last) const;
    // Make individuals 1 to count - 1 by mutations of individual 0, and evaluate all; false if there is no room.
    bool begin(Int count, Int mutations) const;
};

// Draw n of those in `order`, worst first, by linear ranking and stochastic universal sampling (eq. 66).
void sample(ConstInts order, Int n, double pressure, Row<std::uint64_t> seed, Ints chosen);

// Run generations until the `last` one. Returns why it stopped: all generations are done (0), or there is no room for joint states or
// for labellings (1). Labellings that keep the hard rules are recorded, each better than the one before.
Int evolve(const Breeding& breeding, const Population& places, const Weights& weights, const Labellings<Small>& records,
           Int last);

}  // namespace ilpinfer
