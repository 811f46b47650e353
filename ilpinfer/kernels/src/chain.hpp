// Scores of one sequence for searches, and the labellings that they record.
#pragma once

#include "grid.hpp"

namespace ilpinfer {

// T tokens with S states, B of which can follow each, without padding; grid units.
struct Chain {
    View<const Int, 2> node;  // (T, S)
    View<const Int, 3> pool;  // (P, S, B) scores of steps
    View<const Int, 1> step;  // (T - 1,) the entry of `pool` for each step
    View<const Int, 1> base;  // (S,) the state that the first step from each leads to

    Int size() const { return node.size(); }
    Int choices() const { return pool.shape(2); }
    // The state of the first choice for a token; `before` is read after the first token only.
    Int first_state(Int t, Int before) const { return t ? base[before] : 0; }
    // The score of a token and of the step into it.
    Int gain(Int t, Int before, Int choice, Int state) const
    {
        return node(t, state) + (t ? pool(step[t - 1], before, choice) : 0);
    }
};

// Room for N labellings: their values, the work done before each, and their states or labels.
template <typename Label>
struct Labellings {
    Ints values;           // (N,)
    Ints when;             // (N,)
    View<Label, 2> paths;  // (N, T)
};

}  // namespace ilpinfer
