// One walk along a labelling, over the machines that it meets.
#pragma once

#include <vector>

#include "instance.hpp"

namespace ilpinfer {

// The states of machines along a labelling; a machine that has met no event has none.
class Walk {
public:
    explicit Walk(Int machines) : state_(machines, NOWHERE) { visited_.reserve(machines); }

    // Follow a labelling: at(m, arc) for each arc of a machine that `wanted`, and end(m, place) for the last state of each
    // machine that moved, or that owes something at the end without moving.
    template <typename Wanted, typename At, typename End>
    void operator()(const Scores& scores, const Machines& machines, ConstInts classes, ConstInts path,
                    Wanted&& wanted, At&& at, End&& end)
    {
        const auto& layout = machines.layout;
        Int before = 0;
        for (Int t = 0; t < path.size(); ++t) {
            for_each_event(scores, machines, classes[t], before, path[t], [&](Int m, Int symbol) {
                if (!wanted(m)) return;
                if (state_[m] == NOWHERE) {
                    state_[m] = 0;
                    visited_.push_back(m);
                }
                const Int arc = machines.arc(m, state_[m], symbol);
                state_[m] = machines.next_state[arc];
                at(m, arc);
            });
            before = path[t] + 1;
        }
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

}  // namespace ilpinfer
