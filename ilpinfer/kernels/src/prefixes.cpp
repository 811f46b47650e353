#include "prefixes.hpp"

#include <bit>

#include "keys.hpp"
#include "ordering.hpp"

namespace ilpinfer {
namespace {

Int power_of_two(Int least) { return static_cast<Int>(std::bit_ceil(static_cast<std::uint64_t>(least))); }

}  // namespace

void Prefixes::start(Int tokens, Int reach_of_all, Int key_words)
{
    level.resize(std::max<std::size_t>(level.size(), tokens + 2));
    words = key_words;
    if (reach.empty()) reserve(1, true, false);
    if (key.size() < reach.size() * words) key.resize(reach.size() * words);
    token = next = edges = 0;
    made = 1;
    cut = FORBIDDEN;
    level[0] = 0;
    level[1] = 1;
    reach[0] = reach_of_all;
    state[0] = parent[0] = -1;
    std::fill_n(key.begin(), words, 0);
}

void Prefixes::reserve(Int more, bool indexed, bool graph)
{
    if (made + more > static_cast<Int>(reach.size())) {
        const std::size_t size = 2 * reach.size() + more + ROOM;
        reach.resize(size);
        key.resize(size * words);
        state.resize(size);
        parent.resize(size);
        group.resize(size);
    }
    if (graph && begin.size() <= reach.size()) {
        begin.resize(reach.size() + 1);
        ahead.resize(reach.size());
    }
    if (graph && edges + more > static_cast<Int>(target.size())) {
        const std::size_t size = 2 * target.size() + more + 4 * ROOM;
        target.resize(size);
        label.resize(size);
        worth.resize(size);
    }
    const Int first = level.empty() ? 0 : level[token + 1];
    if (indexed || 2 * (made - first + more) <= static_cast<Int>(slots.size())) return;
    more_slots(4 * (made - first + more));
    const Ints table{slots.data(), {static_cast<Int>(slots.size())}};
    for (Int h = first; h < made; ++h)
        if (reach[h] > DEAD) {
            Int& slot = table[slot_of(table, keys(), h, first, clock)];
            if (slot < clock + first) slot = clock + h;
        }
}

void Prefixes::more_slots(Int least)
{
    const Int size = std::max(ROOM, power_of_two(least));
    if (size > static_cast<Int>(slots.size())) slots.assign(size, -1);
    else std::fill(slots.begin(), slots.end(), -1);
}

void Prefixes::spell(Int end, Ints path) const
{
    for (Int t = path.size() - 1; t >= 0; --t) {
        path[t] = state[end];
        end = parent[end];
    }
}

Int Prefixes::choose(Int first, Int copies, Int width, ConstInts worth)
{
    std::vector<Int> number(made - first);
    Int highest = FORBIDDEN, kept = 0;
    for (Int c : descending(worth)) {
        const Int h = first + c;
        if (reach[h] <= DEAD) continue;
        if (kept == width)
            highest = std::max(highest, reach[h]);
        else if (++number[group[h] - first] <= copies) {
            ++kept;
            continue;
        }
        reach[h] = FORBIDDEN;
    }
    Int end = first;
    for (Int h = first; h < made; ++h) {
        if (reach[h] <= DEAD) continue;
        reach[end] = reach[h];
        state[end] = state[h];
        parent[end] = parent[h];
        std::copy_n(key.begin() + h * words, words, key.begin() + end++ * words);
    }
    clock += made - end;
    made = end;
    return highest;
}

void Prefixes::drop_dominated(Int first)
{
    const Int count = made - first, width = words - 1;
    Array<Int, 2> states({count, width});
    Array<Int> score(count), table(std::max<Int>(16, power_of_two(2 * count)), -1);
    const auto all = keys();
    for (Int c = 0; c < count; ++c) {
        score[c] = reach[first + c] > DEAD ? reach[first + c] + all(first + c, width) : FORBIDDEN;
        std::copy_n(all[first + c].begin(), width, states[c].begin());
    }
    for (Int c : descending(score)) {
        if (reach[first + c] <= DEAD) continue;
        Int& cheapest = table[slot_of<Int, Int>(table, states, c, 0, 0)];
        if (cheapest >= 0 && all(first + cheapest, width) <= all(first + c, width))
            reach[first + c] = FORBIDDEN;
        else
            cheapest = c;
    }
}

}  // namespace ilpinfer
