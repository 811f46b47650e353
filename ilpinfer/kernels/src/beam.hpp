// Beam search over labels and machine states, a stretch of tokens at a time.
#pragma once

#include "chain.hpp"
#include "joint_states.hpp"

namespace ilpinfer {

// Prefixes, W of them at most.
struct Beam {
    Ints score;              // (W,)
    View<Small, 2> states;   // (W, J + 1) the joint state of the machines, then the state of the lattice
    View<Small, 2> nodes;    // (T, W) the states of the prefixes of each token
    View<Small, 2> parents;  // (T, W)
    Ints size;               // (1,) number of prefixes
    Ints left_out;           // (1,) an upper bound on the labellings of all prefixes that were dropped
};

// Extend the beam over the tokens from `first` to before `last`, keeping at most `copies` prefixes with the
// same future, by the best scores after each state (T, S). The best W prefixes are kept, in the order of
// their label ids; of equal ones, the first.
void beam_advance(const Chain& chain, View<const Int, 2> completion, const Rules& rules, const Beam& beam,
                  Int copies, Int first, Int last);

// Subtract the final costs of the machines; prefixes that break a hard rule become forbidden.
void beam_finish(const Rules& rules, const Beam& beam);

}  // namespace ilpinfer
