#include "evaluation.hpp"

namespace ilpinfer {
namespace {

constexpr Int FEATURES = -1;  // the source of an event, where it is no rule; other negative ones are the model

struct Scored {
    Int model = 0, features = 0;
};

// Add the violations of one label or step; what the model and features add to its score.
Scored count_events(const Counts& counts, View<const Small, 1> begin, Int number, Ints violations)
{
    Scored scored;
    for (Int e = begin[number]; e < begin[number + 1]; ++e) {
        const Int source = counts.event(e, 0), amount = counts.event(e, 1);
        if (source >= 0)
            violations[source] += amount;
        else if (source == FEATURES)
            scored.features += amount;
        else
            scored.model += amount;
    }
    return scored;
}

}  // namespace

Int evaluate(const Instance& instance, const Sequence& sequence, ConstInts edge_classes, ConstInts pool,
             ConstInts path, Walk& walk, bool silent, Ints parts, Ints violations)
{
    const auto& [windows, scores, machines, counts] = instance;
    const Int K = sequence.emission.shape(1);
    Int model = 0, features = 0, penalty = 0, broken = 0, overruled = 0;
    const auto add = [&](Int score, const Scored& scored) {
        model = std::max(model + score + scored.model, FORBIDDEN);
        features += scored.features;
    };
    violations.fill(0);
    for (Int t = 0; t < path.size(); ++t) {
        const Int j = path[t], node = sequence.nodes[t];
        add(sequence.emission(sequence.rows[t], j), count_events(counts, counts.node_begin, node * K + j, violations));
        overruled += counts.overruled[node];
        if (!t) continue;
        const Int i = path[t - 1], number = (edge_classes[t] * K + i) * K + j;
        add(counts.pool(pool.empty() ? 0 : pool[t], i, j), count_events(counts, counts.edge_begin, number, violations));
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
