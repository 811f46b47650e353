#include "joint.hpp"

namespace ilpinfer {
namespace {

constexpr Int MOST_KINDS = 256;  // kinds of labels; a machine that needs more stays outside

// The different classes of tokens, and which of them each token has.
struct Rows {
    Array<Int> of_token;
    std::vector<Int> known;
};

Rows number_classes(ConstInts classes, Int count)
{
    Rows rows{Array<Int>(classes.size()), {}};
    std::vector<Int> number(count, -1);
    for (Int t = 0; t < classes.size(); ++t) {
        Int& row = number[classes[t]];
        if (row < 0) {
            row = static_cast<Int>(rows.known.size());
            rows.known.push_back(classes[t]);
        }
        rows.of_token[t] = row;
    }
    return rows;
}

struct Befores {
    Array<Small> of_state;   // (S + 1,) the class of each state before, START first
    std::vector<Int> first;  // the first state of each class
};

// Split classes of states before that machine m reads differently.
Befores split_before(const Joint& joint, const Machines& machines, Int m, const std::vector<Int>& known)
{
    const Int S = joint.before.size() - 1, stride = machines.layout(m, STRIDE);
    Befores result{Array<Small>(S + 1), {}};
    const auto alike = [&](Int i, Int other) {
        if (joint.before[i] != joint.before[other]) return false;
        if (!stride) return true;
        for (Int c : known) {
            const Short* const symbols = &machines.symbols[machines.table(c, m)];
            if (!std::equal(symbols + i * stride, symbols + i * stride + S, symbols + other * stride))
                return false;
        }
        return true;
    };
    for (Int i = 0; i <= S; ++i) {
        std::size_t n = 0;
        while (n < result.first.size() && !alike(i, result.first[n])) ++n;
        if (n == result.first.size()) result.first.push_back(i);
        result.of_state[i] = static_cast<Small>(n);
    }
    return result;
}

struct KindAndSymbol {
    Int kind, symbol;
};

struct Kinds {
    Array<Small, 3> kind;
    std::vector<KindAndSymbol> pairs;  // the old kind and the symbol of each kind
};

// Split kinds of steps that machine m reads differently.
Kinds split_kinds(const Joint& joint, const Machines& machines, Int m, const std::vector<Int>& known,
                  const std::vector<Int>& first)
{
    const Int width = machines.layout(m, WIDTH), stride = machines.layout(m, STRIDE);
    const Int R = joint.kind.shape(0), S = joint.kind.shape(2), C = static_cast<Int>(first.size());
    std::vector<Small> number(joint.after.shape(1) * width, -1);
    Kinds result{Array<Small, 3>({R, C, S}), {}};
    for (Int r = 0; r < R; ++r)
        for (Int c = 0; c < C; ++c) {
            const Short* const symbols = &machines.symbols[machines.table(known[r], m) + first[c] * stride];
            const Int coarser = joint.before[first[c]];
            for (Int j = 0; j < S; ++j) {
                const KindAndSymbol pair{joint.kind(r, coarser, j), symbols[j]};
                Small& finer = number[pair.kind * width + pair.symbol];
                if (finer < 0) {
                    finer = static_cast<Small>(result.pairs.size());
                    result.pairs.push_back(pair);
                }
                result.kind(r, c, j) = finer;
            }
        }
    return result;
}

// Multiply with machine m; false where the reachable states are more than `most`.
bool multiply(Joint& joint, Befores& before, Kinds& kinds, const Machines& machines, Int m, Int most)
{
    const Int states = machines.layout(m, STATES), ends = machines.layout(m, FINAL);
    const Int width = static_cast<Int>(kinds.pairs.size());
    std::vector<Small> number(joint.states() * states, -1), after;
    std::vector<Int> order{0}, cost, last;
    number[0] = 0;
    for (std::size_t done = 0; done < order.size(); ++done) {
        const Int q = order[done] / states, state = order[done] % states;
        last.push_back(std::min(joint.last[q] + machines.last_cost[ends + state], HARD));
        for (const auto& [kind, symbol] : kinds.pairs) {
            const Int arc = machines.arc(m, state, symbol);
            cost.push_back(std::min(joint.cost(q, kind) + machines.cost[arc], HARD));
            after.push_back(0);
            if (cost.back() == HARD) continue;
            const Int key = joint.after(q, kind) * states + machines.next_state[arc];
            if (number[key] < 0) {
                if (static_cast<Int>(order.size()) == std::max<Int>(most, 1)) return false;
                number[key] = static_cast<Small>(order.size());
                order.push_back(key);
            }
            after.back() = number[key];
        }
    }
    const Int Q = static_cast<Int>(order.size());
    joint.before = std::move(before.of_state);
    joint.kind = std::move(kinds.kind);
    joint.after = array_of(after, std::array{Q, width});
    joint.cost = array_of(cost, std::array{Q, width});
    joint.last = array_of(last);
    return true;
}

}  // namespace

Joint no_machines(Int tokens, Int states)
{
    return {Array<Int>(tokens, 0),       Array<Small>(states + 1, 0), Array<Small, 3>({1, 1, states}, 0),
            Array<Small, 2>({1, 1}, 0), Array<Int, 2>({1, 1}, 0),    Array<Int>(1, 0)};
}

Multiplied multiply_machines(const Machines& machines, ConstInts classes, Int states, ConstInts active,
                             ConstInts apart, Int most, bool steps)
{
    auto rows = number_classes(classes, machines.table.shape(0));
    Multiplied result{no_machines(1, states), std::vector<bool>(active.size(), false)};
    auto& joint = result.joint;
    joint.row = std::move(rows.of_token);
    joint.kind = Array<Small, 3>({static_cast<Int>(rows.known.size()), 1, states}, 0);
    for (Int a = 0; a < active.size(); ++a) {
        const Int m = active[a];
        if ((machines.layout(m, STRIDE) && !steps) || machines.mark[m] >= 0 || apart[m] || machines.charged[m])
            continue;
        auto before = split_before(joint, machines, m, rows.known);
        auto kinds = split_kinds(joint, machines, m, rows.known, before.first);
        if (static_cast<Int>(kinds.pairs.size()) > MOST_KINDS) continue;
        result.inside[a] = multiply(joint, before, kinds, machines, m, most);
    }
    return result;
}

}  // namespace ilpinfer
