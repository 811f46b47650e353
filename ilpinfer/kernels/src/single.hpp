// One sequence by itself, as relaxations read it.
#pragma once

#include <numeric>

#include "instance.hpp"

namespace ilpinfer {

// The data of one sequence: its emission has a row for each token, and there are no node scores of classes.
struct Tokens {
    View<const Int, 2> emission;
    ConstInts edges, classes;
};

class Single {
public:
    Single(const Tokens& tokens)
        : rows_(tokens.emission.size()), nodes_(tokens.emission.size(), 0),
          sequence{tokens.emission, rows_, nodes_, tokens.edges, tokens.classes}
    {
        std::iota(rows_.begin(), rows_.end(), 0);
    }

private:
    Array<Int> rows_, nodes_;

public:
    const Sequence sequence;
};

}  // namespace ilpinfer
