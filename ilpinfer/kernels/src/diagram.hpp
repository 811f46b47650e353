// Decision diagrams of labellings: layers of nodes, one layer a token, and the steps between them; and their
// product with machines.
//
// The steps of node n are those from first[n] to first[n + 1]; nodes of a layer follow each other, and the
// root is the first. `value` of a node is the best score of a path to it, `ahead` that of a path from it to
// the end.
#pragma once

#include <utility>

#include "instance.hpp"

namespace ilpinfer::diagram {

// Nodes and steps, as above. N nodes, E steps.
struct Graph {
    View<Small, 1> state;   // (N,) -1 for the root
    View<Int, 1> value;     // (N,)
    View<Int, 1> layers;    // (T+2,) where the nodes of each layer begin
    View<Int, 1> first;     // (N+1,)
    View<Small, 1> target;  // (E,)
    View<Int, 1> score;     // (E,)
    View<Int, 1> end;       // what each node of the last layer is worth more
    View<Int, 1> ahead;     // (N,)

    Int tokens() const { return layers.size() - 2; }
};

// A product as far as it is built.
struct Growth {
    Graph graph;
    View<Small, 1> origin;  // (N,) node of the old diagram
    View<Int, 2> key;       // (N, W) the old node, and the states of the machines, at the bits of `places_of`
    View<Int, 1> bound;     // (N,) upper bound on the labellings through a node, grid units
    View<Int, 1> slots;     // hash table of the nodes of the current layer
};

// Limits of `multiply`.
struct Limits {
    Int floor;  // least value of labellings of interest, grid units
    Int width;  // nodes of a layer
    Int work;   // steps of a call
};

// Why `multiply` has stopped: all layers are built, or the limit of work is reached; the arrays of nodes or
// steps are full; the hash table is full, so that a call with more room begins the current layer anew.
enum Stop : Int { DONE, FULL, SLOTS };

// What `multiply` has built: layers, nodes, steps, and the largest bound of a node left out for the width.
enum Count { LAYERS, NODES_MADE, STEPS, LEFT_OUT };

// Write a lattice as a diagram; the numbers of nodes and of steps, which `output` has room for. The emission
// (T, S) is forbidden where a state is left out; `edges` (T,) are rows of `Scores::edge`.
std::pair<Int, Int> unfold(const Scores& scores, View<const Int, 2> emission, ConstInts edges,
                           const Graph& output);

// Fill `ahead` for the layers from `last` down to `stop`, and path (T,) after the root with the best
// labelling's states.
void complete(const Graph& graph, Int last, Int stop, Ints path);

// Keep the nodes and steps through which a labelling of at least `floor` passes: steps move to the front,
// nodes into `output`, and `number` gets the new number of each node. The number of steps kept, and the best
// score of a labelling through a step that was removed.
std::pair<Int, Int> thin(const Graph& graph, Int floor, View<Small, 1> number, const Graph& output);

// Words of the keys of a product of a diagram of so many nodes with machines.
Int words_of(const Machines& machines, ConstInts active, Int nodes);

// Build the product of a graph with active machines: each new node is an old node with states of the
// machines. A node stays if its bound reaches the floor. The end score of a node of the last layer is that of
// the old node. Classes (T,) are of machines; `counts` are updated. It returns why it has stopped, a `Stop`.
Int multiply(const Graph& graph, const Machines& machines, ConstInts classes, ConstInts active,
             const Growth& growth, Ints counts, const Limits& limits);

}  // namespace ilpinfer::diagram
