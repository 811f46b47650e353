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

class Evolution {
public:
    Evolution(const Chain& chain, const MemoJoint& machines, const IndividualArrays& individuals,
              const Population& places, Row<std::uint64_t> seed, const Runs& runs, const Settings& settings,
              const Weights& weights, const Labellings<Small>& records, Ints counts)
        : chain_(chain), machines_(machines), individuals_(individuals), living_(places.living),
          free_(places.free), random_(seed), runs_(runs), settings_(settings), weights_(weights),
          records_(records), counts_(counts), borders_(individuals.label.shape(1)),
          fitness_(living_.size() + free_.size()), everyone_(fitness_.size()),
          parents_(free_.size() + free_.size() % 2), survivors_(living_.size())
    {
    }

    // Run generations until the `last` one; whether there was room for all of them.
    bool run(Int last)
    {
        for (; counts_[GENERATION] < last; ++counts_[GENERATION]) {
            if (full()) return false;
            weight_ = weights_.start + weights_.increase * counts_[GENERATION];
            choose_parents();
            for (Int n = 0; n < free_.size(); n += 2) {
                look_for_interrupts();
                if (!breed(n)) return false;
            }
            survive();
        }
        return true;
    }

private:
    // Whether there is too little room for joint states, or for labellings.
    bool full() const
    {
        const auto& memo = machines_.memo;
        return counts_[RECORDED] + free_.size() > records_.values.size() ||
               memo.number[0] + SPARE * chain_.size() > memo.vectors.size();
    }

    // Individuals from the worst to the best.
    std::vector<Int> ranked(ConstInts individuals)
    {
        const auto fitness = fitness_.slice(0, individuals.size());
        for (Int n = 0; n < individuals.size(); ++n)
            fitness[n] = weight_ * individuals_.breaks[individuals[n]] - individuals_.total[individuals[n]];
        auto order = descending(fitness);
        for (Int& n : order) n = individuals[n];
        return order;
    }

    void choose_parents()
    {
        if (settings_.ranked) {
            const auto order = ranked(living_);
            sample({order.data(), {living_.size()}}, parents_.size(), settings_.pressure, random_, parents_);
        } else {
            for (Int& parent : parents_) parent = living_[random_.below(living_.size())];
        }
    }

    // Make free individuals n and n + 1 by exchange of a section of two parents, and mutations; false where
    // there is no room.
    bool breed(Int n)
    {
        const auto& label = individuals_.label;
        const Int pair = settings_.ranked ? random_.below(free_.size()) : n + 1;
        const Int one = parents_[n], two = parents_[std::min(pair, parents_.size() - 1)];
        const auto [begin, end] = section(label[one], random_, runs_.joins, borders_);
        for (Int child = n; child < std::min(n + 2, free_.size()); ++child) {
            const Int who = free_[child];
            copy(individuals_, who, child == n ? one : two);
            label[who].slice(begin, end).copy(label[child == n ? two : one].slice(begin, end));
            repair_border(label[who], begin, runs_);
            repair_border(label[who], end, runs_);
            Int first = std::max<Int>(0, begin - 1), last = std::min(chain_.size() - 1, end);
            if (random_.share() < settings_.rate) {
                const auto [low, high] = mutate(label[who], random_, borders_, chain_.choices(),
                                                settings_.shift, settings_.both, runs_);
                first = std::min(first, low);
                last = std::max(last, high);
            }
            if (!value_individual(chain_, machines_, individuals_, who, first, last, counts_)) return false;
            record(who);
        }
        return true;
    }

    // Record an individual if it keeps the hard rules, no recorded one is better, and there is room.
    void record(Int who)
    {
        const Int n = counts_[RECORDED], total = individuals_.total[who];
        if (individuals_.breaks[who] || total <= counts_[HIGHEST] || n == records_.values.size()) return;
        counts_[HIGHEST] = records_.values[n] = total;
        counts_[RECORDED] = n + 1;
        records_.when[n] = counts_[VALUATIONS];
        records_.paths[n].copy(individuals_.label[who]);
    }

    // Choose the survivors: the best, the best that keeps the hard rules, and others by ranking, each at most
    // once.
    void survive()
    {
        const Int mu = living_.size();
        everyone_.slice(0, mu).copy(living_);
        everyone_.slice(mu, everyone_.size()).copy(free_);
        const auto order = ranked(everyone_);
        std::vector<bool> survives(order.size());
        Int kept = 0;
        const auto keep = [&](Int who) {
            kept += !survives[who];
            survives[who] = true;
        };
        keep(order.back());
        const auto is_feasible = [&](Int who) { return individuals_.breaks[who] == 0; };
        const auto keeper = std::find_if(order.rbegin(), order.rend(), is_feasible);
        if (keeper != order.rend()) keep(*keeper);
        while (kept < mu) {
            sample({order.data(), {everyone_.size()}}, mu, settings_.pressure, random_, survivors_);
            for (Int who : survivors_)
                if (kept < mu) keep(who);
        }
        Int a = 0, b = 0;
        for (Int who : everyone_) (survives[who] && a < mu ? living_[a++] : free_[b++]) = who;
    }

    const Chain& chain_;
    const MemoJoint& machines_;
    const IndividualArrays& individuals_;
    const Ints living_, free_;
    Random random_;
    const Runs& runs_;
    const Settings& settings_;
    const Weights& weights_;
    const Labellings<Small>& records_;
    const Ints counts_;
    Array<Int> borders_, fitness_, everyone_, parents_, survivors_;
    Int weight_ = 0;
};

}  // namespace

bool value_individual(const Chain& chain, const MemoJoint& machines, const IndividualArrays& individuals,
                      Int who, Int first, Int last, Ints counts)
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

bool begin_population(const Chain& chain, const MemoJoint& machines, const IndividualArrays& individuals,
                      Int count, Int mutations, Row<std::uint64_t> seed, const Runs& runs,
                      const Settings& settings, Ints counts)
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
        if (!value_individual(chain, machines, individuals, who, 0, T, counts)) return false;
    }
    return true;
}

Int evolve(const Chain& chain, const MemoJoint& machines, const IndividualArrays& individuals,
           const Population& places, Row<std::uint64_t> seed, const Runs& runs, const Settings& settings,
           const Weights& weights, const Labellings<Small>& records, Ints counts, Int last)
{
    Evolution search(chain, machines, individuals, places, seed, runs, settings, weights, records, counts);
    return !search.run(last);
}

}  // namespace ilpinfer
