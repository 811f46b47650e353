#include "agreement.hpp"

#include "interrupts.hpp"
#include "recursion.hpp"
#include "single.hpp"

namespace ilpinfer::agreement {
namespace {

Int largest(ConstInts values) { return *std::max_element(values.begin(), values.end()); }

// The largest sum of two values at the same place.
Int largest_sum(ConstInts a, ConstInts b)
{
    Int best = a[0] + b[0];
    for (Int k = 1; k < a.size(); ++k) best = std::max(best, a[k] + b[k]);
    return best;
}

// Fill result (F,) with the best score before an entry, for each of its kinds.
void cross(ConstInts values, Int penalty, Ints result)
{
    const Int best = largest(values) - penalty;
    for (Int f = 0; f < values.size(); ++f)
        result[f] = penalty == HARD ? values[f] : std::max(values[f], best);
}

// Divides scores between a lattice and lists.
class Balance {
public:
    Balance(const Lattice& lattice, const Lists& lists)
        : lattice_(lattice), lists_(lists), through_(lists.kinds()), moved_(lists.kinds())
    {
    }

    // Divide the scores of a token's kinds evenly between the lattice and one of its lists.
    void divide(Int t, Int n)
    {
        const auto& kind = lists_.kind;
        const auto node = lattice_.node[t], reach = lattice_.reach[t], ahead = lattice_.after[t];
        const auto own = lists_.own[n], past = lists_.past[n], future = lists_.future[n];
        through_.fill(FORBIDDEN);
        for (Int s = 0; s < kind.size(); ++s)
            through_[kind[s]] = std::max(through_[kind[s]], reach[s] + ahead[s]);
        const Int best = largest(through_), highest = largest_sum(past, future);
        for (Int f = 0; f < own.size(); ++f) {
            const Int chain = past[f] + future[f];
            if (through_[f] < DEAD || chain < DEAD) {
                moved_[f] = own[f] = past[f] = FORBIDDEN;
                continue;
            }
            moved_[f] = ((chain - highest) - (through_[f] - best)) >> 1;
            own[f] -= moved_[f];
            past[f] -= moved_[f];
        }
        for (Int s = 0; s < kind.size(); ++s) {
            node[s] = std::max(node[s] + moved_[kind[s]], FORBIDDEN);
            reach[s] = std::max(reach[s] + moved_[kind[s]], FORBIDDEN);
        }
    }

private:
    const Lattice& lattice_;
    const Lists& lists_;
    Array<Int> through_, moved_;
};

}  // namespace

void forward(const Lattice& lattice, const Lists& lists, bool moving)
{
    Balance balance(lattice, lists);
    Array<Int> best(lattice.node.shape(1));
    for (Int t = 0; t < lattice.size(); ++t) {
        look_for_interrupts();
        const auto node = lattice.node[t], reach = lattice.reach[t];
        enter_states(lattice.scores, lattice.edges, t, t ? lattice.reach[t - 1] : reach, best);
        for (Int s = 0; s < best.size(); ++s) reach[s] = std::max(node[s] + best[s], FORBIDDEN);
        for (Int n = lists.begin[t]; n < lists.begin[t + 1]; ++n) {
            const auto own = lists.own[n], past = lists.past[n];
            past.fill(0);
            if (lists.before[n] >= 0) cross(lists.past[lists.before[n]], lists.penalty[n], past);
            for (Int f = 0; f < own.size(); ++f) past[f] = std::max(past[f] + own[f], FORBIDDEN);
            if (moving) balance.divide(t, n);
        }
    }
}

Int backward(const Lattice& lattice, const Lists& lists, bool moving)
{
    const Single one({lattice.node, lattice.edges, lattice.edges});
    Balance balance(lattice, lists);
    Array<Int> values(lists.kinds());
    Completion completion{lattice.after, lattice.tail, FORBIDDEN};
    complete(lattice.scores, one.sequence, completion, [&](Int t) {
        for (Int n = lists.begin[t]; n < lists.begin[t + 1]; ++n) {
            const Int later = lists.after[n];
            lists.future[n].fill(0);
            if (later >= 0) {
                for (Int f = 0; f < values.size(); ++f)
                    values[f] = std::max(lists.own(later, f) + lists.future(later, f), FORBIDDEN);
                cross(values, lists.penalty[later], lists.future[n]);
            }
            if (moving) balance.divide(t, n);
        }
        std::copy(lattice.node[t].begin(), lattice.node[t].end(), lattice.tail[t].begin());
    });
    Int total = completion.total;
    for (Int n = 0; n < lists.size() && total >= DEAD; ++n)
        if (lists.before[n] < 0) total += largest_sum(lists.own[n], lists.future[n]);
    return total < DEAD ? FORBIDDEN : total;
}

void best_kinds(const Lists& lists, Ints kinds)
{
    Array<Int> value(lists.kinds());
    for (Int n = 0; n < kinds.size(); ++n) {
        const Int last = lists.before[n] < 0 ? -1 : kinds[lists.before[n]], penalty = lists.penalty[n];
        for (Int f = 0; f < value.size(); ++f) {
            value[f] = lists.own(n, f) + lists.future(n, f);
            if (last >= 0 && f != last) value[f] = penalty == HARD ? FORBIDDEN : value[f] - penalty;
        }
        const auto* const best = std::max_element(value.begin(), value.end());
        kinds[n] = last >= 0 && value[last] == *best ? last : best - value.begin();
    }
}

Int narrow(const Lattice& lattice, const Lists& lists, Int total, Int floor)
{
    const Int best = largest(lattice.tail[0]);
    Int count = 0;
    for (Int t = 0; t < lattice.size(); ++t) {
        look_for_interrupts();
        for (Int s = 0; s < lattice.node.shape(1); ++s) {
            if (lattice.node(t, s) <= DEAD) continue;
            Int value = std::max(lattice.reach(t, s) + lattice.after(t, s), FORBIDDEN) + total - best;
            for (Int n = lists.begin[t]; n < lists.begin[t + 1]; ++n) {
                const auto past = lists.past[n], future = lists.future[n];
                const Int f = lists.kind[s];
                value = std::max(value + past[f] + future[f], FORBIDDEN) - largest_sum(past, future);
            }
            if (value < floor) {
                lattice.node(t, s) = FORBIDDEN;
                ++count;
            }
        }
    }
    return count;
}

void best_path(const Lattice& lattice, Ints path)
{
    trace(lattice.scores, lattice.edges, {lattice.after, lattice.tail, largest(lattice.tail[0])}, path);
}

}  // namespace ilpinfer::agreement
