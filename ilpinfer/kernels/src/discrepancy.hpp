// Depth-first search with a limit on discrepancies; a prefix is identified by its last state and the joint
// state of all machines.
#pragma once

#include "chain.hpp"
#include "joint_states.hpp"
#include "labellings.hpp"

namespace ilpinfer {

// Machines that are evaluated on whole labellings only, and work space for two of their joint states.
struct LateMachines {
    Rules rules;
    Row<Small> kept, vector;
};

// What the floors apply to beside a prefix's value, grid units.
struct Ahead {
    View<const Int, 2> completion;  // (T, S) best score after a state
    View<const Int, 1> shift;       // (T,) subtracted from the value
};

// The choices for each token, best first.
struct Stack {
    View<Small, 2> state;  // (T, W)
    View<Small, 2> joint;  // (T, W)
    View<Int, 2> value;    // (T, W)
    View<Int, 2> key;      // (T, W)
    Ints size;             // (T,) number of choices
    Ints following;        // (T,) the next choice
    Ints spent;            // (T,) discrepancies of the prefix
};

// Largest number of discrepancies, -1 for no limit; and which floor a labelling raises: that of values (1),
// that of values with the best score after them (2), or none (0).
struct DiveRule {
    Int discrepancies, raised;
};

// Search depth first, best choices first, until so much more work is done; a unit of work is the time of a
// node. Why it has stopped: the search is complete (0), the work is done (1), or there is no room for joint
// states or for labellings (2).
//
// Limits (3,) are the floor of values, that of values with the best score after them, and the number of
// choices kept. Counts (6,) are the token whose choices are tried, nodes, labellings recorded, whether the
// number of choices or the discrepancies cut anything, the best value, and the work so far. Recorded
// labellings are each better than the one before.
Int dive(const Chain& chain, const Ahead& ahead, const MemoJoint& joint, const LateMachines& late,
         const Stack& stack, Ints limits, Ints counts, const Labellings<Int>& records, const DiveRule& rule,
         Int work);

}  // namespace ilpinfer
