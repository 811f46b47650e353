// The backward recursion over states, from the last token to the first, so that the first of equal labellings by label ids is
// found.
#pragma once

#include "instance.hpp"

namespace ilpinfer {

// Best values after a state at each token, (T, W), the same with the token's own score, and the best value of all.
struct Completion {
    View<Int, 2> after;
    View<Int, 2> tail;
    Int total;
};

inline Int best_of(ConstInts tail, Int count)
{
    return std::max(FORBIDDEN, count ? *std::max_element(tail.data(), tail.data() + count) : FORBIDDEN);
}

// Fill `out` with the best values of some states by the tails (W,) after them, four states at a time to save memory access.
void step_back(const Scores& scores, Int edge, ConstInts tail, Ints out, ConstInts states);

// The best value of a labelling, `FORBIDDEN` where there is none; fills both arrays.
void complete(const Scores& scores, const Sequence& sequence, Completion& completion);

// Fill path (T,) with the first labelling of the best value, which is not forbidden.
void trace(const Scores& scores, ConstInts edges, const Completion& completion, Ints path);

// Forbid the states of an emission (T, S) through which no labelling reaches the floor by its scores; the number that is left.
// The best score up to a state and the best score after it add up to its max-marginal.
Int prune(const Scores& scores, View<Int, 2> emission, ConstInts edges, View<const Int, 2> after, Int floor);

}  // namespace ilpinfer
