#include "follow.hpp"

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

constexpr Int FEATURES = -1;  // the source of an event, where it is no rule; other negative ones are the model

}  // namespace

std::pair<Array<Small>, Array<Short, 2>> index_events(const Machines& machines, Int states, Int labels)
{
    const Int M = machines.size(), befores = states == labels ? labels + 1 : 1;
    Array<bool> changes(machines.weight.size(), false);
    for (Int m = 0; m < M; ++m)
        for (Int q = 0; q < machines.layout(m, STATES); ++q)
            for (Int s = 0; s < machines.layout(m, WIDTH); ++s) {
                const Int arc = machines.arc(m, q, s);
                changes[machines.layout(m, WEIGHT) + s] |= machines.next_state[arc] != q || machines.violations[arc];
            }
    std::vector<Small> begin{0};
    std::vector<Short> event;
    for (Int c = 0; c < machines.table.size(); ++c)
        for (Int before = 0; before < befores; ++before) {
            look_for_interrupts();
            for (Int j = 0; j < states; ++j) {
                for (Int m = 0; m < M; ++m) {
                    const Int symbol = machines.symbol(m, c, before, j);
                    if (!changes[machines.layout(m, WEIGHT) + symbol]) continue;
                    event.push_back(static_cast<Short>(m));
                    event.push_back(static_cast<Short>(symbol));
                }
                begin.push_back(static_cast<Small>(event.size() / 2));
            }
        }
    return {array_of(begin), array_of(event, std::array{static_cast<Int>(event.size() / 2), Int{2}})};
}

// Activate a machine, and with it the others of a rule that counts once.
void Active::activate(const Machines& machines, Int m, Ints marks)
{
    const Int mark = machines.mark[m];
    const Int first = mark < 0 ? m : 0, last = mark < 0 ? m + 1 : marks.size();
    for (Int k = first; k < last; ++k)
        if (marks[k] == IDLE && (k == m || machines.mark[k] == mark)) {
            marks[k] = FOUND;
            list.push_back(k);
        }
}

Int Active::charge(const Scores& scores, const Machines& machines, ConstInts classes, ConstInts path,
                   Ints marks)
{
    const std::size_t known = list.size();
    Int total = 0;
    const auto pay = [&](Int m, Int cost) {
        if (!cost) return;
        activate(machines, m, marks);
        const Int mark = machines.mark[m];
        if (mark >= 0) {
            if (paid_[mark] >= 0) return;
            paid_[mark] = m;
        }
        total = std::min(total + cost, HARD);
    };
    walk_(
        scores, machines, classes, path, [&](Int m) { return !(marks[m] & 1); },
        [&](Int m, Int arc) { pay(m, machines.cost[arc]); },
        [&](Int m, Int place) { pay(m, machines.last_cost[place]); });
    for (std::size_t a = known; a < list.size(); ++a) {
        marks[list[a]] = ACTIVE_MACHINE;
        if (machines.mark[list[a]] >= 0) paid_[machines.mark[list[a]]] = -1;
    }
    return total;
}

std::pair<Int, Int> value_states(const Instance& instance, const Sequence& sequence, ConstInts path,
                                 Active& active)
{
    const auto& scores = instance.scores;
    Int total = 0, i = 0;
    for (Int t = 0; t < path.size(); ++t) {
        const Int j = path[t], step = t ? scores.edge(sequence.edges[t], i, j - scores.base[i]) : 0;
        const Int gain = sequence.emission(sequence.rows[t], j) + step;
        total = gain < DEAD || total < DEAD ? FORBIDDEN : total + gain;
        i = j;
    }
    Array<Int> marks(instance.machines.size(), IDLE);
    return {total, active.charge(scores, instance.machines, sequence.classes, path, marks)};
}

void weigh(const Instance& instance, ConstInts classes, ConstInts path, Ints units)
{
    const auto& machines = instance.machines;
    units.fill(0);
    follow_events(instance.scores, machines, classes, path,
                  [&](Int m, Int symbol) { units[m] += machines.weight[machines.layout(m, WEIGHT) + symbol]; });
}

Int evaluate(const Instance& instance, const Sequence& sequence, const ModelSteps& steps, ConstInts path, Walk& walk,
             bool silent, Ints parts, Ints violations)
{
    const auto& [windows, scores, machines, counts] = instance;
    const Int K = sequence.emission.shape(1);
    Int model = 0, features = 0, penalty = 0, broken = 0, overruled = 0;
    const auto count = [&](View<const Small, 1> begin, Int number, Int score) {
        for (Int e = begin[number]; e < begin[number + 1]; ++e) {
            const Int source = counts.event(e, 0), amount = counts.event(e, 1);
            (source >= 0 ? violations[source] : source == FEATURES ? features : score) += amount;
        }
        model = std::max(model + score, FORBIDDEN);
    };
    violations.fill(0);
    for (Int t = 0; t < path.size(); ++t) {
        const Int j = path[t], node = sequence.nodes[t];
        count(counts.node_begin, node * K + j, sequence.emission(sequence.rows[t], j));
        overruled += counts.overruled[node];
        if (!t) continue;
        const Int i = path[t - 1], number = (steps.classes[t] * K + i) * K + j;
        count(counts.edge_begin, number, counts.pool(steps.entry(t), i, j));
    }
    if (!silent)
        walk(
            scores, machines, sequence.classes, path, [](Int) { return true; },
            [&](Int m, Int arc) { violations[counts.owner[m]] += machines.violations[arc]; },
            [&](Int m, Int place) { violations[counts.owner[m]] += machines.last[place]; });
    for (Int r = 0; r < violations.size(); ++r) {
        violations[r] = std::min(violations[r], counts.rules(r, 1));
        if (counts.rules(r, 0) == HARD)
            broken += violations[r] > 0;
        else
            penalty += counts.rules(r, 0) * violations[r];
    }
    if (model < DEAD) {
        model = FORBIDDEN;
        features = 0;
        broken = std::max<Int>(broken, 1);
    }
    parts[MODEL_SCORE] = model;
    parts[FEATURE_SCORE] = features;
    parts[PENALTY] = penalty;
    parts[HARD_BROKEN] = broken;
    parts[OVERRULED] = overruled;
    return broken ? FORBIDDEN : model + features - penalty;
}

}  // namespace ilpinfer
