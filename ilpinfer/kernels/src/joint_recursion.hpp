// The backward recursion over states and joint states of machines, from the last token to the first.
#pragma once

#include "joint.hpp"
#include "recursion.hpp"

namespace ilpinfer {

inline constexpr int COARSE = 12;  // the least unit of 16-bit losses, as a power of 2

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

// The completion of a joint state after a label is `FORBIDDEN` where the label never leads to the joint state. Completions are too
// high where they are below those without machines by more than half of `LOST`. Where `least`, the least value wanted, is close to
// the best value without machines, losses have 16 bits: values below `least` are too high, and others by what is rounded. `bare` is
// the recursion without the joint automaton; `total` is a bound on the best value.
JointCompletion complete_jointly(const Scores& scores, const Sequence& sequence, const Joint& joint,
                                 const Completion& bare, Int least);

// The best value from joint state q on of a step of kind k into state j, by the state's own score and the completions of its
// token, whose rows begin at `first`.
inline Int enter(const Joint& joint, Int q, Int k, Int own, View<const Int, 2> after, Int first, Int j)
{
    return std::max(own + after(first + joint.after(q, k), j) - joint.cost(q, k), FORBIDDEN);
}

// Fill row `row` of the tails with the best values from joint state q on at token t, after a state of class c; r is the token's row
// of kinds.
inline void enter_all(const Joint& joint, Int q, Int r, Int c, View<const Int, 2> after, Int t,
                      View<Int, 2> tail, Int row)
{
    for (Int j = 0; j < joint.kind.shape(2); ++j)
        tail(row, j) = enter(joint, q, joint.kind(r, c, j), tail(t, j), after, t * joint.states(), j);
}

}  // namespace ilpinfer
