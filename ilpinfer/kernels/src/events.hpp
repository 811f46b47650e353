// The events of machines by steps, see `Machines`.
#pragma once

#include "instance.hpp"

namespace ilpinfer {

// The first event of each step, and the events: a machine, and a symbol that changes its state or has a cost.
struct EventLists {
    Array<Small> begin;
    Array<Short, 2> event;
};

// What of `Machines` says which events there are, whatever the penalties are; S and B of `Scores`.
struct Arcs {
    View<const Short, 1> symbols;
    View<const Int, 2> table;
    View<const Int, 2> layout;
    View<const Small, 1> next_state;
    View<const Int, 1> violations;
    Int states;
    Int labels;
};

// The events of each step, by class and step.
EventLists index_events(const Arcs& arcs);

}  // namespace ilpinfer
