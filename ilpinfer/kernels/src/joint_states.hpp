// States of all machines of a sequence together: a vector of the state of each machine, then of a mark for
// each rule that counts once over its machines: whether it is paid.
#pragma once

#include "keys.hpp"

namespace ilpinfer {

// Machines, and the class of each token (T,) for them.
struct Rules {
    Machines machines;
    View<const Int, 1> classes;
};

// J joint symbols, which have a symbol for each machine.
struct Symbols {
    View<const Small, 3> symbol;  // (C, S+1, B) of the step from a state, the first row from START
    View<const Int, 1> table;     // (T,) of each token
    View<const Small, 2> read;    // (M, J) the symbol of each machine in each joint symbol
};

enum Transition : Small { UNKNOWN = -1, BROKEN = -2 };

// The joint states reached so far, with their transitions: a product automaton that is built on demand.
struct Memo {
    View<Small, 2> vectors;  // (N, W)
    View<Small, 2> after;    // (N, J) the next joint state, `UNKNOWN`, or `BROKEN` where a hard rule breaks
    View<Int, 2> cost;       // (N, J) grid units
    View<Int, 1> number;     // (1,) of joint states
    View<Small, 1> slots;    // a hash table
    View<Int, 2> hard;       // (N, J) hard violations, or no rows where they are not counted
    View<Int, 2> end;        // (N, 2) cost and hard violations after the last token, or no rows as well
};

// Machines in a product: the machines, their symbols, and the joint states met so far.
struct MemoJoint {
    Rules rules;
    Symbols symbols;
    Memo memo;
};

// A cost in grid units, and the number of hard violations.
struct Charge {
    Int cost = 0, hard = 0;
};

// The violations of machine m that count; a rule that counts once over several machines is marked as paid.
inline Int once(ConstInts marks, Int m, Int violations, Row<Small> vector)
{
    if (violations == 0 || marks[m] < 0) return violations;
    Small& paid = vector[marks.size() + marks[m]];
    if (paid) return 0;
    paid = 1;
    return 1;
}

// Let machine m read a symbol; the number of violations that count.
inline Int read(const Machines& machines, Int m, Int symbol, Row<Small> vector)
{
    const Int arc = machines.arc(m, vector[m], symbol);
    vector[m] = machines.next_state[arc];
    return once(machines.mark, m, machines.violations[arc], vector);
}

// The number of violations of machine m that count after the last token.
inline Int count_final(const Machines& machines, Int m, Row<Small> vector)
{
    return once(machines.mark, m, machines.last[machines.layout(m, FINAL) + vector[m]], vector);
}

// Let every machine read the step from state `before`, -1 for START, to state `now` at token t, up to the
// first hard violation.
Charge read_step(const Rules& rules, Int t, Int before, Int now, Row<Small> vector);

// Cost and hard violations of all machines after the last token.
Charge close(const Rules& rules, Row<Small> vector);

// As `close`, without changing the vector.
Charge close_copy(const Rules& rules, Row<const Small> vector);

// Compute the final cost of the first joint state.
void first_final_cost(const Rules& rules, const Memo& memo);

// Compute the transition of a joint state by a symbol; false if there is no room for a new state.
bool read_symbol(const Rules& rules, const Symbols& symbols, const Memo& memo, Int joint, Int symbol);

}  // namespace ilpinfer
