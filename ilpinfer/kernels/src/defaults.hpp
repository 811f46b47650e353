// Scores of steps as a number of each state plus one of each next state, and exceptions.
//
// A model with smoothing, or without weights for steps that it has not seen, gives most steps such a default score (Siddiqi and
// Moore 2005, "Fast inference and learning in large-state-space HMMs", where the default is a number of the state before).
#pragma once

#include <vector>

#include "grid.hpp"

namespace ilpinfer {

inline constexpr Int SLACK = UNITS_PER_NAT >> 14;  // a default score is at most 2 · SLACK too high: sums are rounded

// Default scores of the steps of one table, and exceptions: steps that score more, and all possible ones from states without
// default.
struct Defaults {
    std::vector<Int> out;      // (S,) of the state before, `FORBIDDEN` for none
    std::vector<Int> into;     // (S,) of the next state, `FORBIDDEN` for none
    std::vector<Int> begin;    // (S + 1,) the first exception of each state
    std::vector<Small> other;  // the next state of each exception

    bool empty() const { return out.empty(); }
};

// The defaults of the scores of steps (S, Bp) between any two states, of no states where exceptions are many.
Defaults defaults_of(View<const Int, 2> edge);

}  // namespace ilpinfer
