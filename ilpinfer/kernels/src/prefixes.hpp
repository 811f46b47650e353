// Prefixes of labellings, and choices among those of one length.
#pragma once

#include <vector>

#include "grid.hpp"

namespace ilpinfer {

// Prefixes of all lengths, and an index by key for those of one length; in a graph, also the steps between them.
//
// Prefixes of t tokens are those from level[t] to before level[t + 1]; number 0 is the empty prefix. Prefixes are in the order of
// their label ids, but for those of a graph, which have no parents and where all labellings end in one prefix.
struct Prefixes {
    std::vector<Int> reach;             // grid units; FORBIDDEN where a better one with the same key came later
    std::vector<Int> key;               // `words` a prefix; with an account of costs, these are the last word
    std::vector<Small> state, parent;
    std::vector<Small> group;           // the first prefix with the same key, where several are kept
    std::vector<Int> level;             // (T + 2,)
    std::vector<Int> slots;             // clock + number of a prefix, 2^n of them; empty below clock + the first of a length
    std::vector<Small> begin;           // where the steps from a prefix begin, in the order of states
    std::vector<Small> target, label;   // the prefix that a step leads to, and its state
    std::vector<Int> worth;             // the loss of a step, at most 0
    std::vector<Int> ahead;             // the least loss from a prefix to the end, FORBIDDEN where no labelling leads there

    Int words = 1;
    Int clock = 0;   // at least the largest number that earlier searches have left in the slots
    Int token = 0;   // the token whose states are tried
    Int next = 0;    // the next prefix to extend
    Int made = 0;    // numbers of prefixes, and of steps kept
    Int edges = 0;
    Int steps = 0;   // work so far
    Int cut = FORBIDDEN;  // the best value that was left out

    // Begin with the empty prefix, with this reach, for T tokens and keys of this many words.
    void start(Int tokens, Int reach_of_all, Int key_words);
    // Make room for the successors of another prefix.
    void reserve(Int more, bool indexed, bool graph);
    void more_slots(Int least);
    // Slots that are left by this search are empty for the next one.
    void finish() { clock += made; }

    View<Int, 2> keys() { return {key.data(), {static_cast<Int>(reach.size()), words}}; }
    void spell(Int end, Ints path) const;

    // Keep the best `width` prefixes from `first` on by their worth, and of those with the same key the best `copies`; of equal ones, the
    // first. No gaps remain. Returns, if the width is full, the highest reach of those that are worth less than all kept ones.
    Int choose(Int first, Int copies, Int width, ConstInts worth);
    // Drop dominated prefixes: another one with the same states costs no more and has at least the same score without costs.
    void drop_dominated(Int first);
};

inline constexpr Int ROOM = 1024;  // initial number of prefixes and of slots, a power of 2

}  // namespace ilpinfer
