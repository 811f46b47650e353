#include "marginals.hpp"

#include <cmath>
#include <limits>

#include "backward.hpp"

namespace ilpinfer {
namespace {

using Doubles = Row<double>;
using ConstDoubles = Row<const double>;

constexpr double TINY = 1e-200;
constexpr double NONE = -std::numeric_limits<double>::infinity();

// log Σ exp(edges + row), by its largest term.
double log_sum(ConstDoubles edges, ConstDoubles row)
{
    double most = NONE, total = 0.0;
    for (Int j = 0; j < row.size(); ++j) most = std::max(most, edges[j] + row[j]);
    if (most == NONE) return most;
    for (Int j = 0; j < row.size(); ++j) total += std::exp(edges[j] + row[j] - most);
    return most + std::log(total);
}

// The vectors of an expansion, as rows of the recursion; -1 is START.
class Vectors {
public:
    explicit Vectors(const Lattice& lattice)
        : product_(lattice.product), readings_(lattice.readings), groups_(lattice.groups),
          done_(product_.labels.shape(1)), states_(done_.size())
    {
    }

    Int tokens() const { return product_.first.size() - 1; }
    Int first(Int t) const { return product_.first[t]; }
    double end(Int row) const { return product_.end[row]; }
    void begin(Int t) { t_ = t; }

    // Visit the labels of a vector, those with the same readings of the next step together.
    void for_each_group(Int row, auto&& visit)
    {
        const Int K = states_.size();
        const auto reached = product_.labels[row];
        const auto group = t_ + 1 < tokens() ? groups_.alike[groups_.pair[t_]] : Row<const Small>();
        done_.fill(false);
        for (Int lead = 0; lead < K; ++lead) {
            if (done_[lead] || !reached[lead]) continue;
            Int count = 0;
            for (Int i = lead; i < K; ++i) {
                if (!reached[i] || (group.data() && group[i] != group[lead])) continue;
                done_[i] = true;
                states_[count++] = i;
            }
            visit(ConstInts(states_.slice(0, count)));
        }
    }

    // Visit the arcs of a vector and label into each next label; the vector is -1 where a hard rule breaks or no step reads it.
    void for_each_arc(Int row, Int i, auto&& visit) const
    {
        const auto number = readings_.numbers(t_ + 1)[i + 1];
        for (Int j = 0; j < number.size(); ++j) {
            const Int arc = product_.arc_at[row + 1] + number[j];
            visit(j, std::max<Int>(product_.leads[arc], -1), product_.cost[arc]);
        }
    }
    Int arc(Int row, Int i, Int j) const { return product_.arc_at[row + 1] + readings_.numbers(t_ + 1)(i + 1, j); }

private:
    const Expansion& product_;
    const Readings& readings_;
    const Groups& groups_;
    Array<bool> done_;
    Array<Int> states_;
    Int t_ = -1;
};

// Log sums. Those after a step are plain numbers, scaled by the largest.
class LogSum {
public:
    using Sum = double;

    LogSum(const Lattice& lattice, View<double, 2> tail)
        : scores_(lattice.scores), first_(lattice.product.first), step_(lattice.groups.step), tail_(tail),
          row_(tail.shape(1)), weight_(tail.shape(1))
    {
    }

    static double none() { return 0.0; }
    static double add(double sum, double step, double ahead) { return sum + step * ahead; }

    Int width() const { return row_.size(); }
    Int base(Int) const { return 0; }
    bool any_follows() const { return true; }
    const double* steps(Int i) const { return scores_.scaled[step_[t_]][i].data(); }
    const double* ahead() const { return weight_.data(); }

    void begin(Int t)
    {
        t_ = t;
        largest_ = NONE;
    }
    void clear(Int row) { tail_[row].fill(NONE); }
    void close(Int row, Int i, double cost) { set(row, i, -cost); }
    void enter(Int j, Int to, double cost) { row_[j] = to >= 0 ? tail_(to, j) - cost : NONE; }
    bool ready()
    {
        peak_ = *std::max_element(row_.begin(), row_.end());
        for (Int j = 0; j < width(); ++j) weight_[j] = row_[j] > NONE ? std::exp(row_[j] - peak_) : 0.0;
        return peak_ > NONE;
    }
    void put(Int row, Int i, double sum)
    {
        const Int p = step_[t_];
        set(row, i, sum > TINY ? scores_.largest(p, i) + peak_ + std::log(sum) : log_sum(scores_.pool[p][i], row_));
    }
    // Shift the sums of each token by a number on the grid.
    void end(Int t)
    {
        constexpr double UNITS = static_cast<double>(UNITS_PER_NAT);
        if (largest_ == NONE) return;
        const double shift = std::floor(largest_ * UNITS) / UNITS;
        for (double& sum : tail_.slice(first_[t], first_[t + 1])) sum -= shift;
        shift_ += shift;
    }

