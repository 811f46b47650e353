#include "events.hpp"

#include <vector>

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

// Whether each symbol of machine m changes one of its states or has a cost in one.
Array<bool> find_changes(const Arcs& arcs, Int m)
{
    const Int width = arcs.layout(m, WIDTH), first = arcs.layout(m, ARC);
    Array<bool> changes(width, false);
    for (Int q = 0; q < arcs.layout(m, STATES); ++q)
        for (Int s = 0; s < width; ++s) {
            const Int arc = first + q * width + s;
            changes[s] |= arcs.next_state[arc] != q || arcs.violations[arc] != 0;
        }
    return changes;
}

}  // namespace

EventLists index_events(const Arcs& arcs)
{
    const Int C = arcs.table.shape(0), M = arcs.table.shape(1), S = arcs.states;
    const Int befores = S == arcs.labels ? arcs.labels + 1 : 1;
    struct Change {
        Int step;
        Short machine, symbol;
    };
    std::vector<Change> found;
    Array<Int> changed(S);
    for (Int m = 0; m < M; ++m) {
        look_for_interrupts();
        const Int stride = arcs.layout(m, STRIDE);
        const auto changes = find_changes(arcs, m);
        for (Int c = 0; c < C; ++c) {
            Int count = 0;
            for (Int before = 0; before < befores; ++before) {
                const Short* const symbols = arcs.symbols.data() + arcs.table(c, m) + before * stride;
                if (stride || before == 0) {
                    count = 0;
                    for (Int j = 0; j < S; ++j) {
                        changed[count] = j;
                        count += changes[symbols[j]];
                    }
                }
                for (Int j : changed.slice(0, count))
                    found.push_back({(c * befores + before) * S + j, static_cast<Short>(m), symbols[j]});
            }
        }
    }
    Array<Small> begin(C * befores * S + 1, 0);
    for (const Change& change : found) ++begin[change.step + 1];
    for (Int step = 1; step < begin.size(); ++step) begin[step] += begin[step - 1];
    auto place = Array<Small>::copy_of(begin, {begin.size()});
    Array<Short, 2> event({static_cast<Int>(found.size()), 2});
    for (const auto& [step, machine, symbol] : found) {
        const Int e = place[step]++;
        event(e, 0) = machine;
        event(e, 1) = symbol;
    }
    return {std::move(begin), std::move(event)};
}

}  // namespace ilpinfer
