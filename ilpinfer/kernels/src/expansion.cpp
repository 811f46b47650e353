#include "expansion.hpp"

#include <limits>

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

constexpr Int ARCS_PER_STATE = 8;   // arcs for each joint state in the budget
constexpr Int VECTORS_A_LOOK = 64;  // vectors between checks for interrupts
constexpr double INFINITE = std::numeric_limits<double>::infinity();

double nats(Int units) { return static_cast<double>(units) / static_cast<double>(UNITS_PER_NAT); }

template <typename T>
Array<T, 2> first_rows(const Array<T, 2>& array, Int rows)
{
    return Array<T, 2>::copy_of(array.slice(0, rows), {rows, array.shape(1)});
}

template <typename T>
void enlarge(Array<T, 2>& array)
{
    Array<T, 2> larger({2 * array.size(), array.shape(1)});
    larger.slice(0, array.size()).copy(array);
    array = std::move(larger);
}

// Set the states of machines whose rule is paid to 0; these machines have no effect any more.
void forget(const Machines& machines, Row<Small> vector)
{
    const auto marks = machines.mark;
    for (Int m = 0; m < marks.size(); ++m)
        if (marks[m] >= 0 && vector[marks.size() + marks[m]]) vector[m] = 0;
}

// Let machines read their symbols; the cost in nats, infinite if a hard rule breaks.
double read_all(const Machines& machines, Row<const Small> symbols, Row<Small> vector)
{
    Int cost = 0;
    for (Int m = 0; m < symbols.size(); ++m) {
        const Int violations = read(machines, m, symbols[m], vector), penalty = machines.penalty[m];
        if (violations && penalty == HARD) return INFINITE;
        cost += penalty * violations;
    }
    forget(machines, vector);
    return nats(cost);
}

// The vectors and arcs made so far.
class Expander {
public:
    Expander(const Rules& rules, Int size, const Readings& readings, const Groups& groups,
             View<const bool, 2> possible, View<const Int, 3> pool)
        : rules_(rules), readings_(readings), groups_(groups), possible_(possible), pool_(pool),
          states_({64, size}, 0), labels_({64, possible.shape(1)}, false), needed_(possible.shape(1)),
          none_(possible.shape(1), 0)
    {
    }

    Expanded expand(Int budget)
    {
        const Int T = possible_.size();
        Array<Int> first(T + 1, 0);
        Int passed = 0;
        while (passed < T && read_token(passed, first, budget)) ++passed;
        first[T] = vectors_;
        arc_at_.resize(vectors_ + 1, arcs());
        Array<double> end(vectors_, 0.0);
        for (Int v = first[T - 1]; passed == T && v < vectors_; ++v) {
            const Charge charge = close_copy(rules_, states_[v]);
            end[v] = charge.hard ? INFINITE : nats(charge.cost);
        }
        return {std::move(first), first_rows(states_, vectors_), first_rows(labels_, vectors_), array_of(arc_at_),
                array_of(leads_), array_of(cost_), std::move(end), passed};
    }

private:
    Int arcs() const { return static_cast<Int>(leads_.size()); }
    Row<Small> slots() { return {slots_.data(), {static_cast<Int>(slots_.size())}}; }

    // Read token t after all vectors of the token before; false where the budget is exceeded.
    bool read_token(Int t, Ints first, Int budget)
    {
        offset_ = first[t] = vectors_;
        slots_.assign(16, -1);
        for (Int u = t ? first[t - 1] : -1; u < offset_; ++u) {
            if (u % VECTORS_A_LOOK == 0) look_for_interrupts();
            arc_at_.push_back(arcs());
            make_room(readings_.width(t));
            follow(t, u);
            if (vectors_ * possible_.shape(1) > budget || arcs() > ARCS_PER_STATE * budget) return false;
        }
        return true;
    }

    // Make room for the arcs of a vector, and for a new vector after each.
    void make_room(Int width)
    {
        leads_.resize(leads_.size() + width, UNREAD);
        cost_.resize(leads_.size());
        while (vectors_ + width >= states_.size()) {
            enlarge(states_);
            enlarge(labels_);
        }
        const Int most = 2 * (vectors_ - offset_ + width);
        if (most <= slots().size()) return;
        std::size_t size = slots_.size();
        while (most > static_cast<Int>(size)) size *= 2;
        slots_.resize(size);
        enter_rows<Small, Small>(slots(), states_, offset_, vectors_ - offset_);
    }

