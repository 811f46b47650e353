#include "agreement.hpp"

#include "interrupts.hpp"

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
        const auto node = lattice_.node[t], reach = lattice_.reach[t], ahead = lattice_.ahead[t];
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
    const Int S = lattice.states(), K = lattice.followers();
    Balance balance(lattice, lists);
    Array<Int> best(S);
    for (Int t = 0; t < lattice.size(); ++t) {
        look_for_interrupts();
        const auto node = lattice.node[t], reach = lattice.reach[t];
        reach.copy(node);
        if (t) {
            const auto edges = lattice.pool[lattice.step[t - 1]];
            const auto before = lattice.reach[t - 1];
            best.fill(FORBIDDEN);
            for (Int i = 0; i < S; ++i) {
                if (before[i] <= DEAD) continue;
                for (Int j = 0; j < K; ++j) {
                    Int& there = best[lattice.base[i] + j];
                    there = std::max(there, before[i] + edges(i, j));
                }
            }
            for (Int s = 0; s < S; ++s) reach[s] = std::max(node[s] + best[s], FORBIDDEN);
        }
        for (Int n = lists.begin[t]; n < lists.begin[t + 1]; ++n) {
            const auto own = lists.own[n], past = lists.past[n];
            past.fill(0);
            if (lists.before[n] >= 0) cross(lists.past[lists.before[n]], lists.penalty[n], past);
            for (Int f = 0; f < own.size(); ++f) past[f] = std::max(past[f] + own[f], FORBIDDEN);
            if (moving) balance.divide(t, n);
        }
    }
}

void backward(const Lattice& lattice, const Lists& lists, bool moving)
{
    const Int T = lattice.size(), S = lattice.states(), K = lattice.followers();
    Balance balance(lattice, lists);
    Array<Int> tail(S), values(lists.kinds());
    for (Int t = T - 1; t >= 0; --t) {
        look_for_interrupts();
        const auto ahead = lattice.ahead[t];
        ahead.fill(0);
        if (t < T - 1) {
            const auto edges = lattice.pool[lattice.step[t]];
            for (Int s = 0; s < S; ++s)
                tail[s] = std::max(lattice.node(t + 1, s) + lattice.ahead(t + 1, s), FORBIDDEN);
            for (Int i = 0; i < S; ++i) {
                const Int first = lattice.base[i];
                Int best = FORBIDDEN;
                for (Int j = 0; j < K; ++j) best = std::max(best, edges(i, j) + tail[first + j]);
                ahead[i] = best;
            }
        }
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
    }
}

Int bound(const Lattice& lattice, const Lists& lists)
{
    Int total = largest_sum(lattice.node[0], lattice.ahead[0]);
    for (Int n = 0; n < lists.size(); ++n)
        if (lists.before[n] < 0) {
            total += largest_sum(lists.own[n], lists.future[n]);
            if (total < DEAD) return FORBIDDEN;
        }
    return std::max(total, FORBIDDEN);
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
    const Int best = largest_sum(lattice.node[0], lattice.ahead[0]);
    Int count = 0;
    for (Int t = 0; t < lattice.size(); ++t) {
        look_for_interrupts();
        for (Int s = 0; s < lattice.states(); ++s) {
            if (lattice.node(t, s) <= DEAD) continue;
            Int value = std::max(lattice.reach(t, s) + lattice.ahead(t, s), FORBIDDEN) + total - best;
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
    Int i = 0;
    for (Int t = 0; t < path.size(); ++t) {
        const Int base = t ? lattice.base[i] : 0;
        Int best = 4 * FORBIDDEN, chosen = 0;
        for (Int b = 0; b < lattice.followers(); ++b) {
            const Int j = base + b;
            Int score = std::max(lattice.node(t, j) + lattice.ahead(t, j), FORBIDDEN);
            if (t) score += lattice.pool(lattice.step[t - 1], i, b);
            if (score > best) {
                best = score;
                chosen = j;
            }
        }
        i = path[t] = chosen;
    }
}

}  // namespace ilpinfer::agreement
