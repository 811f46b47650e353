#include "multipliers.hpp"

#include <cmath>
#include <numeric>

#include "ordering.hpp"

namespace ilpinfer {
namespace {

constexpr int ROUNDS = 30;     // largest number of Viterbi passes
constexpr int MOST_STALE = 4;  // passes without a better bound before steps get shorter
constexpr double SHORTEST = 0.1;            // fraction of Polyak's step below which the search ends
constexpr Int GUESS = 4 * UNITS_PER_NAT;    // distance between bound and target while no labelling is known
constexpr Int CELLS = 4;                    // scores that are changed in about the time of one step of label setting
constexpr Int MOST_PAIRS = Int{1} << 22;    // pairs of step class and machine class for which multipliers are used

// Subtract the multiplier of sum m from the scores of the steps from state i, -1 for START, to B states from `base` on, into a token
// of a class.
void charge_row(const Machines& machines, Int m, Int multiplier, Int token_class, Int i, Int base, Int* row, Int B)
{
    const Short* const symbols =
        &machines.symbols[machines.table(token_class, m) + (i + 1) * machines.layout(m, STRIDE) + base];
    const Int* const weight = machines.weight.data() + machines.layout(m, WEIGHT);
    for (Int b = 0; b < B; ++b) row[b] -= multiplier * weight[symbols[b]];
}

// Fill the edge scores (P, S, Bp) and the scores of the first token with those of the instance minus multipliers.
void charge_all(Repriced& r, ConstInts multipliers)
{
    const auto& [windows, scores, machines, counts] = r.instance;
    const auto& pairs = r.pairs;
    const auto own = r.emission[0];
    const Int S = own.size(), B = scores.labels, P = static_cast<Int>(pairs.size());
    for (Int p = 0; p < P; ++p)
        for (Int i = 0; i < S; ++i) std::copy_n(scores.edge[pairs[p].edge][i].data(), B, r.edge[p][i].data());
    own.copy(r.first);
    for (Int m = 0; m < multipliers.size(); ++m) {
        if (!multipliers[m]) continue;
        charge_row(machines, m, multipliers[m], pairs[0].token_class, -1, 0, own.data(), B);
        for (Int p = 0; p < P; ++p)
            for (Int i = 0; i < S; ++i)
                charge_row(machines, m, multipliers[m], pairs[p].token_class, i, scores.base[i], r.edge[p][i].data(), B);
    }
}

// The constant of the dual function: the sum of multiplier · side over all sums.
Int constant(const Machines& machines, ConstInts multipliers)
{
    Int total = 0;
    for (Int m = 0; m < multipliers.size(); ++m)
        if (multipliers[m]) total += multipliers[m] * machines.sums(m, multipliers[m] > 0 ? HIGH : LOW);
    return total;
}

// Replace units by a negative subgradient of the bound, with 0 where a multiplier is at the end of its range; returns its squared norm.
Int slopes(const Machines& machines, ConstInts multipliers, Ints units)
{
    Int norm = 0;
    for (Int m = 0; m < multipliers.size(); ++m) {
        const Int low = machines.sums(m, LOW), high = machines.sums(m, HIGH);
        const Int side = multipliers[m] > 0 ? high : low;
        Int away = units[m] - (multipliers[m] ? side : std::min(std::max(units[m], low), high));
        if ((away > 0 && multipliers[m] >= machines.sums(m, MOST)) ||
            (away < 0 && multipliers[m] <= machines.sums(m, LEAST)))
            away = 0;
        units[m] = away;
        norm += away * away;
    }
    return norm;
}

// Change the costs of one machine; the value of its best future.
//
// One pass over the states from the last to the first is enough where no arc leads to an earlier state, as in sums with weights of
// one sign. Others take passes in both directions until nothing changes.
Int give_back(const Machines& machines, Int m, Int multiplier, Ints cost, Ints last_cost)
{
    const Int Q = machines.layout(m, STATES), width = machines.layout(m, WIDTH);
    const Int arcs = machines.layout(m, ARC), ends = machines.layout(m, FINAL);
    const Int* const weight = machines.weight.data() + machines.layout(m, WEIGHT);
    Array<Int> most(Q);
    bool changed = true, backward = true, ordered = true;
    for (Int q = 0; q < Q; ++q) most[q] = std::max(-last_cost[ends + q], FORBIDDEN);
    while (changed) {
        changed = false;
        for (Int k = 0; k < Q; ++k) {
            const Int q = backward ? Q - 1 - k : k;
            for (Int s = 0; s < width; ++s) {
                const Int arc = arcs + q * width + s, next = machines.next_state[arc];
                if (next == q) continue;
                const Int through = multiplier * weight[s] + most[next] - cost[arc];
                if (through > most[q]) {
                    most[q] = through;
                    changed = true;
                }
                ordered = ordered && next > q;
            }
        }
        changed = changed && !ordered;
        backward = !backward;
    }
    for (Int q = 0; q < Q; ++q) {
        for (Int s = 0; s < width; ++s) {
            const Int arc = arcs + q * width + s, ahead = most[machines.next_state[arc]];
            const bool dead = cost[arc] > -DEAD || ahead < DEAD || most[q] < DEAD;
            cost[arc] = dead ? HARD : cost[arc] - multiplier * weight[s] - ahead + most[q];
        }
        Int& last = last_cost[ends + q];
        last = last > -DEAD || most[q] < DEAD ? HARD : last + most[q];
    }
    return most[0];
}

// The costs of machines after the best future of each, at its multiplier, is moved to the start, and the scores; `multipliers` that
// are not 0 are of sums.
void move_multipliers(Repriced& r, ConstInts multipliers)
{
    auto& [windows, scores, machines, counts] = r.instance;
    const Int M = machines.size(), S = scores.states();
    r.cost = Array<Int>::copy_of(machines.cost, {machines.cost.size()});
    r.last_cost = Array<Int>::copy_of(machines.last_cost, {machines.last_cost.size()});
    r.owing = Array<Small>(M);
    r.charged = Array<bool>(M);
    r.sums = Array<Int, 2>({M, 4}, 0);
    Int total = 0, owing = 0;
    for (Int m = 0; m < M; ++m) {
        r.charged[m] = multipliers[m] != 0;
        if (multipliers[m]) total += give_back(machines, m, multipliers[m], r.cost, r.last_cost);
        if (r.last_cost[machines.layout(m, FINAL)]) r.owing[owing++] = static_cast<Small>(m);
    }
    charge_all(r, multipliers);
    for (Int j = 0; j < S; ++j) r.emission(0, j) += total;
    scores.edge = r.edge;
    machines.cost = r.cost;
    machines.last_cost = r.last_cost;
    machines.owing = r.owing.slice(0, owing);
    machines.sums = r.sums;
    machines.charged = r.charged;
}

// A sequence with its own emission and room for its own edge scores, without multipliers so far.
std::unique_ptr<Repriced> own_copy(const Instance& instance, const Sequence& sequence)
{
    const Int T = sequence.size(), S = sequence.emission.shape(1), C = instance.machines.table.shape(0);
    const auto& edge = instance.scores.edge;
    auto r = std::make_unique<Repriced>();
    r->instance = instance;
    r->first = sequence.emission[sequence.rows[0]];
    r->emission = Array<Int, 2>({T, S});
    r->rows = Array<Int>(T);
    r->edges = Array<Int>(T);
    std::iota(r->rows.begin(), r->rows.end(), 0);
    std::vector<Small> number(edge.size() * C, -1);
    for (Int t = 0; t < T; ++t) {
        r->emission[t].copy(sequence.emission[sequence.rows[t]]);
        Small& known = number[sequence.edges[t] * C + sequence.classes[t]];
        if (known < 0) {
            known = static_cast<Small>(r->pairs.size());
            r->pairs.push_back({sequence.edges[t], sequence.classes[t]});
        }
        r->edges[t] = known;
    }
    r->edge = Array<Int, 3>({static_cast<Int>(r->pairs.size()), S, edge.shape(2)}, FORBIDDEN);
    r->sequence = {r->emission, r->rows, sequence.nodes, r->edges, sequence.classes};
    return r;
}

}  // namespace

std::unique_ptr<Repriced> tighten(const Instance& instance, const Sequence& sequence, Completion& completion,
                                  Active& active, Best& best, Ints path, Ints marks, Ints multipliers, Int steps,
                                  bool final_step)
{
    const auto& [windows, scores, machines, counts] = instance;
    const Int T = sequence.size(), S = sequence.emission.shape(1), M = machines.size();
    if (scores.edge.size() * machines.table.shape(0) > MOST_PAIRS) return nullptr;
    Array<Int> trial(T);
    trace(scores, sequence.edges, completion, trial);
    auto r = own_copy(instance, sequence);
    auto charged = scores;
    charged.edge = r->edge;
    Array<Int> at(M, 0), units(M), best_path = Array<Int>::copy_of(trial, {T});
    Int bound = completion.total, lowest = bound, lowest_total = bound, spent = 0;
    double share = 1.0;
    int stale = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        marks.fill(IDLE);
        active.list.clear();
        Int value = completion.total - active.charge(scores, machines, sequence.classes, trial, marks);
        weigh(instance, sequence.classes, trial, units);
        for (Int m = 0; m < M; ++m) value += at[m] * units[m];
        if (value > std::max(best.value, DEAD) || value == bound) {
            best.value = value;
            path.copy(trial);
        }
        if (value == bound) {
            best.proved = true;
            multipliers.copy(at);
            break;
        }
        const Int norm = slopes(machines, at, units);
        const Int target = best.value > DEAD ? best.value : lowest - GUESS;
        if (norm == 0 || target >= lowest) break;
        const double step = share * static_cast<double>(std::max<Int>(1, bound - target)) / static_cast<double>(norm);
        bool moved = false;
        for (Int m = 0; m < M; ++m) {
            const Int wanted = at[m] + static_cast<Int>(std::nearbyint(step * static_cast<double>(units[m])));
            const Int after = std::min(std::max(wanted, machines.sums(m, LEAST)), machines.sums(m, MOST));
            moved |= after != at[m];
            at[m] = after;
        }
        spent += (T + static_cast<Int>(r->pairs.size()) * (1 + count_nonzero(at))) * S * scores.labels / CELLS;
        if (!moved || spent > steps) break;
        charge_all(*r, at);
        complete(charged, r->sequence, completion);
        bound = completion.total + constant(machines, at);
        trace(charged, r->edges, completion, trial);
        if (bound < lowest) {
            lowest = bound;
            lowest_total = completion.total;
            stale = 0;
            multipliers.copy(at);
            best_path.copy(trial);
        } else if (++stale == MOST_STALE) {
            share /= 2;
            stale = 0;
            if (share < SHORTEST) break;
            at.copy(multipliers);
            trial.copy(best_path);
            completion.total = lowest_total;
            bound = lowest;
        }
    }
    best.bound = std::min(best.bound, best.proved ? bound : lowest);
    marks.fill(IDLE);
    active.list.clear();
    if (final_step && best.proved) return nullptr;
    move_multipliers(*r, multipliers);
    return r;
}

std::unique_ptr<Repriced> reprice(const Instance& instance, const Sequence& sequence, ConstInts multipliers)
{
    auto r = own_copy(instance, sequence);
    move_multipliers(*r, multipliers);
    return r;
}

}  // namespace ilpinfer
