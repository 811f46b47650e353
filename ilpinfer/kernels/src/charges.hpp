// The cost of a labelling by machines, which become active where they have one.
#pragma once

#include <utility>
#include <vector>

#include "follow.hpp"

namespace ilpinfer {

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
std::pair<Int, Int> value_states(const Instance& instance, const Sequence& sequence, ConstInts path,
                                 Active& active);

}  // namespace ilpinfer
