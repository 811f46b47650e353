// The backward recursion over states and joint states, from the last token to the first, in any semiring.
//
// A product has a row for each joint state at a token. Arcs lead from a row, by the step from one state to the next, to a row of the
// next token, with a cost. A semiring says what steps are worth and how they add up, and keeps the results by row and state. Sums go
// over next states.
#pragma once

#include "interrupts.hpp"
#include "view.hpp"

namespace ilpinfer {

inline constexpr Int ROWS_A_LOOK = 16;  // between two checks for interrupts

// The sums of four states, over the worth of steps from each and of what is `ahead` of them; with `same`, `ahead` is shared by all.
template <typename Semiring, bool same, typename Step, typename Ahead>
std::array<typename Semiring::Sum, 4> sums_of_four(const std::array<const Step*, 4>& steps,
                                                   const std::array<const Ahead*, 4>& ahead, Int width)
{
    auto s0 = Semiring::none(), s1 = s0, s2 = s0, s3 = s0;
    const auto [g0, g1, g2, g3] = steps;
    const auto [a0, a1, a2, a3] = ahead;
    for (Int b = 0; b < width; ++b) {
        s0 = Semiring::add(s0, g0[b], a0[b]);
        s1 = Semiring::add(s1, g1[b], (same ? a0 : a1)[b]);
        s2 = Semiring::add(s2, g2[b], (same ? a0 : a2)[b]);
        s3 = Semiring::add(s3, g3[b], (same ? a0 : a3)[b]);
    }
    return {s0, s1, s2, s3};
}

// Put the sums of some states, four at a time to save memory access.
template <typename Semiring>
void sum_up(Semiring& semiring, Int row, ConstInts states)
{
    const auto* const ahead = semiring.ahead();
    const Int width = semiring.width();
    for (Int n = 0; n < states.size(); n += 4) {
        std::array<Int, 4> i;
        for (Int m = 0; m < 4; ++m) i[m] = states[std::min(n + m, states.size() - 1)];
        const std::array steps{semiring.steps(i[0]), semiring.steps(i[1]), semiring.steps(i[2]), semiring.steps(i[3])};
        const std::array after{ahead + semiring.base(i[0]), ahead + semiring.base(i[1]), ahead + semiring.base(i[2]),
                               ahead + semiring.base(i[3])};
        const auto sums = semiring.any_follows() ? sums_of_four<Semiring, true>(steps, after, width)
                                                 : sums_of_four<Semiring, false>(steps, after, width);
        for (Int m = 0; m < std::min<Int>(4, states.size() - n); ++m) semiring.put(row, i[m], sums[m]);
    }
}

template <typename Semiring, typename Product>
void complete(Semiring& semiring, Product& product)
{
    const Int T = product.tokens();
    for (Int t = T - 1; t >= 0; --t) {
        semiring.begin(t);
        product.begin(t);
        for (Int row = product.first(t); row < product.first(t + 1); ++row) {
            if (row % ROWS_A_LOOK == 0) look_for_interrupts();
            semiring.clear(row);
            product.for_each_group(row, [&](ConstInts states) {
                if (t == T - 1) {
                    for (Int i : states) semiring.close(row, i, product.end(row));
                    return;
                }
                product.for_each_arc(row, states[0],
                                     [&](Int j, Int to, auto cost) { semiring.enter(j, to, cost); });
                if (semiring.ready()) sum_up(semiring, row, states);
            });
        }
        semiring.end(t);
    }
}

}  // namespace ilpinfer
