#include "evolution.hpp"

#include <vector>

#include "interrupts.hpp"
#include "ordering.hpp"

namespace ilpinfer {
namespace {

constexpr Int SPARE = 4;  // free joint states for each token that a generation needs
enum Count { GENERATION, VALUATIONS, RECORDED, HIGHEST };

// Make one individual the same as another.
void copy(const IndividualArrays& individuals, Int target, Int source)
{
    const auto& [label, joint, worth, broken, total, breaks] = individuals;
    label[target].copy(label[source]);
    joint[target].copy(joint[source]);
    worth[target].copy(worth[source]);
    broken[target].copy(broken[source]);
    total[target] = total[source];
    breaks[target] = breaks[source];
}

struct Evolution : Breeding {
    const Ints living, free;
    const Weights& weights;
    const Labellings<Small>& records;
    Random random{seed};
    Array<Int> borders{individuals.label.shape(1)}, everyone{living.size() + free.size()}, fitness{everyone.size()};
    Array<Int> parents{free.size() + free.size() % 2}, survivors{living.size()};
    Int weight = 0;

    // Run generations until the `last` one; whether there was room for all of them.
    bool run(Int last)
    {
        for (; counts[GENERATION] < last; ++counts[GENERATION]) {
            if (full()) return false;
            weight = weights.start + weights.increase * counts[GENERATION];
            choose_parents();
            for (Int n = 0; n < free.size(); n += 2) {
                look_for_interrupts();
                if (!breed(n)) return false;
            }
            survive();
        }
        return true;
    }

    // Whether there is too little room for joint states, or for labellings.
    bool full() const
    {
        const auto& memo = machines.memo;
        return counts[RECORDED] + free.size() > records.values.size() ||
               memo.number[0] + SPARE * chain.size() > memo.vectors.size();
    }

    // Individuals from the worst to the best.
    std::vector<Int> ranked(ConstInts some)
    {
        for (Int n = 0; n < some.size(); ++n)
            fitness[n] = weight * individuals.breaks[some[n]] - individuals.total[some[n]];
        auto order = descending(fitness.slice(0, some.size()));
        for (Int& n : order) n = some[n];
        return order;
    }

    void choose_parents()
    {
        if (settings.ranked) {
            const auto order = ranked(living);
            sample({order.data(), {living.size()}}, parents.size(), settings.pressure, random, parents);
        } else {
            for (Int& parent : parents) parent = living[random.below(living.size())];
        }
    }

    // Make free individuals n and n + 1 by exchange of a section of two parents, and mutations; false where
    // there is no room.
    bool breed(Int n)
    {
        const auto& label = individuals.label;
        const Int pair = settings.ranked ? random.below(free.size()) : n + 1;
        const Int one = parents[n], two = parents[std::min(pair, parents.size() - 1)];
        const auto [begin, end] = section(label[one], random, runs.joins, borders);
        for (Int child = n; child < std::min(n + 2, free.size()); ++child) {
            const Int who = free[child];
            copy(individuals, who, child == n ? one : two);
            label[who].slice(begin, end).copy(label[child == n ? two : one].slice(begin, end));
            repair_border(label[who], begin, runs);
            repair_border(label[who], end, runs);
            Int first = std::max<Int>(0, begin - 1), last = std::min(chain.size() - 1, end);
            if (random.share() < settings.rate) {
                const auto [low, high] = mutate(label[who], random, borders, chain.choices(),
                                                settings.shift, settings.both, runs);
                first = std::min(first, low);
                last = std::max(last, high);
            }
            if (!value(who, first, last)) return false;
            record(who);
        }
        return true;
    }

    // Record an individual if it keeps the hard rules, no recorded one is better, and there is room.
    void record(Int who)
    {
        const Int n = counts[RECORDED], total = individuals.total[who];
        if (individuals.breaks[who] || total <= counts[HIGHEST] || n == records.values.size()) return;
        counts[HIGHEST] = records.values[n] = total;
        counts[RECORDED] = n + 1;
        records.when[n] = counts[VALUATIONS];
        records.paths[n].copy(individuals.label[who]);
    }

