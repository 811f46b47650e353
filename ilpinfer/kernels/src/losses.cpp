#include "losses.hpp"

#include "defaults.hpp"
#include "interrupts.hpp"

namespace ilpinfer {
namespace {

constexpr Int TOKENS_A_TABLE = 8;  // defaults are looked for where the table of steps changes at most once in so many tokens

template <typename Loss>
Loss loss_of(Int value, int shift)
{
    return static_cast<Loss>(std::min(value >> shift, LOST<Loss> / 2));
}

// Joint states by the kind of step that leads to them, or that changes them.
template <typename Item>
struct ByKind {
    std::vector<Int> begin{0};
    std::vector<Item> items;

    Int first(Int k) const { return begin[k]; }
    Int last(Int k) const { return begin[k + 1]; }
};

// Joint states that steps of each kind lead to.
ByKind<Int> led_to(const Joint& joint)
{
    const Int Q = joint.states(), kinds = joint.after.shape(1);
    ByKind<Int> result;
    std::vector<Int> last(Q, -1);
    for (Int k = 0; k < kinds; ++k) {
        for (Int q = 0; q < Q; ++q) last[joint.after(q, k)] = k;
        for (Int q = 0; q < Q; ++q)
            if (last[q] == k) result.items.push_back(q);
        result.begin.push_back(static_cast<Int>(result.items.size()));
    }
    return result;
}

struct Change {
    Small from, to, loss;
};

// Joint states that steps of each kind leave or charge.
template <typename Loss>
ByKind<Change> changes_of(const Joint& joint, int shift)
{
    ByKind<Change> result;
    for (Int k = 0; k < joint.after.shape(1); ++k) {
        for (Int q = 0; q < joint.states(); ++q) {
            const Int cost = joint.cost(q, k), to = joint.after(q, k);
            if (to == q && !cost) continue;
            const Int loss = cost > -DEAD ? LOST<Loss> : loss_of<Loss>(cost, shift);
            result.items.push_back({static_cast<Small>(q), static_cast<Small>(to), static_cast<Small>(loss)});
        }
        result.begin.push_back(static_cast<Int>(result.items.size()));
    }
    return result;
}

// A recursion, step by step. Losses from joint states on are by joint state and state, or, where steps have default scores, by
// state and joint state.
template <typename Loss>
class Recursion {
public:
    Recursion(const Scores& scores, const Joint& joint, int shift, Int width)
        : scores_(scores), joint_(joint), shift_(shift), led_(led_to(joint)),
          changes_(changes_of<Loss>(joint, shift)), loss_({scores.states(), scores.edge.shape(2)}),
          ahead_({joint.states(), width}), short_({joint.states(), scores.states()}),
          ahead_by_state_({scores.states(), joint.states()}),
          short_by_state_({scores.states(), joint.states()}), begin_(joint.after.shape(1) + 1),
          order_(scores.states())
    {
    }

    void operator()(ConstInts edges, const Completion& bare, View<Int, 2> after);

private:
    static constexpr Loss lost = static_cast<Loss>(LOST<Loss>), most = static_cast<Loss>(LOST<Loss> / 2);

    void sort_by_kind(Row<Small> kind);
    void find_losses(Int edge, ConstInts best, ConstInts tail);
    void step_back(const Int* states, const Int* first, const Int* last);
    void step_back_by_defaults(View<const Int, 2> gain, ConstInts best, ConstInts tail);
    void enter_states(Row<Small> kind);
    void enter_joint_states();
    static Loss entered(Loss loss) { return loss >= lost ? lost : std::min(loss, most); }
    static Loss charged(Int loss, Int more)
    {
        return std::max(loss, more) >= lost ? lost : static_cast<Loss>(std::min<Int>(loss + more, most));
    }

