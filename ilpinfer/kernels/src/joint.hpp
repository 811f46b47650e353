// Products of machines, over which the backward recursion has bounds that include later violations.
//
// Only joint states that the labels of a sequence can reach are built. Labels that all machines read alike are of one kind.
#pragma once

#include <vector>

#include "instance.hpp"

namespace ilpinfer {

// An automaton of Q joint states that reads labels of T tokens; state 0 is the first.
struct Joint {
    Array<Int> row;        // (T,) which row of `kind` is for each token
    Array<Small> before;   // (S + 1,) the class of the state before, START first
    Array<Small, 3> kind;  // (R, C, S) the kind of the step from each class of states before to each state
    Array<Small, 2> after; // (Q, kinds) joint state after a state and a kind
    Array<Int, 2> cost;    // (Q, kinds) grid units, at least 0; `HARD` where a hard rule is broken
    Array<Int> last;       // (Q,) grid units at the end, as `cost`

    Int states() const { return last.size(); }
    bool reads_before() const { return kind.shape(1) > 1; }
};

// The joint automaton of no machine.
Joint no_machines(Int tokens, Int states);

struct Multiplied {
    Joint joint;
    std::vector<bool> inside;  // which of the machines it has
};

// The joint automaton of machines, in their order, as long as it has at most `most` joint states. It leaves out machines that share a
// mark or are charged, those with `apart` other than 0, and unless `steps`, those that read the previous label.
Multiplied multiply_machines(const Machines& machines, ConstInts classes, Int states, ConstInts active,
                             ConstInts apart, Int most, bool steps);

}  // namespace ilpinfer
