// One walk along a labelling, over the machines with events on it, and its uses: costs, violations, and values of sums.
#pragma once

#include <utility>
#include <vector>

#include "instance.hpp"

namespace ilpinfer {

// Visit the machines with an event at each step of a labelling, or all where events are not listed, with their symbols.
template <typename Visitor>
void follow_events(const Scores& scores, const Machines& machines, ConstInts classes, ConstInts path, Visitor&& visit)
{
    Int before = 0;
    for (Int t = 0; t < path.size(); ++t) {
        if (machines.listed()) {
            const Int step = step_of(scores, classes[t], before, path[t]);
            for (Int e = machines.begin[step]; e < machines.begin[step + 1]; ++e)
                visit(Int{machines.event(e, 0)}, Int{machines.event(e, 1)});
        } else {
            for (Int m = 0; m < machines.size(); ++m) visit(m, machines.symbol(m, classes[t], before, path[t]));
        }
        before = path[t] + 1;
    }
}

// `begin` and `event` of machines: those whose symbol of a step changes one of their states, or has a cost; S and B of `Scores`.
std::pair<Array<Small>, Array<Short, 2>> index_events(const Machines& machines, Int states, Int labels);

// The states of machines along a labelling; a machine without an event so far has none.
class Walk {
public:
    explicit Walk(Int machines) : state_(machines, NOWHERE) { visited_.reserve(machines); }

    // Follow a labelling: calls at(m, arc) for each arc of a machine that `wanted` accepts, and end(m, place) for the last state of
    // each machine that moved, or that has a cost at the end without moving.
    template <typename Wanted, typename At, typename End>
    void operator()(const Scores& scores, const Machines& machines, ConstInts classes, ConstInts path,
                    Wanted&& wanted, At&& at, End&& end)
    {
        const auto& layout = machines.layout;
        follow_events(scores, machines, classes, path, [&](Int m, Int symbol) {
            if (!wanted(m)) return;
            if (state_[m] == NOWHERE) {
                state_[m] = 0;
                visited_.push_back(m);
            }
            const Int arc = machines.arc(m, state_[m], symbol);
            state_[m] = machines.next_state[arc];
            at(m, arc);
        });
        for (Int m : machines.owing)
            if (state_[m] == NOWHERE && wanted(m)) end(m, layout(m, FINAL));
        for (Int m : visited_) {
            end(m, layout(m, FINAL) + state_[m]);
            state_[m] = NOWHERE;
        }
        visited_.clear();
    }

private:
    static constexpr Int NOWHERE = -1;
    std::vector<Int> state_;
    std::vector<Int> visited_;
};

// Marks of machines: active, and found by the labelling that is followed now. Odd ones are not followed.
enum Mark : Int { IDLE = 0, ACTIVE_MACHINE = 1, FOUND = 2, INSIDE = 3 };

// The active machines of a sequence, and work space for `charge`.
class Active {
public:
    explicit Active(Int machines) : walk_(machines), paid_(machines, -1) { list.reserve(machines); }

    std::vector<Int> list;  // machines outside the product, in the order of their activation

    // The cost of a labelling, at most `HARD`, by machines that are not active, whose marks are even. Those with a cost become
    // active: they join `list` and have the mark `ACTIVE_MACHINE`.
    Int charge(const Scores& scores, const Machines& machines, ConstInts classes, ConstInts path, Ints marks);

private:
    void activate(const Machines& machines, Int m, Ints marks);

    Walk walk_;
    std::vector<Int> paid_;  // by the mark of a rule that counts once: a machine that has its cost, or -1
};

// The score of a labelling without machines, `FORBIDDEN` where a step is, and its cost, at most `HARD`; the machines that have
// a cost are the active ones.
std::pair<Int, Int> value_states(const Instance& instance, const Sequence& sequence, ConstInts path, Active& active);

// Fill units (M,) with the value of each sum on a labelling, 0 for other machines.
void weigh(const Instance& instance, ConstInts classes, ConstInts path, Ints units);

// Columns of parts: grid units of the model, FORBIDDEN where it forbids the labelling; of features; and of soft rules; the number of
// hard rules that are broken, at least 1 where the model forbids the labelling; and the number of tokens at which a rule is
// overruled by an earlier one.
enum Part { MODEL_SCORE, FEATURE_SCORE, PENALTY, HARD_BROKEN, OVERRULED, PARTS };

// The steps of the model, beside those of a sequence: its pool entries (T,), of no tokens where all are 0, and classes (T,) of steps.
struct ModelSteps {
    ConstInts pool, classes;

    Int entry(Int t) const { return pool.empty() ? 0 : pool[t]; }
};

// Fill parts (5,) and violations (R,) of label ids (T,); returns the value, or `FORBIDDEN`. If it is known that no machine has a cost,
// `silent`, machines are not read.
Int evaluate(const Instance& instance, const Sequence& sequence, const ModelSteps& steps, ConstInts path, Walk& walk,
             bool silent, Ints parts, Ints violations);

}  // namespace ilpinfer
