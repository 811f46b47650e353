#include "defaults.hpp"

#include "ordering.hpp"

namespace ilpinfer {
namespace {

constexpr Int SAMPLE = 15;  // steps of a state whose median is its number, at least, where there are as many states
constexpr Int SHARE = 8;    // exceptions are at most 1 / SHARE of the steps, so that the defaults save work

// The median difference of scores and numbers, each of every `some`-th; `FORBIDDEN` unless most are possible.
Int median(const Int* scores, Int stride, const std::vector<Int>& numbers, Int some, Array<Int>& sample)
{
    Int count = 0, all = 0;
    for (Int n = 0; n < static_cast<Int>(numbers.size()); n += some, ++all)
        if (scores[n * stride] > DEAD && numbers[n] > DEAD) sample[count++] = scores[n * stride] - numbers[n];
    return 2 * count > all ? nth_smallest(sample.slice(0, count), count / 2) : FORBIDDEN;
}

// The state with the most possible steps, of every `some`-th.
Int fullest(View<const Int, 2> edge, Int some)
{
    Int best = 0, most = -1;
    for (Int i = 0; i < edge.size(); i += some) {
        const Int* const row = edge[i].data();
        const Int count = std::count_if(row, row + edge.size(), [](Int score) { return score > DEAD; });
        if (count > most) {
            best = i;
            most = count;
        }
    }
    return best;
}

}  // namespace

Defaults defaults_of(View<const Int, 2> edge)
{
    const Int S = edge.size(), some = std::max<Int>(1, S / SAMPLE), width = edge.shape(1);
    const std::size_t most = S * S / SHARE;
    const Int* const first = edge[fullest(edge, some)].data();
    Defaults result{std::vector<Int>(S), std::vector<Int>(first, first + S), std::vector<Int>(S + 1), {}};
    auto& [out, into, begin, other] = result;
    Array<Int> sample(S);
    for (Int i = 0; i < S; ++i) out[i] = median(edge[i].data(), 1, into, some, sample);
    for (Int b = 0; b < S; ++b) into[b] = median(edge.data() + b, width, out, some, sample);
    for (Int i = 0; i < S; ++i) {
        const Int* const gain = edge[i].data();
        bool low = out[i] < DEAD;
        for (Int b = 0; b < S && !low; ++b) low = into[b] > DEAD && gain[b] < out[i] + into[b] - SLACK;
        out[i] = low ? FORBIDDEN : out[i] + SLACK;
        for (Int b = 0; b < S; ++b)
            if (gain[b] > DEAD && (low || gain[b] > out[i] + into[b])) {
                if (other.size() == most) return {};
                other.push_back(static_cast<Small>(b));
            }
        begin[i + 1] = static_cast<Int>(other.size());
    }
    return result;
}

}  // namespace ilpinfer
