// The backward recursion over joint states, in small numbers: what is lost against the best labelling without machines.
#pragma once

#include "joint_recursion.hpp"

namespace ilpinfer {

// What a forbidden step loses; twice as much is no overflow. Other steps, and what follows them, are said to lose at most half of
// it each.
template <typename Loss>
inline constexpr Int LOST = sizeof(Loss) == 4 ? (Int{1} << 30) - 1 : (Int{1} << 14) - 1;

// Fill `after` (T · Q, W) where the joint automaton does not read the state before; the unit of losses is 2^shift grid units.
template <typename Loss>
void complete_by_losses(const Scores& scores, ConstInts edges, const Joint& joint, const Completion& bare,
                        int shift, View<Int, 2> after);

}  // namespace ilpinfer
