#include "marginals.hpp"

#include <cmath>
#include <limits>

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

using Doubles = Row<double>;
using ConstDoubles = Row<const double>;

constexpr double TINY = 1e-200;
constexpr double NONE = -std::numeric_limits<double>::infinity();
constexpr Int SUMS_A_LOOK = 64;  // vectors between looks for interrupts

// Fill row (K,) with the log sums after vector u and label i, -1 for START, at each next label; the largest.
double fill_row(const Expansion& product, View<const Small, 2> numbers, View<const double, 2> tail, Int u,
                Int i, Doubles row)
{
    const Int arcs = product.arc_at[u + 1];
    const auto number = numbers[i + 1];
    double most = NONE;
    for (Int j = 0; j < row.size(); ++j) {
        const Int arc = arcs + number[j], lead = product.leads[arc];
        row[j] = lead >= 0 ? tail(lead, j) - product.cost[arc] : NONE;
        most = std::max(most, row[j]);
    }
    return most;
}

void exp_row(ConstDoubles row, double most, Doubles out)
{
    for (Int j = 0; j < row.size(); ++j) out[j] = row[j] > NONE ? std::exp(row[j] - most) : 0.0;
}

// The dot product, as four independent partial sums.
double dot(ConstDoubles a, ConstDoubles b)
{
    const Int K = a.size();
    double w = 0.0, x = 0.0, y = 0.0, z = 0.0;
    Int j = 0;
    for (; j + 3 < K; j += 4) {
        w += a[j] * b[j];
        x += a[j + 1] * b[j + 1];
        y += a[j + 2] * b[j + 2];
        z += a[j + 3] * b[j + 3];
    }
    for (; j < K; ++j) w += a[j] * b[j];
    return w + x + y + z;
}

// log Σ exp(edges + row), by its largest term.
double log_sum(ConstDoubles edges, ConstDoubles row)
{
    double most = NONE, total = 0.0;
    for (Int j = 0; j < row.size(); ++j) most = std::max(most, edges[j] + row[j]);
    if (most == NONE) return most;
    for (Int j = 0; j < row.size(); ++j) total += std::exp(edges[j] + row[j] - most);
    return most + std::log(total);
}

// The edge scores of one step, and rows that are filled for it.
struct Step {
    View<const double, 2> pool, scaled;
    Array<double> row, weight, flow;  // (K,)

    explicit Step(Int labels) : row(labels), weight(labels), flow(labels) {}
};

// Divide the probability of label i among the next ones; the parts are added to the flow, and to edges unless
// empty.
void spread(double share, Int i, const Step& step, Doubles edges)
{
    const auto pool = step.pool[i], scaled = step.scaled[i];
    const double total = dot(scaled, step.weight);
    if (total > TINY) {
        const double each = share / total;
        for (Int j = 0; j < scaled.size(); ++j) step.flow[j] += each * scaled[j] * step.weight[j];
        for (Int j = 0; j < edges.size(); ++j) edges[j] += each * scaled[j] * step.weight[j];
        return;
    }
    const double whole = log_sum(pool, step.row);
    for (Int j = 0; j < pool.size(); ++j) {
        const double part = share * std::exp(pool[j] + step.row[j] - whole);
        step.flow[j] += part;
        if (!edges.empty()) edges[j] += part;
    }
}

}  // namespace

void scale(View<const double, 3> pool, View<double, 3> scaled, View<double, 2> largest)
{
    for (Int p = 0; p < pool.size(); ++p) {
        look_for_interrupts();
        for (Int i = 0; i < pool.shape(1); ++i) {
            const auto row = pool[p][i];
            double most = NONE;
            for (double value : row) most = std::max(most, value);
            largest(p, i) = most = most > NONE ? most : 0.0;
            exp_row(row, most, scaled[p][i]);
        }
    }
}

double backward(const Expansion& product, const Readings& readings, const Groups& groups, const Nats& scores,
                View<double, 2> tail)
{
    const auto& first = product.first;
    const Int T = scores.node.size(), K = scores.node.shape(1);
    constexpr double UNITS = static_cast<double>(UNITS_PER_NAT);
    Array<double> row(K), weight(K);
    double shift = 0.0;
    // The log sums from vector v of token t on, by label; returns the largest.
    const auto fill_tail = [&](Int t, Int v) {
        Int last = -1;
        double most = NONE, peak = NONE;
        for (Int i = 0; i < K; ++i) {
            auto& sum = tail(v, i);
            sum = NONE;
            if (!product.labels(v, i)) continue;
            if (t == T - 1) {
                sum = scores.node(t, i) - product.end[v];
            } else {
                const Int group = groups.alike(groups.pair[t], i), step = groups.step[t];
                if (group != last) {
                    last = group;
                    peak = fill_row(product, readings.numbers(t + 1), tail, v, i, row);
                    exp_row(row, peak, weight);
                }
                if (peak == NONE) continue;
                const double total = dot(scores.scaled[step][i], weight);
                sum = total > TINY ? scores.node(t, i) + scores.largest(step, i) + peak + std::log(total)
                                   : scores.node(t, i) + log_sum(scores.pool[step][i], row);
            }
            most = std::max(most, sum);
        }
        return most;
    };
    for (Int t = T - 1; t >= 0; --t) {
        double most = NONE;
        for (Int v = first[t]; v < first[t + 1]; ++v) {
            if (v % SUMS_A_LOOK == 0) look_for_interrupts();
            most = std::max(most, fill_tail(t, v));
        }
        if (most == NONE) return most;
        most = std::floor(most * UNITS) / UNITS;
        for (double& sum : tail.slice(first[t], first[t + 1])) sum -= most;
        shift += most;
    }
    fill_row(product, readings.numbers(0), tail, -1, -1, row);
    return shift + log_sum(Array<double>(K, 0.0), row);
}

