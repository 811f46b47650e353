#include "snapping.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

#include "grid.hpp"

namespace ilpinfer {
namespace {

// Scores on their way to the grid, of sizes below 2^31 nats, and the largest size.
class Snapper {
public:
    // Rounds half to even: the last bits of the sum are those of the whole number.
    Int units(double nats)
    {
        see(nats);
        constexpr double SHIFT = 0x1.8p52, UNITS = static_cast<double>(UNITS_PER_NAT);
        const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
        return static_cast<Int>(bits(nats * UNITS + SHIFT) - bits(SHIFT));
    }

    void see(double nats) { largest_ = std::max(largest_, std::bit_cast<Int>(std::abs(nats))); }

    double largest(double most) const
    {
        const double size = std::bit_cast<double>(largest_);
        return size < most ? size : std::numeric_limits<double>::quiet_NaN();
    }

private:
    Int largest_ = 0;  // bits of sizes are in the order of sizes, and those of NaN are the largest
};

}  // namespace

template <typename Number>
double snap(View<const Number, 2> nats, ConstInts rows, double most, View<Int, 2> units)
{
    assert(rows.size() == 0 || nats.shape(1) == units.shape(1));
    Snapper snapper;
    for (Int r = 0, next; r < rows.size(); r = next) {
        next = r + 1;
        while (next < rows.size() && rows[next] == rows[next - 1] + 1) ++next;
        const Number* const given = nats[rows[r]].data();
        Int* const own = units[r].data();
        const Int size = (next - r) * units.shape(1);
        for (Int i = 0; i < size; ++i) own[i] = snapper.units(given[i]);
    }
    return snapper.largest(most);
}

template <typename Number>
double snap_softmax(View<const Number, 2> nats, ConstInts rows, double most, View<Int, 2> units)
{
    Snapper snapper;
    const Int K = units.shape(1);
    assert(rows.size() == 0 || (K > 0 && nats.shape(1) == K));
    Array<double> below(K);
    for (const Number each : nats) snapper.see(each);
    for (Int r = 0; r < rows.size(); ++r) {
        const Number* const row = nats[rows[r]].data();
        Int* const own = units[r].data();
        const double largest = *std::max_element(row, row + K);
        double total = 0.0;
        for (Int k = 0; k < K; ++k) {
            below[k] = row[k] - largest;
            total += std::exp(below[k]);
        }
        const double rest = std::log(total);
        for (Int k = 0; k < K; ++k) own[k] = snapper.units(below[k] - rest);
    }
    return snapper.largest(most);
}

template double snap(View<const double, 2>, ConstInts, double, View<Int, 2>);
template double snap(View<const float, 2>, ConstInts, double, View<Int, 2>);
template double snap_softmax(View<const double, 2>, ConstInts, double, View<Int, 2>);
template double snap_softmax(View<const float, 2>, ConstInts, double, View<Int, 2>);

}  // namespace ilpinfer
