// Messages between a lattice and lists of tokens whose labels should be of one kind.
//
// Each list is a chain of its own. The score of a token in a list is the sum of two parts: one in the
// lattice, one in the list. A sweep visits the tokens in order. It moves score between the two parts until
// both have the same max-marginals of the kinds, apart from a constant. The sum of both optima never rises
// (tree-reweighted message passing: Kolmogorov 2006).
#pragma once

#include "instance.hpp"

namespace ilpinfer::agreement {

// A lattice of T tokens and S states, with the values of a sweep.
struct Lattice {
    Scores scores;             // of steps
    View<Int, 2> node;         // (T, S) scores, including those moved here from the lists
    ConstInts edges;           // (T,) rows of `Scores::edge`
    View<Int, 2> reach;        // (T, S) best score up to a state, its own included
    View<Int, 2> after, tail;  // (T, W) of the backward recursion

    Int size() const { return node.size(); }
};

// N entries of all lists in the order of their tokens, with F kinds each.
struct Lists {
    View<const Int, 1> kind;     // (S,) the kind of a state
    View<const Int, 1> begin;    // (T + 1,) the entries of token t are begin[t] to begin[t + 1] - 1
    View<const Int, 1> before;   // (N,) the entry before in the same list, -1 for none
    View<const Int, 1> after;    // (N,) the entry after
    View<const Int, 1> penalty;  // (N,) for a kind other than that of the entry before, grid units or `HARD`
    View<Int, 2> own;            // (N, F) scores, minus those moved to the lattice
    View<Int, 2> past;           // (N, F) best score up to a kind, its own included
    View<Int, 2> future;         // (N, F) best score after it

    Int size() const { return own.size(); }
    Int kinds() const { return own.shape(1); }
};

// Fill reach and past; with `moving`, divide the scores of each token again.
void forward(const Lattice& lattice, const Lists& lists, bool moving);

// Fill after, tail and future; with `moving`, divide the scores of each token again. Returns the sum of the optima.
Int backward(const Lattice& lattice, const Lists& lists, bool moving);

// Fill kinds (N,) with the best kinds of each list, after a backward sweep; a tie keeps the kind of the entry
// before.
void best_kinds(const Lists& lists, Ints kinds);

// Forbid the states through which no labelling reaches the floor; returns their number. `total` is the bound. Both
// sweeps must have run before, without moving scores.
Int narrow(const Lattice& lattice, const Lists& lists, Int total, Int floor);

// Fill path (T,) with the states of the lattice's best labelling, the first one by label ids, after a backward sweep; it has one.
void best_path(const Lattice& lattice, Ints path);

}  // namespace ilpinfer::agreement
