#include "ranking.hpp"

#include <functional>
#include <queue>

#include "ordering.hpp"

namespace ilpinfer {
namespace {

// Fill `ahead` of each prefix of a graph.
void look_back(Prefixes& p, Int T)
{
    const Int last = p.level[T];
    p.begin[last] = static_cast<Small>(p.edges);
    std::fill(p.ahead.begin() + last, p.ahead.begin() + p.made, 0);
    for (Int h = last - 1; h >= 0; --h) {
        Int best = FORBIDDEN;
        for (Int e = p.begin[h]; e < p.begin[h + 1]; ++e) best = std::max(best, p.worth[e] + p.ahead[p.target[e]]);
        p.ahead[h] = best > DEAD ? best : FORBIDDEN;
    }
}

// The largest values, at least one and at most `most` of them, with the least on top.
class Largest {
public:
    Largest(Int most, Int first) : most_(most), heap_{first} {}

    bool full() const { return static_cast<Int>(heap_.size()) == most_; }
    Int least() const { return heap_[0]; }
    void enter(Int value)
    {
        if (!full()) {
            heap_.push_back(value);
        } else {
            if (value <= least()) return;
            std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
            heap_.back() = value;
        }
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
    std::vector<Int> values() && { return std::move(heap_); }

private:
    Int most_;
    std::vector<Int> heap_;
};

// Fill nodes from `place` on with the first best path from a node.
void follow(const Prefixes& g, Row<Small> nodes, Int place, Int h)
{
    nodes[place] = static_cast<Small>(h);
    for (Int u = place; u + 1 < nodes.size(); ++u) {
        Int e = g.begin[h];
        while (g.worth[e] + g.ahead[g.target[e]] != g.ahead[h]) ++e;
        h = g.target[e];
        nodes[u + 1] = static_cast<Small>(h);
    }
}

// A path that leaves another path at some place by another edge.
struct Branch {
    Int value;
    Small parent, place, edge;

    bool operator<(const Branch& other) const { return value < other.value; }
};

}  // namespace

bool build_graph(const Relaxation& relaxation, Int floor, Int work, Prefixes& p)
{
    LabelSetting search(relaxation);
    p.steps = 0;
    p.start(relaxation.size(), relaxation.total, search.places.words);
    p.reserve(0, false, true);
    const bool done = search.extend({.floor = floor, .work = work, .graph = true}, p);
    p.finish();
    if (done) look_back(p, relaxation.size());
    return done;
}

// Each path except the best leaves a better path at one node by another edge, and is optimal from there on (Lawler 1972).
std::vector<Int> rank_values(const Prefixes& g, Int T, Int most)
{
    const Int total = g.reach[0] + g.ahead[0];
    if (total <= DEAD) return {};
    Largest known(most, total);
    std::priority_queue<Branch> waiting;
    waiting.push({total, -1, -1, -1});
    Array<Small, 2> taken({most, T + 1});
    for (Int number = 0; number < most && !waiting.empty(); ++number) {
        const auto [value, parent, place, edge] = waiting.top();
        if (known.full() && value < known.least()) break;
        waiting.pop();
        const auto nodes = taken[number];
        if (place >= 0) std::copy_n(taken[parent].begin(), place + 1, nodes.begin());
        follow(g, nodes, place + 1, place >= 0 ? g.target[edge] : 0);
        for (Int u = place + 1; u < T; ++u) {
            const Int h = nodes[u], before = value - g.ahead[h];
            bool on_path = true;
            for (Int e = g.begin[h]; e < g.begin[h + 1]; ++e) {
                const Int ahead = g.ahead[g.target[e]];
                if (ahead <= DEAD) continue;
                if (on_path && g.worth[e] + ahead == g.ahead[h]) {
                    on_path = false;
                    continue;
                }
                const Int other = before + g.worth[e] + ahead;
                if (known.full() && other <= known.least()) continue;
                known.enter(other);
                waiting.push({other, static_cast<Small>(number), static_cast<Small>(u), static_cast<Small>(e)});
            }
        }
    }
    return std::move(known).values();
}

void list_paths(const Prefixes& g, const std::vector<Int>& best, View<Int, 2> paths, Ints values)
{
    const Int last = best[0], T = paths.shape(1);
    Int left = std::count(best.begin(), best.end(), last), number = 0;
    const Int known = static_cast<Int>(best.size());
    Array<Small, 2> found({known, T});
    Array<Int> worth(known), value(T + 1), edge(T), node(T + 1, 0);
    Array<Small> labels(T);
    value[0] = g.reach[0];
    edge[0] = g.begin[0];
    for (Int t = 0; t >= 0;) {
        const Int e = edge[t];
        if (e == g.begin[node[t] + 1]) {
            --t;
            continue;
        }
        ++edge[t];
        const Int ahead = g.ahead[g.target[e]], through = value[t] + g.worth[e] + ahead;
        if (ahead <= DEAD || through < last || (through == last && left == 0)) continue;
        labels[t] = g.label[e];
        if (t < T - 1) {
            value[t + 1] = value[t] + g.worth[e];
            node[t + 1] = g.target[e];
            ++t;
            edge[t] = g.begin[node[t]];
            continue;
        }
        left -= through == last;
        worth[number] = through;
        found[number++].copy(labels);
    }
    const auto order = descending(worth.slice(0, number));
    for (Int k = 0; k < number; ++k) {
        values[k] = worth[order[k]];
        std::copy(found[order[k]].begin(), found[order[k]].end(), paths[k].begin());
    }
}

}  // namespace ilpinfer
