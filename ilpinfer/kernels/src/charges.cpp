#include "charges.hpp"

namespace ilpinfer {

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

}  // namespace ilpinfer
