// The products of the backward recursion: a sequence alone, and the joint states of machines.
#pragma once

#include <numeric>

#include "joint.hpp"

namespace ilpinfer {

// Sequences without machines: a row for each token.
class Bare {
public:
    Bare(Int tokens, Int states) : tokens_(tokens), states_(states) { std::iota(states_.begin(), states_.end(), 0); }

    Int tokens() const { return tokens_; }
    Int first(Int t) const { return t; }
    void begin(Int) {}
    Int end(Int) const { return 0; }
    void for_each_group(Int, auto&& visit) const { visit(ConstInts(states_)); }
    void for_each_arc(Int row, Int, auto&& visit) const
    {
        for (Int j = 0; j < states_.size(); ++j) visit(j, row + 1, Int{0});
    }

private:
    Int tokens_;
    Array<Int> states_;
};

// States in the order of their classes before the next step; states with the same kinds of steps into them are adjacent.
struct Alike {
    std::vector<Int> order, begin;  // part n is order[begin[n]] to before order[begin[n + 1]]

    Int size() const { return static_cast<Int>(begin.size()) - 1; }
    Int first(Int n) const { return order[begin[n]]; }
    ConstInts states(Int n) const { return {&order[begin[n]], {begin[n + 1] - begin[n]}}; }
};

// The joint states of machines: row t · Q + q is for joint state q at token t.
class JointRows {
public:
    JointRows(const Joint& joint, Int tokens);

    Int tokens() const { return tokens_; }
    Int first(Int t) const { return t * Q_; }
    Int end(Int row) const { return joint_.last[row % Q_]; }
    void begin(Int t);

    // Visit the states of each class through which a joint state is entered.
    void for_each_group(Int row, auto&& visit)
    {
        const auto entered = entered_[row % Q_];
        for (Int n = 0; n < here_->size();) {
            const Int c = class_of(here_->first(n));
            Int count = 0;
            for (; n < here_->size() && class_of(here_->first(n)) == c; ++n)
                if (entered[n]) {
                    const auto states = here_->states(n);
                    std::copy(states.begin(), states.end(), states_.begin() + count);
                    count += states.size();
                }
            if (count) visit(ConstInts(states_.slice(0, count)));
        }
    }

    // Visit the arcs after a state: all of a row, then those that differ from the arcs that were visited last.
    void for_each_arc(Int row, Int i, auto&& visit)
    {
        const Int q = row % Q_, next = row - q + Q_, c = class_of(i);
        const auto kind = joint_.kind[later_row_][c];
        const auto after = joint_.after[q];
        const auto cost = joint_.cost[q];
        const auto enter = [&](Int n) {
            const Int k = kind[later_->first(n)];
            for (Int j : later_->states(n)) visit(j, next + after[k], cost[k]);
        };
        if (row != known_) {
            for (Int j = 0; j < states_.size(); ++j) visit(j, next + q, Int{0});
            for (Int n = 0; n < later_->size(); ++n) {
                const Int k = kind[later_->first(n)];
                if (after[k] != q || cost[k]) enter(n);
            }
        } else {
            for (Int n : changed_[class_]) enter(n);
            for (Int n : changed_[c]) enter(n);
        }
        known_ = row;
        class_ = c;
    }

private:
    Int class_of(Int i) const { return joint_.before[i + 1]; }

    const Joint& joint_;
    Int tokens_, Q_;
    std::vector<Alike> parts_;                // by row of kinds, as far as tokens were seen
    Array<bool, 2> led_;                      // (kinds, Q) whether a step of a kind leads to a joint state
    std::vector<std::vector<Int>> changed_;   // by class, the parts of the token after with other kinds than for class 0
    Array<Int> states_;
    Array<bool, 2> entered_;                  // (Q, parts) at the token
    const Alike *here_ = nullptr, *later_ = nullptr;
    Int row_ = -1, later_row_ = -1, known_ = -1, class_ = 0;
};

// What semirings of scores know of the steps after a token.
class StepScores {
public:
    StepScores(const Scores& scores, ConstInts edges) : scores_(scores), edges_(edges) {}

    Int width() const { return scores_.padded(); }
    Int base(Int i) const { return scores_.base[i]; }
    bool any_follows() const { return scores_.labels == scores_.states(); }

protected:
    const Scores& scores_;
    ConstInts edges_;
};

}  // namespace ilpinfer
