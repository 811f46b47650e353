// The best labellings of many sequences under compiled rules.
#pragma once

#include "solving.hpp"

namespace ilpinfer {

// N sequences of at least one token each, one after the other.
struct Batch {
    View<const Int, 2> emission;  // (V, K) score of each label at a row, grid units
    ConstInts begins;             // (N + 1,) the first token of each sequence, then the number of all
    ConstInts tokens;             // (total,) rows of the numbers of windows
    ConstInts rows;               // (total,) rows of the emission
    ConstInts pool;               // (total,) the model's pool entry of the step into each token; of no tokens where all are 0

    Int size() const { return begins.size() - 1; }
};

// What is found, as views of one buffer of zeros.
struct Output {
    Output(Ints buffer, const Batch& batch, const Instance& instance, Int top);

    // Labellings (top, T) of a sequence.
    View<Int, 2> paths_of(const Batch& batch, Int n) const;

    Int top;
    Ints paths;                    // (total · top,), -1 where there is no labelling
    View<Int, 2> values, results;  // (N, top) grid units; (N, 7) see `Result`
    View<Int, 3> parts, marks;     // (N, top, 5) see `Part`; (N, 2, M) marks of machines, and multipliers of sums
    View<Int, 3> violations;       // (N, top, R)
};

// Fill classes (3, T) of distinct tokens (T,); the first token of an unknown class, or -1.
Int classify(const Windows& windows, ConstInts tokens, View<Int, 2> classes);

// Decode the sequences in this many threads: the best labelling of each, or the best few. Columns of the
// results of lists are CODE, number of labellings, work, MULTIPLIERS and ACTIVE.
void decode_best(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output, int threads);
void decode_lists(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output, int threads);

}  // namespace ilpinfer
