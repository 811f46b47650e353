#include "keys.hpp"

#include <bit>

namespace ilpinfer {
namespace {

int bits_for(Int values) { return values > 1 ? std::bit_width(static_cast<std::uint64_t>(values - 1)) : 0; }

}  // namespace

Places places_of(const Machines& machines, ConstInts active, Int states, Int joint_states)
{
    Places result{.machine = {},
                  .place_of = std::vector<Int>(machines.size(), -1),
                  .joint_shift = bits_for(states),
                  .joint_mask = (Int{1} << bits_for(joint_states)) - 1,
                  .words = 1,
                  .used = bits_for(states) + bits_for(joint_states)};
    const auto take = [&](int bits) {
        if (result.used + bits > BITS) {
            ++result.words;
            result.used = 0;
        }
        const int shift = result.used;
        result.used += bits;
        return std::pair<Int, int>{result.words - 1, shift};
    };
    for (Int a = 0; a < active.size(); ++a) {
        const Int m = active[a], mark = machines.mark[m];
        const int bits = bits_for(machines.layout(m, STATES));
        result.place_of[m] = a;
        const auto [word, shift] = take(bits);
        Place place{word, shift, (Int{1} << bits) - 1, -1, 0};
        if (mark >= 0) {
            Int known = 0;
            while (machines.mark[active[known]] != mark) ++known;
            if (known == a) {
                const auto [paid_word, paid_shift] = take(1);
                place.paid_word = paid_word;
                place.paid_bit = Int{1} << paid_shift;
            } else {
                place.paid_word = result.machine[known].paid_word;
                place.paid_bit = result.machine[known].paid_bit;
            }
        }
        result.machine.push_back(place);
    }
    return result;
}

}  // namespace ilpinfer
