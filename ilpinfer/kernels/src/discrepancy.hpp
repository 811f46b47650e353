// Depth-first search with a limit on discrepancies; a prefix is identified by its last state and the joint state of all machines.
#pragma once

#include "chain.hpp"
#include "joint_states.hpp"

namespace ilpinfer {

// The floor that a labelling raises: that of values, or that of values with the best score after them.
enum Raised { NOTHING, VALUES, REACHES };

// A search, as far as it has gone.
struct Dive {
    enum Stop { DONE, WORKED, FULL };
    enum Limit { FLOOR, REACH, WIDTH };
    enum Count { DEPTH, NODES, COMPLETE, CUT, BEST, WORK };
    enum Token { SIZE, FOLLOWING, SPENT };
    struct Choice {
        Int state, joint, value, key;
    };

    Chain chain;
    View<const Int, 2> completion;  // (T, S) best score after a state
    ConstInts shift;                // (T,) what is subtracted from values to compare them with their floor
    MemoJoint machines;
    Rules late;                // machines that are evaluated on whole labellings only
    Row<Small> kept, vector;   // work space for two of their joint states
    View<Int, 3> choices;      // (T, W, 4) for each token, best first, ordered by their keys
    View<Int, 2> tokens;       // (T, 3) numbers of choices, the next choice, and discrepancies of the prefix
    Ints limits;               // (3,) floors of values and of those with the best score after them, and number of choices kept
    Ints counts;               // (6,) token whose choices are tried, nodes, labellings recorded, whether anything was cut, best value, work
    Labellings<Int> records;   // each better than the one before
    Int discrepancies;         // their largest number, -1 for no limit
    Int raised;                // see `Raised`

    // Search depth first, best choices first, until this much more work is done; a unit of work is the time of a node. Returns why it
    // stopped: the search is complete, the work is done, or there is no room for joint states or for labellings.
    Int run(Int work) const;

private:
    Choice* choices_of(Int t) const { return reinterpret_cast<Choice*>(choices[t].data()); }
    const Choice& chosen(Int t) const { return choices_of(t)[tokens(t, FOLLOWING) - 1]; }
    bool bounded() const { return limits[REACH] > DEAD; }
    bool expand(Int t) const;
    Int insert(Int t, Int count, const Choice& choice) const;
    bool take(Int t, Int c) const;
    bool record(Int total) const;
    Int read_prefix(Int length) const;
    Int read_last(Int t, Int before, Int now) const;
};

}  // namespace ilpinfer