    // Read token t after vector u, -1 for START.
    void follow(Int t, Int u)
    {
        needed_.fill(true);
        if (u < 0) {
            follow_label(t, u, -1);
            return;
        }
        const auto group = groups_.possible[groups_.pair[t - 1]];
        for (Int i = 0; i < group.size(); ++i) {
            if (!labels_(u, i) || !needed_[group[i]]) continue;
            needed_[group[i]] = false;
            follow_label(t, u, i);
        }
    }

    // Read token t after vector u and label i, -1 for START.
    void follow_label(Int t, Int u, Int i)
    {
        const Int first = arc_at_[u + 1];
        const auto numbers = readings_.numbers(t)[i + 1];
        const ConstInts edges = i < 0 ? ConstInts(none_) : pool_[groups_.step[t - 1]][i];
        for (Int j = 0; j < edges.size(); ++j) {
            if (!possible_(t, j) || edges[j] < DEAD) continue;
            const Int n = numbers[j];
            Small& lead = leads_[first + n];
            if (lead == UNREAD) lead = next(t, u, n, cost_[first + n]);
            if (lead >= 0) labels_(lead, j) = true;
        }
    }

    // The vector after vector u by reading n of token t, or `BREAKS`; and its cost in nats.
    Small next(Int t, Int u, Int n, double& cost)
    {
        const auto vector = states_[vectors_];
        if (u < 0)
            vector.fill(0);
        else
            vector.copy(states_[u]);
        cost = read_all(rules_.machines, readings_.symbols_of(t, n), vector);
        if (cost == INFINITE) return BREAKS;
        Small& slot = slots_[slot_of<Small, Small>(slots(), states_, vectors_, offset_, 0)];
        if (slot < offset_) {
            slot = static_cast<Small>(vectors_);
            labels_[vectors_].fill(false);
            ++vectors_;
        }
        return slot;
    }

    const Rules& rules_;
    const Readings& readings_;
    const Groups& groups_;
    View<const bool, 2> possible_;
    View<const Int, 3> pool_;
    Int vectors_ = 0, offset_ = 0;  // vectors, and those of tokens before the current one
    Array<Small, 2> states_;        // the first row that is no vector yet is that of the next
    Array<bool, 2> labels_;
    std::vector<Int> arc_at_;
    std::vector<Small> leads_;
    std::vector<double> cost_;
    std::vector<Small> slots_;  // a hash table of the vectors of the current token
    Array<bool> needed_;        // (K,) by group of labels before
    Array<Int> none_;           // (K,) zeros
};

}  // namespace

Expanded expand(const Rules& rules, Int size, const Readings& readings, const Groups& groups,
                View<const bool, 2> possible, View<const Int, 3> pool, Int budget)
{
    return Expander(rules, size, readings, groups, possible, pool).expand(budget);
}

void expected_counts(const Rules& rules, ConstInts rule, const Readings& readings, const Expansion& product,
                     Row<const double> mass, Row<const double> last, Row<double> expected)
{
    const auto& machines = rules.machines;
    const auto& [first, states, labels, arc_at, leads, cost, end, passed] = product;
    const Int T = first.size() - 1;
    Array<Int> counts(expected.size());
    Array<Small> vector(states.shape(1));
    const auto add = [&](double share) {
        for (Int r = 0; r < counts.size(); ++r) expected[r] += share * static_cast<double>(counts[r]);
    };
    for (Int t = 0; t < T; ++t)
        for (Int u = t ? first[t - 1] : -1; u < first[t]; ++u) {
            if (u % VECTORS_A_LOOK == 0) look_for_interrupts();
            for (Int n = 0; n < readings.width(t); ++n) {
                const double share = mass[arc_at[u + 1] + n];
                if (!(share > 0.0)) continue;
                counts.fill(0);
                if (t)
                    vector.copy(states[u]);
                else
                    vector.fill(0);
                const auto symbols = readings.symbols_of(t, n);
                for (Int m = 0; m < rule.size(); ++m)
                    counts[rule[m]] += read(machines, m, symbols[m], vector);
                add(share);
            }
        }
    for (Int v = first[T - 1]; v < first[T]; ++v) {
        counts.fill(0);
        vector.copy(states[v]);
        for (Int m = 0; m < rule.size(); ++m) counts[rule[m]] += count_final(machines, m, vector);
        add(last[v]);
    }
}

}  // namespace ilpinfer
