#include "discrepancy.hpp"

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

// Steps of machines that are read for a whole labelling in about the time of a node.
constexpr Int READ_AS_ONE = 64;

}  // namespace

Int Dive::run(Int work) const
{
    const Int stop = counts[WORK] + work;
    while (counts[DEPTH] >= 0) {
        if (counts[WORK] >= stop) return WORKED;
        const Int t = counts[DEPTH];
        Int& following = tokens(t, FOLLOWING);
        if (following < 0) {
            look_for_interrupts();
            if (!expand(t)) return FULL;
            following = 0;
            continue;
        }
        if (!take(t, following)) {
            following = -1;
            --counts[DEPTH];
        } else if (t < chain.size() - 1) {
            ++counts[DEPTH];
        } else if (!record(chosen(t).value)) {
            --following;
            return FULL;
        }
    }
    return DONE;
}

// The cost of the first tokens of the labelling on the stack, by late machines; `HARD` where a hard rule breaks. The joint state
// after these tokens is kept.
Int Dive::read_prefix(Int length) const
{
    if (late.machines.size() == 0) return 0;
    Int total = 0, before = -1;
    kept.fill(0);
    for (Int t = 0; t < length; ++t) {
        const auto [cost, hard] = read_step(late, t, before, chosen(t).state, kept);
        if (hard) return HARD;
        total += cost;
        before = chosen(t).state;
    }
    return total;
}

// The cost of a last step and of the end, after `read_prefix`.
Int Dive::read_last(Int t, Int before, Int now) const
{
    vector.copy(kept);
    const auto [cost, hard] = read_step(late, t, before, now, vector);
    if (hard) return HARD;
    const auto end = close(late, vector);
    return end.hard ? HARD : cost + end.cost;
}

// Put the choices for token t on the stack, best first; false where there is no room for joint states. Choices for the last token
// complete labellings, which are evaluated by all rules.
bool Dive::expand(Int t) const
{
    const auto& [rules, symbols, memo] = machines;
    const bool last = t == chain.size() - 1;
    const Int paid = last ? read_prefix(t) : 0;
    const Choice prefix = t ? chosen(t - 1) : Choice{-1, 0, 0, 0};
    const Int start = chain.first_state(t, prefix.state);
    Int count = 0;
    ++counts[NODES];
    counts[WORK] += 1 + (last ? t * late.machines.size() / READ_AS_ONE : 0);
    for (Int b = 0; b < chain.choices(); ++b) {
        const Int j = start + b, gain = chain.gain(t, prefix.state, b, j);
        if (gain < DEAD || completion(t, j) < DEAD) continue;
        const Int s = symbols.symbol(symbols.table[t], prefix.state + 1, b);
        if (memo.after(prefix.joint, s) == UNKNOWN && !read_symbol(rules, symbols, memo, prefix.joint, s)) return false;
        const Small next = memo.after(prefix.joint, s);
        if (next == BROKEN) continue;
        Int total = prefix.value + gain - memo.cost(prefix.joint, s);
        if (last) {
            const auto end = close_copy(rules, memo.vectors[next]);
            const Int rest = end.hard || paid == HARD ? HARD : read_last(t, prefix.state, j);
            if (rest == HARD) continue;
            total -= end.cost + paid + rest;
        }
        const Int could = total + completion(t, j);
        if (total - shift[t] < limits[FLOOR] || could < limits[REACH]) continue;
        count = insert(t, count, {j, next, total, bounded() ? could : total});
    }
    tokens(t, SIZE) = count;
    return true;
}

// Insert a choice among the first `count` ones, if it is one of the best; the number of choices.
Int Dive::insert(Int t, Int count, const Choice& choice) const
{
    Choice* const first = choices_of(t);
    Int place = count;
    while (place > 0 && first[place - 1].key < choice.key) --place;
    const bool full = count == limits[WIDTH];
    if (full) counts[CUT] = 1;
    if (full && place == count) return count;
    const Int end = full ? count : count + 1;
    std::copy_backward(first + place, first + end - 1, first + end);
    first[place] = choice;
    return end;
}

// Take choice c for token t; false where there is none that the limits allow.
bool Dive::take(Int t, Int c) const
{
    const Int used = (t ? tokens(t - 1, SPENT) : 0) + (c > 0);
    if (c >= tokens(t, SIZE)) return false;
    if (discrepancies >= 0 && used > discrepancies) {
        counts[CUT] = 1;
        return false;
    }
    if (bounded() && choices_of(t)[c].key < limits[REACH]) return false;
    tokens(t, FOLLOWING) = c + 1;
    tokens(t, SPENT) = used;
    return true;
}

// Record the labelling on the stack if it is the best one, and raise a floor; false where there is no room.
bool Dive::record(Int total) const
{
    if (total <= counts[BEST]) return true;
    const Int n = counts[COMPLETE], T = chain.size();
    if (n == records.values.size()) return false;
    for (Int t = 0; t < T; ++t) records.paths(n, t) = chosen(t).state;
    records.values[n] = counts[BEST] = total;
    records.when[n] = counts[NODES];
    ++counts[COMPLETE];
    if (raised == VALUES) limits[FLOOR] = std::max(limits[FLOOR], total - shift[T - 1]);
    if (raised == REACHES) limits[REACH] = std::max(limits[REACH], total + 1);
    return true;
}

}  // namespace ilpinfer
