// The best labelling of a sequence, and the best few: Viterbi, then, where its path breaks rules, relaxations that include more and
// more of their machines.
#pragma once

#include <optional>

#include "follow.hpp"
#include "label_setting.hpp"
#include "multipliers.hpp"

namespace ilpinfer {

// Largest numbers of joint states of multiplied machines: at first, and later.
inline constexpr Int FEWEST_JOINT = 64, MOST_JOINT = 512;
inline constexpr Int MOST_CELLS = Int{1} << 24;  // values of a recursion over joint states
inline constexpr Int VECTOR = 16;  // steps of such a recursion that take about as long as one of label setting

// Limits of the steps of label setting: for each token of a sequence, for any sequence, and slots of the largest direct index.
struct Limits {
    Int token, least, slots;

    Int of(Int tokens) const { return std::max(token * tokens, least); }
};

// Memory that sequences use one after another.
struct Workspace {
    explicit Workspace(const Instance& instance, Int longest);

    Active active;
    Prefixes prefixes;
    Array<Int> trial;
    Array<Int, 2> after, tail;

    Completion completion(Int tokens) { return {after.slice(0, tokens), tail.slice(0, tokens), FORBIDDEN}; }
};

// A sequence, and what is found: marks (2, M) are `Mark`s of machines, and the multipliers of sums.
struct Task {
    const Instance& instance;
    Sequence sequence;
    Limits limits;
    View<Int, 2> marks;
};

struct Solved {
    Code code = TOO_MUCH_WORK;
    Best best;
    Int relaxed = FORBIDDEN;  // the best value without machines
    Int work = 0;             // steps of label setting

    void write(Ints result) const;
};

// The best labelling of a sequence whose tokens have known classes; `path`, with its value in `known`, is a labelling found before.
// Viterbi and few steps of label setting come first, then multipliers of the broken sums, then label setting and products.
Solved solve(const Task& task, Int known, Ints path, Workspace& space);

struct Listed {
    Code code = TOO_MUCH_WORK;
    Int number = 0;
    Int work = 0;
};

// The best labellings (top, T) of a sequence, and their values (top,); steps of the first attempt, and in all. No labelling below
// `lowest` is wanted. Sums get multipliers where few steps do not suffice.
Listed list_best(const Task& task, Int first_steps, Int most_steps, Int lowest, View<Int, 2> paths, Ints values,
                 Workspace& space);

// A product of machines, and the recursion over it.
struct Product {
    Joint joint;
    JointCompletion completion;
    std::vector<bool> inside;
};

// Multiply active machines with at most `most` joint states, in a recursion of at most about MOST_CELLS values; bounds of values below
// `least` may be too high.
Product multiply_jointly(const Instance& instance, const Sequence& sequence, const Completion& bare,
                         ConstInts active, Int most, Int cells, bool steps, Int least);

}  // namespace ilpinfer