void forward(const Expansion& product, const Readings& readings, const Groups& groups, const Nats& scores,
             View<const double, 2> tail, const Shares& shares)
{
    const auto& first = product.first;
    const auto& [labels, edges, mass, ended] = shares;
    const Int T = labels.size(), K = labels.shape(1);
    Step step(K);
    Array<bool> done(K);
    labels.fill(0.0);
    edges.fill(0.0);
    mass.fill(0.0);
    ended.fill(0.0);
    Array<double, 2> now({first[1], K}, 0.0);
    fill_row(product, readings.numbers(0), tail, -1, -1, step.row);
    const double whole = log_sum(Array<double>(K, 0.0), step.row);
    for (Int j = 0; j < K; ++j)
        if (step.row[j] > NONE) {
            const Int arc = readings.numbers(0)(0, j);
            const double share = std::exp(step.row[j] - whole);
            mass[arc] += share;
            now(product.leads[arc], j) += share;
        }
    for (Int t = 0; t < T; ++t) {
        for (Int v = 0; v < now.size(); ++v)
            for (Int j = 0; j < K; ++j) labels(t, j) += now(v, j);
        if (t == T - 1) break;
        Array<double, 2> after({first[t + 2] - first[t + 1], K}, 0.0);
        const auto numbers = readings.numbers(t + 1);
        const auto group = groups.alike[groups.pair[t]];
        step.pool = scores.pool[groups.step[t]];
        step.scaled = scores.scaled[groups.step[t]];
        for (Int v = 0; v < now.size(); ++v) {
            if (v % SUMS_A_LOOK == 0) look_for_interrupts();
            done.fill(false);
            for (Int lead = 0; lead < K; ++lead) {
                if (done[lead] || now(v, lead) == 0.0) continue;
                const double peak = fill_row(product, numbers, tail, first[t] + v, lead, step.row);
                exp_row(step.row, peak, step.weight);
                step.flow.fill(0.0);
                for (Int i = lead; i < K; ++i) {
                    if (group[i] != group[lead]) continue;
                    done[i] = true;
                    if (now(v, i) > 0.0) spread(now(v, i), i, step, edges.empty() ? Doubles() : edges[t][i]);
                }
                const Int arcs = product.arc_at[first[t] + v + 1];
                for (Int j = 0; j < K; ++j)
                    if (step.flow[j] > 0.0) {
                        const Int arc = arcs + numbers(lead + 1, j);
                        mass[arc] += step.flow[j];
                        after(product.leads[arc] - first[t + 1], j) += step.flow[j];
                    }
            }
        }
        now = std::move(after);
    }
    for (Int v = 0; v < now.size(); ++v)
        for (double share : now[v]) ended[first[T - 1] + v] += share;
}

void draw(const Expansion& product, const Readings& readings, const Nats& scores, ConstInts step,
          View<const double, 2> tail, View<const double, 2> uniform, View<Int, 2> ids)
{
    const Int T = ids.shape(1), K = tail.shape(1);
    Array<double> row(K), none(K, 0.0);
    for (Int s = 0; s < ids.size(); ++s) {
        look_for_interrupts();
        Int u = -1, i = -1;
        for (Int t = 0; t < T; ++t) {
            fill_row(product, readings.numbers(t), tail, u, i, row);
            const ConstDoubles edges = t ? scores.pool[step[t - 1]][i] : ConstDoubles(none);
            const double whole = log_sum(edges, row);
            double left = uniform(s, t);
            Int chosen = -1;
            for (Int j = 0; j < K && left >= 0.0; ++j) {
                const double part = std::exp(edges[j] + row[j] - whole);
                if (part > 0.0) {
                    chosen = j;
                    left -= part;
                }
            }
            u = product.leads[product.arc_at[u + 1] + readings.numbers(t)(i + 1, chosen)];
            i = ids(s, t) = chosen;
        }
    }
}

}  // namespace ilpinfer
