// The best values of what follows each state, and each joint state of machines. The recursion is backward, so that the first of equal
// labellings by label ids is found.
#pragma once

#include <functional>

#include "joint.hpp"

namespace ilpinfer {

// Best values after a state at each token, (T, W), the same with the token's own score, and the best value of all.
struct Completion {
    View<Int, 2> after;
    View<Int, 2> tail;
    Int total;
};

// The recursion over Q joint states: row t · Q + q of `after` (T · Q, W) is the completion after joint state q.
//
// The first T rows of the tails are the states' own scores. Row T + t · Q + q is for the best values from q on; `enter_all` fills
// it when a search first reads it, and it begins with `UNFILLED` until then. Where the joint automaton reads the state before,
// there is row T alone, for one joint state at a time.
struct JointCompletion {
    Array<Int, 2> after;
    Array<Int, 2> tail;
    Int total;
};

inline constexpr Int UNFILLED = HARD;  // the first entry of a tail that is not filled yet
inline constexpr int COARSE = 12;      // the least unit of 16-bit losses, as a power of 2

// Infinity of loss arithmetic: two of them add without overflow. Losses of other steps, and of what follows them, are cut at half of it.
template <typename Loss>
inline constexpr Int LOST = sizeof(Loss) == 4 ? (Int{1} << 30) - 1 : (Int{1} << 14) - 1;

// Compute the best value of a labelling, `FORBIDDEN` if there is none, and fill both arrays. `done` is called after each token,
// from the last one on; until then, the row of its tail has its own scores, and may be changed.
void complete(const Scores& scores, const Sequence& sequence, Completion& completion,
              const std::function<void(Int)>& done = {});

// Fill best (S,) with the best scores of the steps into each state at token t, from scores `reach` (S,) up to the states before.
void enter_states(const Scores& scores, ConstInts edges, Int t, ConstInts reach, Ints best);

// The completion of a joint state after a label is `FORBIDDEN` if the label never leads to the joint state. Completions are too
// high where they are below those without machines by more than half of `LOST`. If `least`, the least value wanted, is close to
// the best value without machines, losses have 16 bits: values below `least` are too high, and others are rounded upwards. `bare` is
// the recursion without the joint automaton; `total` is a bound on the best value.
JointCompletion complete_jointly(const Scores& scores, const Sequence& sequence, const Joint& joint,
                                 const Completion& bare, Int least);

// Fill row `row` of the tails with the best values from joint state q on at token t, after a state of class c; r is the token's row
// of kinds.
inline void enter_all(const Joint& joint, Int q, Int r, Int c, View<const Int, 2> after, Int t,
                      View<Int, 2> tail, Int row)
{
    for (Int j = 0; j < joint.kind.shape(2); ++j) {
        const Int k = joint.kind(r, c, j), to = t * joint.states() + joint.after(q, k);
        tail(row, j) = std::max(tail(t, j) + after(to, j) - joint.cost(q, k), FORBIDDEN);
    }
}

// Fill path (T,) with the first labelling of the best value, which is not forbidden.
void trace(const Scores& scores, ConstInts edges, const Completion& completion, Ints path);

// Forbid the states of an emission (T, S) through which no labelling reaches the floor by its scores; returns the number of others.
// The best score up to a state and the best score after it add up to its max-marginal.
Int prune(const Scores& scores, View<Int, 2> emission, ConstInts edges, View<const Int, 2> after, Int floor);

}  // namespace ilpinfer