    // The log sum over labels of what was entered last, by some scores of steps; and the whole shift.
    double total(ConstDoubles edges) const { return log_sum(edges, row_); }
    double shift() const { return shift_; }
    ConstDoubles row() const { return row_; }

private:
    void set(Int row, Int i, double sum)
    {
        tail_(row, i) = scores_.node(t_, i) + sum;
        largest_ = std::max(largest_, tail_(row, i));
    }

protected:
    const Nats& scores_;
    ConstInts first_, step_;
    View<double, 2> tail_;
    Array<double> row_, weight_;  // (K,) what follows a step into each label
    double peak_ = NONE, largest_ = NONE, shift_ = 0.0;
    Int t_ = -1;
};

// Probabilities: the share of each label is divided among the next ones.
class Flow : public LogSum {
public:
    Flow(const Lattice& lattice, View<double, 2> tail, View<double, 3> edges)
        : LogSum(lattice, tail), reached({tail.size(), tail.shape(1)}, 0.0), flow(tail.shape(1)), edges_(edges)
    {
    }

    void put(Int row, Int i, double sum)
    {
        const double share = reached(row, i);
        if (!(share > 0.0)) return;
        const auto pool = scores_.pool[step_[t_]][i], scaled = scores_.scaled[step_[t_]][i];
        const double each = share / sum, whole = sum > TINY ? NONE : total(pool);
        for (Int j = 0; j < width(); ++j) {
            const double part =
                sum > TINY ? each * scaled[j] * weight_[j] : share * std::exp(pool[j] + row_[j] - whole);
            flow[j] += part;
            if (!edges_.empty()) edges_(t_, i, j) += part;
        }
    }

    Array<double, 2> reached;  // (V, K) of a vector and label
    Array<double> flow;        // (K,) from one vector and some labels into each label

private:
    View<double, 3> edges_;
};

// Fill the row of a semiring with what follows a vector and a label.
template <typename Semiring>
void enter(Semiring& sums, const Vectors& vectors, Int row, Int i)
{
    vectors.for_each_arc(row, i, [&](Int j, Int to, double cost) { sums.enter(j, to, cost); });
}

}  // namespace

double backward(const Lattice& lattice, View<double, 2> tail)
{
    Vectors vectors(lattice);
    LogSum sums(lattice, tail);
    complete(sums, vectors);
    vectors.begin(-1);
    enter(sums, vectors, -1, -1);
    return sums.shift() + sums.total(Array<double>(tail.shape(1), 0.0));
}

void forward(const Lattice& lattice, View<double, 2> tail, const Shares& shares)
{
    const auto& [labels, edges, mass, ended] = shares;
    const auto& leads = lattice.product.leads;
    const Int T = labels.size(), K = labels.shape(1);
    Vectors vectors(lattice);
    Flow sums(lattice, tail, edges);
    labels.fill(0.0);
    edges.fill(0.0);
    mass.fill(0.0);
    ended.fill(0.0);
    const auto pass_on = [&](Int row, Int i) {
        for (Int j = 0; j < K; ++j) {
            if (!(sums.flow[j] > 0.0)) continue;
            const Int arc = vectors.arc(row, i, j);
            mass[arc] += sums.flow[j];
            sums.reached(leads[arc], j) += sums.flow[j];
        }
    };
    enter(sums, vectors, -1, -1);
    const double whole = sums.total(Array<double>(K, 0.0));
    for (Int j = 0; j < K; ++j) sums.flow[j] = sums.row()[j] > NONE ? std::exp(sums.row()[j] - whole) : 0.0;
    pass_on(-1, -1);
    for (Int t = 0; t < T; ++t) {
        vectors.begin(t);
        sums.begin(t);
        for (Int v = vectors.first(t); v < vectors.first(t + 1); ++v) {
            if (v % ROWS_A_LOOK == 0) look_for_interrupts();
            for (Int j = 0; j < K; ++j) labels(t, j) += sums.reached(v, j);
            if (t == T - 1) {
                for (double share : sums.reached[v]) ended[v] += share;
                continue;
            }
            vectors.for_each_group(v, [&](ConstInts states) {
                enter(sums, vectors, v, states[0]);
                if (!sums.ready()) return;
                sums.flow.fill(0.0);
                sum_up(sums, v, states);
                pass_on(v, states[0]);
            });
        }
    }
}

void draw(const Lattice& lattice, View<double, 2> tail, View<const double, 2> uniform, View<Int, 2> ids)
{
    const Int K = tail.shape(1);
    const Array<double> none(K, 0.0);
    Vectors vectors(lattice);
    LogSum sums(lattice, tail);
    for (Int s = 0; s < ids.size(); ++s) {
        look_for_interrupts();
        Int u = -1, i = -1;
        for (Int t = 0; t < ids.shape(1); ++t) {
            vectors.begin(t - 1);
            enter(sums, vectors, u, i);
            const auto edges = t ? lattice.scores.pool[lattice.groups.step[t - 1]][i] : ConstDoubles(none);
            const double whole = sums.total(edges);
            double left = uniform(s, t);
            Int chosen = -1;
            for (Int j = 0; j < K && left >= 0.0; ++j) {
                const double part = std::exp(edges[j] + sums.row()[j] - whole);
                if (part > 0.0) {
                    chosen = j;
                    left -= part;
                }
            }
            u = lattice.product.leads[vectors.arc(u, i, chosen)];
            i = ids(s, t) = chosen;
        }
    }
}

}  // namespace ilpinfer
