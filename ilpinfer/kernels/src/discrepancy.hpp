// Depth-first search with a limit on discrepancies; a prefix is identified by its last state and the joint state of all machines.
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

// The choices for each token, best first: state, joint state, value, and what they are ordered by.
struct Stack {
    View<Int, 3> choices;  // (T, W, 4)
    View<Int, 2> tokens;   // (T, 3) numbers of choices, the next choice, and discrepancies of the prefix
};

// The floor that a labelling raises: that of values, or that of values with the best score after them.
enum Raised { NOTHING, VALUES, REACHES };

// Search depth first, best choices first, until so much more work is done; a unit of work is the time of a node. Why it has stopped:
// the search is complete (0), the work is done (1), or there is no room for joint states or for labellings (2).
//
// Limits (3,) are the floor of values, that of values with the best score after them, and the number of choices kept. Counts (6,) are
// the token whose choices are tried, nodes, labellings recorded, whether the number of choices or the discrepancies cut anything,
// the best value, and the work so far. Recorded labellings are each better than the one before. `discrepancies` is their largest
// number, -1 for no limit; `raised` is one of `Raised`.
Int dive(const Chain& chain, const Ahead& ahead, const MemoJoint& joint, const LateMachines& late, const Stack& stack, Ints limits,
         Ints counts, const Labellings<Int>& records, Int discrepancies, Int raised, Int work);

}  // namespace ilpinfer
