// The semirings of best values and of losses. The compiler options of this file exclude infinite numbers, for `Best`.
#include "recursion.hpp"

#include <bit>

#include "backward.hpp"
#include "joint_rows.hpp"

namespace ilpinfer {
namespace {

constexpr Int TOKENS_A_LOOK = 16;  // between two checks for interrupts

// The most that units of 16-bit losses add up to over the tokens of a sequence: a loss is rounded down by about three units at each
// token.
constexpr Int MOST_ROUNDED = Int{1} << 22;

// Best values, in grid units. Sums are compared as the double numbers with the same bits, which is faster, and gives the same result if
// both are above 0.
class Best : public StepScores {
public:
    using Sum = double;

    Best(const Scores& scores, ConstInts edges, View<const Int, 2> own, View<Int, 2> after,
         const std::function<void(Int)>& done = {})
        : StepScores(scores, edges), own_(own), after_(after), done_(done), ahead_(after.shape(1), none())
    {
    }

    static double number(Int value) { return std::bit_cast<double>(value + BIAS); }
    static double none() { return number(FORBIDDEN); }
    static double add(double sum, Int step, double ahead)
    {
        return std::max(sum, std::bit_cast<double>(step + std::bit_cast<Int>(ahead)));
    }

    void begin(Int t)
    {
        if (t + 1 == edges_.size()) return;
        own_scores_ = own_[t + 1].data();
        steps_ = scores_.edge[edges_[t + 1]].data();
    }
    void end(Int t)
    {
        if (done_) done_(t);
    }
    void clear(Int row)
    {
        after_[row].fill(FORBIDDEN);
        here_ = after_[row].data();
    }
    void close(Int, Int i, Int cost) { here_[i] = -cost; }
    void enter(Int j, Int to, Int cost)
    {
        ahead_[j] = number(std::max(own_scores_[j] + after_(to, j) - cost, FORBIDDEN));
    }
    bool ready() const { return true; }
    const double* ahead() const { return ahead_.data(); }
    const Int* steps(Int i) const { return steps_ + i * scores_.edge.shape(2); }
    void put(Int, Int i, double sum) { here_[i] = std::bit_cast<Int>(sum) - BIAS; }

private:
    static constexpr Int BIAS = Int{1} << 62;

    View<const Int, 2> own_;
    View<Int, 2> after_;
    const std::function<void(Int)> done_;
    Array<double> ahead_;
    const Int *own_scores_ = nullptr, *steps_ = nullptr;  // of the next token, and of the steps into it
    Int* here_ = nullptr;                                 // the row that is filled
};

// What is lost against the best labelling without machines, in small numbers; the unit is 2^shift grid units.
template <typename Loss>
class Losses : public StepScores {
public:
    using Sum = Loss;

    Losses(const Scores& scores, ConstInts edges, const Completion& bare, Int joint_states, int shift,
           View<Int, 2> after)
        : StepScores(scores, edges), bare_(bare), Q_(joint_states), shift_(shift), after_(after),
          loss_({scores.states(), scores.edge.shape(2)}), here_({Q_, scores.states()}), later_({Q_, scores.states()}),
          ahead_(after.shape(1), lost)
    {
    }

    static Loss none() { return lost; }
    static Loss add(Loss sum, Loss step, Loss ahead) { return std::min(sum, static_cast<Loss>(step + ahead)); }

    // What each step loses against the best one of its state.
    void begin(Int t)
    {
        t_ = t;
        std::swap(here_, later_);
        for (Int i = 0; t + 1 < edges_.size() && i < loss_.size(); ++i) {
            const Int* const gain = scores_.edge[edges_[t + 1]][i].data();
            const Int* const tail = bare_.tail[t + 1].data() + base(i);
            Loss* const own = loss_[i].data();
            const Int highest = bare_.after(t, i);
            for (Int b = 0; b < width(); ++b) {
                const Int value = gain[b] + tail[b];
                own[b] = value < DEAD ? lost : loss_of(highest - value);
            }
        }
    }
    void clear(Int row)
    {
        q_ = row - t_ * Q_;
        here_[q_].fill(lost);
        after_[row].fill(FORBIDDEN);
    }
    void close(Int row, Int i, Int cost)
    {
        here_(q_, i) = cost > -DEAD ? lost : loss_of(cost);
        after_(row, i) = -cost;
    }
    void enter(Int j, Int to, Int cost)
    {
        const Loss loss = later_(to - (t_ + 1) * Q_, j), more = cost > -DEAD ? lost : loss_of(cost);
        ahead_[j] = std::max(loss, more) == lost ? lost : std::min(static_cast<Loss>(loss + more), most);
    }
    bool ready() const { return true; }
    const Loss* ahead() const { return ahead_.data(); }
    const Loss* steps(Int i) const { return loss_[i].data(); }
    void put(Int, Int i, Loss sum) { here_(q_, i) = sum; }

