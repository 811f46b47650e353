// Lagrangian multipliers on sums, moved into the scores and the machines, so that the value of each labelling stays the same.
//
// The multiplier is subtracted for each unit of a sum's weight on a step. The sum's machine returns the value of its best future at
// the start; its costs then are the differences from that value (Rush and Collins 2012, section 3; reparametrizations of Werner
// 2007).
#pragma once

#include <memory>

#include "follow.hpp"
#include "recursion.hpp"

namespace ilpinfer {

// An instance and a sequence with multipliers in them, and the arrays that they own.
struct Repriced {
    struct Pair {
        Int edge, token_class;
    };
    std::vector<Pair> pairs;  // of edge scores and classes of machines, which have their own edge scores
    ConstInts first;          // (S,) the scores of the first token without multipliers
    Array<Int, 3> edge;
    Array<Int, 2> emission;
    Array<Int> rows, edges;
    Array<Int> cost, last_cost;
    Array<Small> owing;
    Array<Int, 2> sums;
    Array<bool> charged;
    Instance instance;
    Sequence sequence;
};

// Labellings and bounds of a sequence, as far as they are known.
struct Best {
    Int value = FORBIDDEN;  // of the path
    Int bound = HARD;
    bool proved = false;
};

// Lower the bound by multipliers, which begin at 0, with Polyak's steps towards the best known value; takes at most the time of `steps`
// steps of label setting.
//
// `completion` is that without multipliers, and is changed. `best` gets the lower bound, and better labellings with their path; it is
// proved if one attains the bound. Returns the sequence with the multipliers in it, or nothing if no multipliers were tried; with
// `final_step`, also nothing if the best labelling is proved. Marks are `IDLE` afterwards.
std::unique_ptr<Repriced> tighten(const Instance& instance, const Sequence& sequence, Completion& completion,
                                  Active& active, Best& best, Ints path, Ints marks, Ints multipliers,
                                  Int steps, bool final_step);

// The sequence with some multipliers (M,) in it.
std::unique_ptr<Repriced> reprice(const Instance& instance, const Sequence& sequence, ConstInts multipliers);

}  // namespace ilpinfer