    const Scores& scores_;
    const Joint& joint_;
    int shift_;
    ByKind<Int> led_;
    ByKind<Change> changes_;
    Array<Loss, 2> loss_, ahead_, short_, ahead_by_state_, short_by_state_;
    std::vector<Int> begin_, order_;  // states of kind k are order_[begin_[k]] to before order_[begin_[k + 1]]
    Defaults defaults_;
};

template <typename Loss>
void Recursion<Loss>::sort_by_kind(Row<Small> kind)
{
    std::fill(begin_.begin(), begin_.end(), 0);
    for (Small k : kind) ++begin_[k + 1];
    for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
    for (Int j = 0; j < kind.size(); ++j) order_[begin_[kind[j]]++] = j;
    for (std::size_t k = begin_.size() - 1; k > 0; --k) begin_[k] = begin_[k - 1];
    begin_[0] = 0;
}

// What each step loses against the best one of its state, by the completions of the states and the tails after them.
template <typename Loss>
void Recursion<Loss>::find_losses(Int edge, ConstInts best, ConstInts tail)
{
    const Int width = scores_.padded();
    for (Int i = 0; i < loss_.shape(0); ++i) {
        const Int* const gain = scores_.edge[edge][i].data();
        const Int* const after = tail.data() + scores_.base[i];
        Loss* const own = loss_[i].data();
        const Int highest = best[i];
        for (Int b = 0; b < width; ++b) {
            const Int value = gain[b] + after[b];
            own[b] = value < DEAD ? lost : loss_of<Loss>(highest - value, shift_);
        }
    }
}

// The losses from joint states on after each of four states. Four states and two joint states at a time save memory access.
template <typename Loss>
void Recursion<Loss>::step_back(const Int* states, const Int* first, const Int* last)
{
    const Int width = scores_.padded();
    const bool same = scores_.labels == scores_.states();
    const Loss* loss[4];
    Int to[4];
    for (int m = 0; m < 4; ++m) {
        loss[m] = loss_[states[m]].data();
        to[m] = scores_.base[states[m]];
    }
    for (; first < last; first += 2) {
        const Int q = first[0], r = first + 1 < last ? first[1] : q;
        const Loss *q_ahead = ahead_[q].data(), *r_ahead = ahead_[r].data();
        Loss q0 = lost, q1 = lost, q2 = lost, q3 = lost, r0 = lost, r1 = lost, r2 = lost, r3 = lost;
        if (same) {
            for (Int b = 0; b < width; ++b) {
                const Loss l0 = loss[0][b], l1 = loss[1][b], l2 = loss[2][b], l3 = loss[3][b];
                const Loss a = q_ahead[b], c = r_ahead[b];
                q0 = std::min(q0, static_cast<Loss>(l0 + a));
                q1 = std::min(q1, static_cast<Loss>(l1 + a));
                q2 = std::min(q2, static_cast<Loss>(l2 + a));
                q3 = std::min(q3, static_cast<Loss>(l3 + a));
                r0 = std::min(r0, static_cast<Loss>(l0 + c));
                r1 = std::min(r1, static_cast<Loss>(l1 + c));
                r2 = std::min(r2, static_cast<Loss>(l2 + c));
                r3 = std::min(r3, static_cast<Loss>(l3 + c));
            }
        } else {
            for (Int b = 0; b < width; ++b) {
                const Loss l0 = loss[0][b], l1 = loss[1][b], l2 = loss[2][b], l3 = loss[3][b];
                q0 = std::min(q0, static_cast<Loss>(l0 + q_ahead[to[0] + b]));
                q1 = std::min(q1, static_cast<Loss>(l1 + q_ahead[to[1] + b]));
                q2 = std::min(q2, static_cast<Loss>(l2 + q_ahead[to[2] + b]));
                q3 = std::min(q3, static_cast<Loss>(l3 + q_ahead[to[3] + b]));
                r0 = std::min(r0, static_cast<Loss>(l0 + r_ahead[to[0] + b]));
                r1 = std::min(r1, static_cast<Loss>(l1 + r_ahead[to[1] + b]));
                r2 = std::min(r2, static_cast<Loss>(l2 + r_ahead[to[2] + b]));
                r3 = std::min(r3, static_cast<Loss>(l3 + r_ahead[to[3] + b]));
            }
        }
        Loss *q_out = short_[q].data(), *r_out = short_[r].data();
        q_out[states[0]] = q0;
        q_out[states[1]] = q1;
        q_out[states[2]] = q2;
        q_out[states[3]] = q3;
        r_out[states[0]] = r0;
        r_out[states[1]] = r1;
        r_out[states[2]] = r2;
        r_out[states[3]] = r3;
    }
}

// The losses after each state, by default scores. The loss of a default step is that of the state before plus that of the next
// state, so that one minimum for each joint state serves all states before. Four exceptions at a time save memory access.
template <typename Loss>
void Recursion<Loss>::step_back_by_defaults(View<const Int, 2> gain, ConstInts best, ConstInts tail)
{
    const Int S = short_by_state_.shape(0), Q = short_by_state_.shape(1);
    const auto& [out, into, begin, other] = defaults_;
    Int highest = FORBIDDEN;
    for (Int b = 0; b < S; ++b) highest = std::max(highest, into[b] + tail[b]);
    std::vector<Loss> usual(Q, lost);
    for (Int b = 0; b < S; ++b) {
        const Int value = into[b] + tail[b];
        if (value <= DEAD) continue;
        // the loss of the state before may be below 0 by the slack, and is not counted below 0
        const Loss loss = loss_of<Loss>(std::max<Int>(highest - value - 2 * SLACK, 0), shift_);
        const Loss* const ahead = ahead_by_state_[b].data();
        for (Int q = 0; q < Q; ++q) usual[q] = std::min(usual[q], static_cast<Loss>(loss + ahead[q]));
    }
    for (Loss& loss : usual) loss = entered(loss);
    for (Int i = 0; i < S; ++i) {
        const Int value = out[i] + highest;
        const Loss loss = value < DEAD ? lost : loss_of<Loss>(std::max<Int>(best[i] - value, 0), shift_);
        Loss* const own = short_by_state_[i].data();
        for (Int q = 0; q < Q; ++q) own[q] = std::min(static_cast<Loss>(loss + usual[q]), lost);
        const Int last = begin[i + 1] - 1;
        for (Int n = begin[i]; n <= last; n += 4) {
            Loss near[4];
            const Loss* ahead[4];
            for (Int m = 0; m < 4; ++m) {
                const Int b = other[std::min(n + m, last)], through = gain(i, b) + tail[b];
                near[m] = through < DEAD ? lost : loss_of<Loss>(best[i] - through, shift_);
                ahead[m] = ahead_by_state_[b].data();
            }
            for (Int q = 0; q < Q; ++q) {
                const Loss one = std::min(static_cast<Loss>(near[0] + ahead[0][q]),
                                          static_cast<Loss>(near[1] + ahead[1][q]));
                const Loss two = std::min(static_cast<Loss>(near[2] + ahead[2][q]),
                                          static_cast<Loss>(near[3] + ahead[3][q]));
                own[q] = std::min(own[q], std::min(one, two));
            }
        }
    }
}

// The losses from each joint state on of a step into each state, of a kind, from those after it.
template <typename Loss>
void Recursion<Loss>::enter_states(Row<Small> kind)
{
    const Int S = short_by_state_.shape(0), Q = short_by_state_.shape(1);
    for (Int j = 0; j < S; ++j) {
        const Loss* const after = short_by_state_[j].data();
        Loss* const ahead = ahead_by_state_[j].data();
        for (Int q = 0; q < Q; ++q) ahead[q] = entered(after[q]);
        for (Int n = changes_.first(kind[j]); n < changes_.last(kind[j]); ++n) {
            const auto& change = changes_.items[n];
            ahead[change.from] = charged(after[change.to], change.loss);
        }
    }
}

// As `enter_states`, by joint state.
template <typename Loss>
void Recursion<Loss>::enter_joint_states()
{
    const Int Q = short_.shape(0), S = short_.shape(1), W = ahead_.shape(1);
    for (Int q = 0; q < Q; ++q) {
        const Loss* const after = short_[q].data();
        Loss* const ahead = ahead_[q].data();
        for (Int j = 0; j < S; ++j) ahead[j] = entered(after[j]);
        std::fill(ahead + S, ahead + W, lost);
    }
    for (Int k = 0; k + 1 < static_cast<Int>(changes_.begin.size()); ++k)
        for (Int n = changes_.first(k); n < changes_.last(k); ++n) {
            const auto& change = changes_.items[n];
            const Loss* const after = short_[change.to].data();
            Loss* const ahead = ahead_[change.from].data();
            for (Int m = begin_[k]; m < begin_[k + 1]; ++m)
                ahead[order_[m]] = charged(after[order_[m]], change.loss);
        }
}

template <typename Loss>
void Recursion<Loss>::operator()(ConstInts edges, const Completion& bare, View<Int, 2> after)
{
    const Int T = edges.size(), S = scores_.states(), Q = joint_.states(), kinds = joint_.after.shape(1);
    Int known = -1, tables = 0;
    for (Int t = 1; t < T; ++t) tables += t == 1 || edges[t] != edges[t - 1];
    const bool with_defaults = shift_ && scores_.labels == S && tables <= std::max<Int>(1, T / TOKENS_A_TABLE);
    for (Int t = T - 1; t >= 0; --t) {
        look_for_interrupts();
        const auto best = bare.after[t];
        const auto here = joint_.kind[joint_.row[t]][0];
        sort_by_kind(here);
        short_.fill(lost);
        const bool dense = t < T - 1 && defaults_.empty();
        if (t == T - 1) {
            for (Int q = 0; q < Q; ++q) {
                const Loss loss = joint_.last[q] > -DEAD ? lost : loss_of<Loss>(joint_.last[q], shift_);
                for (Int j = 0; j < S; ++j) short_by_state_(j, q) = loss;
            }
        } else if (dense) {
            find_losses(known, best, bare.tail[t + 1]);
        } else {
            step_back_by_defaults(scores_.edge[known], best, bare.tail[t + 1]);
        }
        for (Int k = 0; k < kinds; ++k) {
            const Int *first = led_.items.data() + led_.first(k), *last = led_.items.data() + led_.last(k);
            const Int end = begin_[k + 1];
            for (Int n = begin_[k]; dense && n < end; n += 4) {
                Int four[4];
                for (Int m = 0; m < 4; ++m) four[m] = order_[std::min(n + m, end - 1)];
                step_back(four, first, last);
            }
            for (Int n = begin_[k]; !dense && n < end; ++n)
                for (const Int* q = first; q < last; ++q) short_(*q, order_[n]) = short_by_state_(order_[n], *q);
        }
        for (Int q = 0; q < Q; ++q) {
            const auto row = after[t * Q + q];
            std::fill(row.begin() + S, row.end(), FORBIDDEN);
            const Loss* const losses = short_[q].data();
            for (Int j = 0; j < S; ++j) {
                const Int value = t < T - 1 ? best[j] - (Int{losses[j]} << shift_) : -joint_.last[q];
                row[j] = losses[j] >= lost ? FORBIDDEN : value;
            }
        }
        if (t && edges[t] != known) {
            known = edges[t];
            if (with_defaults) defaults_ = defaults_of(scores_.edge[known]);
        }
        if (defaults_.empty()) {
            enter_joint_states();
            continue;
        }
        for (Int j = 0; dense && j < S; ++j)
            for (Int q = 0; q < Q; ++q) short_by_state_(j, q) = short_(q, j);
        enter_states(here);
    }
}

}  // namespace

template <typename Loss>
void complete_by_losses(const Scores& scores, ConstInts edges, const Joint& joint, const Completion& bare,
                        int shift, View<Int, 2> after)
{
    Recursion<Loss>(scores, joint, shift, after.shape(1))(edges, bare, after);
}

template void complete_by_losses<Short>(const Scores&, ConstInts, const Joint&, const Completion&, int,
                                        View<Int, 2>);
template void complete_by_losses<Small>(const Scores&, ConstInts, const Joint&, const Completion&, int,
                                        View<Int, 2>);

}  // namespace ilpinfer