    // Choose the survivors: the best, the best that keeps the hard rules, and others by ranking, each at most
    // once.
    void survive()
    {
        const Int mu = living.size();
        everyone.slice(0, mu).copy(living);
        everyone.slice(mu, everyone.size()).copy(free);
        const auto order = ranked(everyone);
        std::vector<bool> survives(order.size());
        Int kept = 0;
        const auto keep = [&](Int who) {
            kept += !survives[who];
            survives[who] = true;
        };
        keep(order.back());
        const auto is_feasible = [&](Int who) { return individuals.breaks[who] == 0; };
        const auto keeper = std::find_if(order.rbegin(), order.rend(), is_feasible);
        if (keeper != order.rend()) keep(*keeper);
        while (kept < mu) {
            sample({order.data(), {everyone.size()}}, mu, settings.pressure, random, survivors);
            for (Int who : survivors)
                if (kept < mu) keep(who);
        }
        Int a = 0, b = 0;
        for (Int who : everyone) (survives[who] && a < mu ? living[a++] : free[b++]) = who;
    }
};

}  // namespace

bool Breeding::value(Int who, Int first, Int last) const
{
    const auto& [rules, symbols, memo] = machines;
    const auto y = individuals.label[who], at = individuals.joint[who];
    const auto worth = individuals.worth[who], broken = individuals.broken[who];
    const Int T = y.size(), K = chain.choices(), order = chain.base[0] ? 2 : 1;
    ++counts[VALUATIONS];
    for (Int t = first; t < T; ++t) {
        Int source = t ? y[t - 1] : -1, target = y[t];
        if (order == 2 && t) {
            target += (source + 1) * K;
            if (t > 1) source += (y[t - 2] + 1) * K;
        }
        const Int s = symbols.symbol(symbols.table[t], source + 1, y[t]), q = t ? at[t - 1] : 0;
        if (memo.after(q, s) < 0 && !read_symbol(rules, symbols, memo, q, s)) return false;
        const Small next = memo.after(q, s);
        const Int gain = chain.gain(t, source, y[t], target);
        const bool dead = gain < DEAD;
        const Int here = (t ? worth[t - 1] : 0) + (dead ? 0 : gain) - memo.cost(q, s);
        const Int violations = (t ? broken[t - 1] : 0) + memo.hard(q, s) + dead;
        if (t >= last + order && at[t] == next) {
            const Int more = here - worth[t], worse = violations - broken[t];
            for (Int rest = t; rest < T; ++rest) {
                worth[rest] += more;
                broken[rest] += worse;
            }
            break;
        }
        at[t] = next;
        worth[t] = here;
        broken[t] = violations;
    }
    individuals.total[who] = worth[T - 1] - memo.end(at[T - 1], 0);
    individuals.breaks[who] = broken[T - 1] + memo.end(at[T - 1], 1);
    return true;
}

void sample(ConstInts order, Int n, double pressure, Row<std::uint64_t> seed, Ints chosen)
{
    Random random(seed);
    const Int size = order.size(), pairs = size * std::max<Int>(1, size - 1);
    double arm = random.share() / static_cast<double>(n), total = 0;
    Int drawn = 0;
    for (Int rank = 0; rank < size; ++rank) {
        total += (2 - pressure) / static_cast<double>(size) +
                 static_cast<double>(2 * rank) * (pressure - 1) / static_cast<double>(pairs);
        for (; drawn < n && (arm < total || rank == size - 1); arm += 1 / static_cast<double>(n))
            chosen[drawn++] = order[rank];
    }
}

bool Breeding::begin(Int count, Int mutations) const
{
    const Int T = individuals.label.shape(1);
    Array<Int> borders(T);
    for (Int who = 0; who < count; ++who) {
        look_for_interrupts();
        if (who) {
            copy(individuals, who, 0);
            for (Int n = 0; n < mutations; ++n)
                mutate(individuals.label[who], seed, borders, chain.choices(), settings.shift,
                       settings.both, runs);
        }
        if (!value(who, 0, T)) return false;
    }
    return true;
}

Int evolve(const Breeding& breeding, const Population& places, const Weights& weights, const Labellings<Small>& records,
           Int last)
{
    return !Evolution{breeding, places.living, places.free, weights, records}.run(last);
}

}  // namespace ilpinfer
