#include "beam.hpp"

#include <bit>
#include <numeric>
#include <vector>

#include "interrupts.hpp"
#include "keys.hpp"
#include "ordering.hpp"

namespace ilpinfer {
namespace {

// Extends a beam by a token; choice h · K + b of a token is step b from prefix h.
class Extension {
public:
    Extension(const Chain& chain, View<const Int, 2> completion, const Rules& rules, const Beam& beam)
        : chain_(chain), completion_(completion), rules_(rules), beam_(beam), width_(beam.states.size()),
          last_(beam.states.shape(1) - 1), value_(width_ * chain.choices()), chosen_(width_), alike_(width_),
          rows_({width_, last_ + 1}),
          slots_(static_cast<Int>(std::bit_ceil(static_cast<std::uint64_t>(4 * std::max<Int>(1, width_)))))
    {
    }

    void extend(Int t, Int copies)
    {
        value_choices(t);
        move(t, keep(t, copies));
    }

private:
    Int state_of(Int t, Int choice) const
    {
        const Int K = chain_.choices();
        return chain_.first_state(t, beam_.states(choice / K, last_)) + choice % K;
    }

    // Fill a row with prefix h after a step; the cost and the hard violations of the step.
    auto read(Int t, Int h, Int now, Row<Small> row) const
    {
        row.copy(beam_.states[h]);
        row[last_] = static_cast<Small>(now);
        return read_step(rules_, t, t ? Int{beam_.states(h, last_)} : -1, now, row);
    }

    // Fill the values of all choices, `FORBIDDEN` where a rule is broken or no labelling follows.
    void value_choices(Int t)
    {
        const Int K = chain_.choices();
        for (Int h = 0; h < beam_.size[0]; ++h) {
            const Int before = beam_.states(h, last_);
            for (Int b = 0; b < K; ++b) {
                const Int j = state_of(t, h * K + b), gain = chain_.gain(t, before, b, j);
                value_[h * K + b] = FORBIDDEN;
                if (gain < DEAD || completion_(t, j) < DEAD) continue;
                const auto [cost, hard] = read(t, h, j, rows_[0]);
                if (!hard) value_[h * K + b] = beam_.score[h] + gain - cost;
            }
        }
    }

    // Choose the best, and fill the row of each; their number.
    Int keep(Int t, Int copies)
    {
        const Int K = chain_.choices();
        Int kept = 0;
        slots_.fill(-1);
        for (Int c : descending(value_.slice(0, beam_.size[0] * K))) {
            if (value_[c] < DEAD) break;
            const Int j = state_of(t, c);
            if (kept == width_) {
                beam_.left_out[0] = std::max(beam_.left_out[0], value_[c] + completion_(t, j));
                continue;
            }
            read(t, c / K, j, rows_[kept]);
            auto& slot = slots_[slot_of<Small, Small>(slots_, rows_, kept, 0, 0)];
            if (slot < 0) {
                slot = static_cast<Small>(kept);
                alike_[kept] = 0;
            }
            if (alike_[slot] < copies) {
                ++alike_[slot];
                chosen_[kept++] = c;
            }
        }
        return kept;
    }

    // Make the chosen ones the beam, in the order of their label ids.
    void move(Int t, Int kept)
    {
        std::vector<Int> order(kept);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](Int a, Int b) { return chosen_[a] < chosen_[b]; });
        for (Int h = 0; h < kept; ++h) {
            const Int c = chosen_[order[h]];
            const auto row = rows_[order[h]];
            beam_.nodes(t, h) = row[last_];
            beam_.parents(t, h) = static_cast<Small>(c / chain_.choices());
            beam_.score[h] = value_[c];
            beam_.states[h].copy(row);
        }
        beam_.size[0] = kept;
    }

    const Chain& chain_;
    const View<const Int, 2> completion_;
    const Rules& rules_;
    const Beam& beam_;
    const Int width_, last_;
    Array<Int> value_, chosen_, alike_;
    Array<Small, 2> rows_;
    Array<Small> slots_;
};

}  // namespace

void beam_advance(const Chain& chain, View<const Int, 2> completion, const Rules& rules, const Beam& beam,
                  Int copies, Int first, Int last)
{
    Extension extension(chain, completion, rules, beam);
    for (Int t = first; t < last; ++t) {
        look_for_interrupts();
        extension.extend(t, copies);
    }
}

void beam_finish(const Rules& rules, const Beam& beam)
{
    for (Int h = 0; h < beam.size[0]; ++h) {
        const auto [cost, hard] = close(rules, beam.states[h]);
        beam.score[h] = hard ? FORBIDDEN : beam.score[h] - cost;
    }
}

}  // namespace ilpinfer
