// Keys of prefixes: a state, a joint state and the states of machines, some bits of a word for each; and hash tables of keys.
#pragma once

#include <vector>

#include "instance.hpp"

namespace ilpinfer {

inline constexpr int BITS = 62;  // bits of each word of a key that are used

// Where a key has the state of a machine, and whether its rule, where that counts once, is paid.
struct Place {
    Int word, shift, mask;
    Int paid_word, paid_bit;  // -1 and 0 where there is no such rule
};

// The bits of a key; the state has the lowest, then follow the joint state and the machines.
struct Places {
    std::vector<Place> machine;    // by place among the active machines
    std::vector<Int> place_of;     // (M,) the place of each machine, or -1
    Int joint_shift, joint_mask;   // of the joint state, in the first word
    Int words;
    int used;  // bits of the last word
};

Places places_of(const Machines& machines, ConstInts active, Int states, Int joint_states);

// The slot of row h of keys (N, W) in an open hash table of the rows from `first` on; a slot below clock + first is free.
template <typename Slot, typename Word>
Int slot_of(Row<Slot> slots, View<Word, 2> keys, Int h, Int first, Int clock)
{
    const std::uint64_t mask = slots.size() - 1;
    const Int words = keys.shape(1);
    const auto* const key = keys[h].data();
    std::uint64_t spread = 0;
    for (Int w = 0; w < words; ++w) {
        spread = (spread ^ static_cast<std::uint64_t>(Int{key[w]})) * 0x9E3779B97F4A7C15ULL;
        spread ^= spread >> 32;
    }
    std::uint64_t place = (spread >> 2) & mask;
    while (slots[place] >= clock + first) {
        const auto* const other = keys[slots[place] - clock].data();
        if (std::equal(key, key + words, other)) break;
        place = (place + 1) & mask;
    }
    return static_cast<Int>(place);
}

// Empty a hash table, and put `count` rows from `first` on into it.
template <typename Slot, typename Word>
void enter_rows(Row<Slot> slots, View<Word, 2> rows, Int first, Int count)
{
    slots.fill(-1);
    for (Int row = first; row < first + count; ++row)
        slots[slot_of(slots, rows, row, first, 0)] = static_cast<Slot>(row);
}

}  // namespace ilpinfer
