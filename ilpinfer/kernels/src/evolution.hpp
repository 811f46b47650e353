// An evolutionary algorithm over labellings.
//
// Offspring are evaluated only between the first change and the token where the machine states agree again.
// Steps that the lattice forbids count as hard violations.
#pragma once

#include "chain.hpp"
#include "joint_states.hpp"
#include "labellings.hpp"
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

// Evaluate an individual that has changed from `first` to `last`; false where there is no room for joint
// states. Counts (4,) are generations and valuations so far, labellings recorded, and the best value.
bool value_individual(const Chain& chain, const MemoJoint& machines, const IndividualArrays& individuals,
                      Int who, Int first, Int last, Ints counts);

// Draw n of those in `order`, worst first, by linear ranking and stochastic universal sampling (eq. 66).
void sample(ConstInts order, Int n, double pressure, Row<std::uint64_t> seed, Ints chosen);

// Make individuals 1 to before `count` by mutations of individual 0, and evaluate all; false where there is
// no room.
bool begin_population(const Chain& chain, const MemoJoint& machines, const IndividualArrays& individuals,
                      Int count, Int mutations, Row<std::uint64_t> seed, const Runs& runs,
                      const Settings& settings, Ints counts);

// Run generations until the `last` one; the machines count hard violations. Why it has stopped: all
// generations are done (0), or there is no room for joint states or for labellings (1). Labellings that keep
// the hard rules are recorded, each better than the one before.
Int evolve(const Chain& chain, const MemoJoint& machines, const IndividualArrays& individuals,
           const Population& places, Row<std::uint64_t> seed, const Runs& runs, const Settings& settings,
           const Weights& weights, const Labellings<Small>& records, Ints counts, Int last);

}  // namespace ilpinfer
