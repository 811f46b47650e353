#include "recursion.hpp"

#include <numeric>

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

constexpr Int TOKENS_A_LOOK = 16;  // between two looks for interrupts

}  // namespace

void step_back(const Scores& scores, Int edge, ConstInts tail, Ints out, ConstInts states)
{
    const Int count = states.size(), width = scores.padded();
    const Int* const ahead = tail.data();
    const auto gains = [&](Int i) { return scores.edge[edge][i].data(); };
    const bool same = scores.labels == scores.states();
    Int n = 0;
    for (; n + 4 <= count; n += 4) {
        const Int i0 = states[n], i1 = states[n + 1], i2 = states[n + 2], i3 = states[n + 3];
        const Int *g0 = gains(i0), *g1 = gains(i1), *g2 = gains(i2), *g3 = gains(i3);
        Int best0 = FORBIDDEN, best1 = FORBIDDEN, best2 = FORBIDDEN, best3 = FORBIDDEN;
        if (same) {
            for (Int b = 0; b < width; ++b) {
                best0 = std::max(best0, g0[b] + ahead[b]);
                best1 = std::max(best1, g1[b] + ahead[b]);
                best2 = std::max(best2, g2[b] + ahead[b]);
                best3 = std::max(best3, g3[b] + ahead[b]);
            }
        } else {
            const Int *a0 = ahead + scores.base[i0], *a1 = ahead + scores.base[i1];
            const Int *a2 = ahead + scores.base[i2], *a3 = ahead + scores.base[i3];
            for (Int b = 0; b < width; ++b) {
                best0 = std::max(best0, g0[b] + a0[b]);
                best1 = std::max(best1, g1[b] + a1[b]);
                best2 = std::max(best2, g2[b] + a2[b]);
                best3 = std::max(best3, g3[b] + a3[b]);
            }
        }
        out[i0] = best0;
        out[i1] = best1;
        out[i2] = best2;
        out[i3] = best3;
    }
    for (; n < count; ++n) {
        const Int i = states[n];
        const Int *gain = gains(i), *after = ahead + scores.base[i];
        Int best = FORBIDDEN;
        for (Int b = 0; b < width; ++b) best = std::max(best, gain[b] + after[b]);
        out[i] = best;
    }
}

void complete(const Scores& scores, const Sequence& sequence, Completion& completion)
{
    const Int T = sequence.size(), S = sequence.emission.shape(1);
    Array<Int> states(S);
    std::iota(states.begin(), states.end(), 0);
    for (Int t = T - 1; t >= 0; --t) {
        if (t % TOKENS_A_LOOK == 0) look_for_interrupts();
        const auto after = completion.after[t], tail = completion.tail[t];
        std::fill(after.begin() + S, after.end(), FORBIDDEN);
        std::fill(tail.begin() + S, tail.end(), FORBIDDEN);
        if (t < T - 1)
            step_back(scores, sequence.edges[t + 1], completion.tail[t + 1], after, states);
        else
            std::fill_n(after.begin(), S, 0);
        const Int* const own = sequence.emission[sequence.rows[t]].data();
        const Int* const node = scores.node[sequence.nodes[t]].data();
        const Int* const rest = after.data();
        Int* const out = tail.data();
        for (Int j = 0; j < S; ++j) out[j] = std::max(own[j] + node[j] + rest[j], FORBIDDEN);
    }
    completion.total = best_of(completion.tail[0], scores.labels);
}

void trace(const Scores& scores, ConstInts edges, const Completion& completion, Ints path)
{
    Int j = 0;
    while (completion.tail(0, j) != completion.total) ++j;
    path[0] = j;
    for (Int t = 1; t < path.size(); ++t) {
        const Int base = scores.base[j], wanted = completion.after(t - 1, j);
        Int b = 0;
        while (scores.edge(edges[t], j, b) + completion.tail(t, base + b) != wanted) ++b;
        path[t] = j = base + b;
    }
}

Int prune(const Scores& scores, View<Int, 2> emission, ConstInts edges, View<const Int, 2> after, Int floor)
{
    const Int T = emission.shape(0), S = emission.shape(1);
    Array<Int> reach(S, FORBIDDEN), best(S);
    Int count = 0;
    for (Int t = 0; t < T; ++t) {
        if (t % TOKENS_A_LOOK == 0) look_for_interrupts();
        for (Int j = 0; j < S; ++j) best[j] = t == 0 && j < scores.labels ? 0 : FORBIDDEN;
        for (Int i = 0; t && i < S; ++i) {
            if (reach[i] <= DEAD) continue;
            for (Int b = 0; b < scores.labels; ++b) {
                Int& there = best[scores.base[i] + b];
                there = std::max(there, reach[i] + scores.edge(edges[t], i, b));
            }
        }
        for (Int j = 0; j < S; ++j) {
            reach[j] = best[j] > DEAD ? std::max(best[j] + emission(t, j), FORBIDDEN) : FORBIDDEN;
            if (reach[j] <= DEAD || reach[j] + after(t, j) < floor)
                reach[j] = emission(t, j) = FORBIDDEN;
            else
                ++count;
        }
    }
    return count;
}

}  // namespace ilpinfer
