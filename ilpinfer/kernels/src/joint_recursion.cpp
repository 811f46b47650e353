#include "joint_recursion.hpp"

#include <algorithm>
#include <numeric>

#include "interrupts.hpp"
#include "losses.hpp"

namespace ilpinfer {
namespace {

// The most that units of 16-bit losses add up to over the tokens of a sequence: a loss is rounded down by about three units at each
// token.
constexpr Int MOST_ROUNDED = Int{1} << 20;

// Whether a step of one of the kinds (C, S) into a state leads to a joint state, (Q, S).
void find_entered(const Joint& joint, View<Small, 2> kind, View<bool, 2> entered)
{
    const Int Q = joint.states();
    entered.fill(false);
    for (Int c = 0; c < kind.shape(0); ++c)
        for (Int j = 0; j < kind.shape(1); ++j)
            for (Int q = 0; q < Q; ++q) entered(joint.after(q, kind(c, j)), j) = true;
}

// The recursion where the joint automaton reads the state before.
void complete_by_steps(const Scores& scores, ConstInts edges, const Joint& joint, View<Int, 2> own,
                       View<Int, 2> after)
{
    const Int T = edges.size(), S = scores.states(), Q = joint.states(), W = after.shape(1);
    std::vector<Int> order(S);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Int i, Int j) { return joint.before[i + 1] < joint.before[j + 1]; });
    Array<Int> states(S), kept(S), ahead(W, FORBIDDEN);
    Array<bool, 2> entered({Q, S}, false);
    Int known = -1;
    for (Int t = T - 1; t >= 0; --t) {
        look_for_interrupts();
        if (joint.row[t] != known) {
            known = joint.row[t];
            find_entered(joint, joint.kind[known], entered);
        }
        const auto later = joint.kind[joint.row[std::min(t + 1, T - 1)]];
        for (Int q = 0; q < Q; ++q) {
            const auto out = after[t * Q + q];
            out.fill(FORBIDDEN);
            if (t == T - 1) {
                std::fill_n(out.begin(), S, -joint.last[q]);
                continue;
            }
            const auto value = [&](Int c, Int j) {
                return enter(joint, q, later(c, j), own(t + 1, j), after, (t + 1) * Q, j);
            };
            Int n = 0, first = -1;
            while (n < S) {
                const Int c = joint.before[order[n] + 1];
                Int count = 0;
                for (; n < S && joint.before[order[n] + 1] == c; ++n)
                    if (entered(q, order[n])) states[count++] = order[n];
                if (!count) continue;
                if (first < 0) {
                    for (Int j = 0; j < S; ++j) ahead[j] = value(c, j);
                    first = c;
                }
                const auto differs = [&](Int j) { return later(c, j) != later(first, j); };
                for (Int j = 0; j < S; ++j)
                    if (differs(j)) {
                        kept[j] = ahead[j];
                        ahead[j] = value(c, j);
                    }
                step_back(scores, edges[t + 1], ahead, out, states.slice(0, count));
                for (Int j = 0; j < S; ++j)
                    if (differs(j)) ahead[j] = kept[j];
            }
        }
    }
}

}  // namespace

JointCompletion complete_jointly(const Scores& scores, const Sequence& sequence, const Joint& joint,
                                 const Completion& bare, Int least)
{
    const Int T = sequence.size(), S = scores.states(), W = scores.width(), Q = joint.states();
    JointCompletion result{Array<Int, 2>({T * Q, W}),
                           Array<Int, 2>({T + (joint.reads_before() ? 1 : T * Q), W}), FORBIDDEN};
    const auto own = result.tail.slice(0, T);
    for (Int t = 0; t < T; ++t) {
        const Int row = sequence.rows[t], c = sequence.nodes[t];
        for (Int j = 0; j < W; ++j)
            own(t, j) = j < S ? std::max(sequence.emission(row, j) + scores.node(c, j), FORBIDDEN) : FORBIDDEN;
    }
    if (joint.reads_before()) {
        complete_by_steps(scores, sequence.edges, joint, own, result.after);
    } else {
        int shift = COARSE;
        while (bare.total - least > LOST<Short> / 2 << shift && T << shift <= MOST_ROUNDED) ++shift;
        if (T << shift <= MOST_ROUNDED)
            complete_by_losses<Short>(scores, sequence.edges, joint, bare, shift, result.after);
        else
            complete_by_losses<Small>(scores, sequence.edges, joint, bare, 0, result.after);
    }
    for (Int row = T; row < result.tail.size(); ++row) result.tail(row, 0) = UNFILLED;
    enter_all(joint, 0, joint.row[0], joint.before[0], result.after, 0, result.tail, T);
    result.total = best_of(result.tail[T], scores.labels);
    return result;
}

}  // namespace ilpinfer
