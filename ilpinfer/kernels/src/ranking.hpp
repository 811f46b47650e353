// The graph of all labellings that reach a floor, and the best few of its paths; equal paths are ordered by labels.
//
// The value of the last path is computed first, then all paths with at least that value.
#pragma once

#include "label_setting.hpp"

namespace ilpinfer {

// Build the graph of all labellings that can reach a floor; false if the limit of work is reached. The cut of `p` is the best value that
// was left out, below `DEAD` if the graph contains all labellings.
bool build_graph(const Relaxation& relaxation, Int floor, Int work, Prefixes& p);

// The values of the `most` best paths, as a heap with the least one on top.
std::vector<Int> rank_values(const Prefixes& graph, Int tokens, Int most);

// Fill paths (K, T) with the labels of the best paths, best first and equal ones by labels, and values (K,) with their values;
// `best` are those of `rank_values`.
void list_paths(const Prefixes& graph, const std::vector<Int>& best, View<Int, 2> paths, Ints values);

}  // namespace ilpinfer
