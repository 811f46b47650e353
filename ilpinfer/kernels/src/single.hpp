// One sequence by itself, as relaxations read it.
#pragma once

#include <numeric>

#include "instance.hpp"

namespace ilpinfer {

// A sequence whose tokens have an emission row each, and no node scores of classes.
class Single {
public:
    Single(View<const Int, 2> emission, ConstInts edges, ConstInts classes)
        : rows_(emission.size()), nodes_(emission.size(), 0), sequence{emission, rows_, nodes_, edges, classes}
    {
        std::iota(rows_.begin(), rows_.end(), 0);
    }

private:
    Array<Int> rows_, nodes_;

public:
    const Sequence sequence;
};

}  // namespace ilpinfer
