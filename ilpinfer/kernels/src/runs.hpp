// Changes of whole runs in any scheme of labels.
#pragma once

#include <utility>

#include "view.hpp"

namespace ilpinfer {

// A scheme of K labels.
struct Runs {
    View<const bool, 2> joins;  // (K, K) true where a step stays in the same run
    // (K, 6) labels for a run of the field of each label: of its first, an inner, its last and its only
    // token, and of the first and the only token directly after a run of the same field, where IOB1 uses
    // another label. For plain labels all are the label itself.
    View<const Int, 2> forms;
};

// Random numbers by splitmix64 (Steele, Lea, Flood 2014), from a seed (1,) that changes.
class Random {
public:
    Random(Row<std::uint64_t> seed) : seed_(seed) {}
    operator Row<std::uint64_t>() const { return seed_; }

    // One of the numbers from 0 to before n.
    Int below(Int n) { return static_cast<Int>(bits() % static_cast<std::uint64_t>(n)); }
    // At least 0 and less than 1.
    double share() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
    std::uint64_t bits()
    {
        std::uint64_t x = seed_[0] += 0x9E3779B97F4A7C15ULL;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
        return x ^ (x >> 31);
    }

    Row<std::uint64_t> seed_;
};

// Tokens: the first and the last that may have changed, or those from the first to before the second.
using Span = std::pair<Int, Int>;

// Fill borders with the first tokens of runs; the number of runs.
Int cuts(Row<const Small> y, View<const bool, 2> joins, Ints borders);

// A random run, from its first token to before the second.
Span section(Row<const Small> y, Random& random, View<const bool, 2> joins, Ints borders);

// If a run begins at token t, correct the labels of the last token before it and of its first token by the
// scheme.
void repair_border(Row<Small> y, Int t, const Runs& runs);

// Make the tokens from `begin` to before `end` one run of the field of label k; what may have changed.
Span put(Row<Small> y, Int begin, Int end, Int k, const Runs& runs);

// Let the run that begins at token t begin one token earlier; what may have changed.
Span shift_back(Row<Small> y, Int t, const Runs& runs);

// Extend the run that ends before token t by that token; what may have changed.
Span shift_on(Row<Small> y, Int t, const Runs& runs);

// Shift a border by a token, or give a run a random label; what may have changed.
Span mutate(Row<Small> y, Row<std::uint64_t> seed, Ints borders, Int labels, double shift, bool both,
            const Runs& runs);

}  // namespace ilpinfer