    // Turn losses into completions; those of the last token are there already.
    void end(Int t)
    {
        const Int* const best = bare_.after[t].data();
        for (Int q = 0; t + 1 < edges_.size() && q < Q_; ++q) {
            const Loss* const losses = here_[q].data();
            Int* const row = after_[t * Q_ + q].data();
            for (Int j = 0; j < loss_.size(); ++j)
                row[j] = losses[j] == lost ? FORBIDDEN : best[j] - (Int{losses[j]} << shift_);
        }
    }

private:
    static constexpr Loss lost = static_cast<Loss>(LOST<Loss>), most = static_cast<Loss>(LOST<Loss> / 2);

    Loss loss_of(Int value) const { return static_cast<Loss>(std::min<Int>(value >> shift_, most)); }

    const Completion& bare_;
    Int Q_;
    int shift_;
    View<Int, 2> after_;
    Array<Loss, 2> loss_;         // (S, Bp) of the steps after the token
    Array<Loss, 2> here_, later_; // (Q, S) after a joint state and a state at the token, and at the token after
    Array<Loss> ahead_;
    Int t_ = 0, q_ = 0;
};

// Fill the first rows of tails (T, W) with the states' own scores.
void fill_own(const Scores& scores, const Sequence& sequence, View<Int, 2> tail)
{
    const Int S = scores.states();
    tail.fill(FORBIDDEN);
    for (Int t = 0; t < sequence.size(); ++t) {
        const Int* const own = sequence.emission[sequence.rows[t]].data();
        const Int* const node = scores.node[sequence.nodes[t]].data();
        Int* const out = tail[t].data();
        for (Int j = 0; j < S; ++j) out[j] = std::max(own[j] + node[j], FORBIDDEN);
    }
}

Int best_of(ConstInts tail, Int count)
{
    return std::max(FORBIDDEN, count ? *std::max_element(tail.data(), tail.data() + count) : FORBIDDEN);
}

}  // namespace

void complete(const Scores& scores, const Sequence& sequence, Completion& completion,
              const std::function<void(Int)>& done)
{
    const auto [after, tail, total] = completion;
    fill_own(scores, sequence, tail);
    Best best(scores, sequence.edges, tail, after, done);
    Bare rows(sequence.size(), scores.states());
    complete(best, rows);
    const Int* const rest = after.data();
    Int* const out = tail.data();
    for (Int n = 0; n < tail.count(); ++n) out[n] = std::max(out[n] + rest[n], FORBIDDEN);
    completion.total = best_of(tail[0], scores.labels);
}

JointCompletion complete_jointly(const Scores& scores, const Sequence& sequence, const Joint& joint,
                                 const Completion& bare, Int least)
{
    const Int T = sequence.size(), W = scores.width(), Q = joint.states();
    JointCompletion result{Array<Int, 2>({T * Q, W}),
                           Array<Int, 2>({T + (joint.reads_before() ? 1 : T * Q), W}), FORBIDDEN};
    const auto own = result.tail.slice(0, T);
    fill_own(scores, sequence, own);
    JointRows rows(joint, T);
    int shift = COARSE;
    while (bare.total - least > LOST<Short> / 2 << shift && T << shift <= MOST_ROUNDED) ++shift;
    if (joint.reads_before()) {
        Best best(scores, sequence.edges, own, result.after);
        complete(best, rows);
    } else if (T << shift <= MOST_ROUNDED) {
        Losses<Short> losses(scores, sequence.edges, bare, Q, shift, result.after);
        complete(losses, rows);
    } else {
        Losses<Small> losses(scores, sequence.edges, bare, Q, 0, result.after);
        complete(losses, rows);
    }
    for (Int row = T; row < result.tail.size(); ++row) result.tail(row, 0) = UNFILLED;
    enter_all(joint, 0, joint.row[0], joint.before[0], result.after, 0, result.tail, T);
    result.total = best_of(result.tail[T], scores.labels);
    return result;
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

void enter_states(const Scores& scores, ConstInts edges, Int t, ConstInts reach, Ints best)
{
    const Int B = scores.labels;
    for (Int j = 0; j < best.size(); ++j) best[j] = t == 0 && j < B ? 0 : FORBIDDEN;
    for (Int i = 0; t && i < reach.size(); ++i) {
        if (reach[i] <= DEAD) continue;
        const Int* const gain = scores.edge[edges[t]][i].data();
        Int* const there = best.data() + scores.base[i];
        for (Int b = 0; b < B; ++b) there[b] = std::max(there[b], reach[i] + gain[b]);
    }
}

Int prune(const Scores& scores, View<Int, 2> emission, ConstInts edges, View<const Int, 2> after, Int floor)
{
    const Int T = emission.shape(0), S = emission.shape(1);
    Array<Int> reach(S, FORBIDDEN), best(S);
    Int count = 0;
    for (Int t = 0; t < T; ++t) {
        if (t % TOKENS_A_LOOK == 0) look_for_interrupts();
        enter_states(scores, edges, t, reach, best);
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
