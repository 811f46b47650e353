#include "discrepancy.hpp"

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

// Steps of machines that are read for a whole labelling in about the time of a node.
constexpr Int READ_AS_ONE = 64;

class Dive {
public:
    Dive(const Chain& chain, const Ahead& ahead, const MemoJoint& joint, const LateMachines& late,
         const Stack& stack, Ints limits, Ints counts, const Labellings<Int>& records, const DiveRule& rule)
        : chain_(chain), ahead_(ahead), joint_(joint), late_(late), stack_(stack), counts_(counts),
          records_(records), rule_(rule), floor_(limits[0]), reach_(limits[1]), width_(limits[2])
    {
    }

    // Search until so much more work is done; why it has stopped.
    Int run(Int work)
    {
        const Int stop = counts_[WORK] + work;
        while (counts_[DEPTH] >= 0) {
            if (counts_[WORK] >= stop) return WORKED;
            const Int t = counts_[DEPTH], c = stack_.following[t];
            if (c < 0) {
                look_for_interrupts();
                if (!expand(t)) return FULL;
                stack_.following[t] = 0;
                continue;
            }
            if (!take(t, c)) {
                stack_.following[t] = -1;
                --counts_[DEPTH];
            } else if (t < chain_.size() - 1) {
                ++counts_[DEPTH];
            } else if (!record(stack_.value(t, c))) {
                stack_.following[t] = c;
                return FULL;
            }
        }
        return DONE;
    }

private:
    enum Stop { DONE, WORKED, FULL };
    enum Count { DEPTH, NODES, COMPLETE, CUT, BEST, WORK };

    bool has_late() const { return late_.rules.machines.size() > 0; }
    Int chosen(Int t) const { return stack_.following[t] - 1; }

    // The cost of the first tokens of the labelling on the stack, by late machines; `HARD` where a hard rule
    // breaks. The joint state after these tokens is kept.
    Int read_prefix(Int length) const
    {
        if (!has_late()) return 0;
        Int total = 0, before = -1;
        late_.kept.fill(0);
        for (Int t = 0; t < length; ++t) {
            const Int now = stack_.state(t, chosen(t));
            const auto [cost, hard] = read_step(late_.rules, t, before, now, late_.kept);
            if (hard) return HARD;
            total += cost;
            before = now;
        }
        return total;
    }

    // The cost of a last step and of the end, after `read_prefix`.
    Int read_last(Int t, Int before, Int now) const
    {
        late_.vector.copy(late_.kept);
        const auto [cost, hard] = read_step(late_.rules, t, before, now, late_.vector);
        if (hard) return HARD;
        const auto end = close(late_.rules, late_.vector);
        return end.hard ? HARD : cost + end.cost;
    }

    // Put the choices for token t on the stack, best first; false where there is no room for joint states.
    // Choices for the last token complete labellings, which are evaluated by all rules.
    bool expand(Int t)
    {
        const auto& [rules, symbols, memo] = joint_;
        const bool last = t == chain_.size() - 1;
        const Int paid = last ? read_prefix(t) : 0;
        const Int before = t ? stack_.state(t - 1, chosen(t - 1)) : -1;
        const Int from = t ? stack_.joint(t - 1, chosen(t - 1)) : 0;
        const Int so_far = t ? stack_.value(t - 1, chosen(t - 1)) : 0;
        const Int start = chain_.first_state(t, before);
        Int count = 0;
        ++counts_[NODES];
        counts_[WORK] += 1 + (last ? t * late_.rules.machines.size() / READ_AS_ONE : 0);
        for (Int b = 0; b < chain_.choices(); ++b) {
            const Int j = start + b, gain = chain_.gain(t, before, b, j);
            if (gain < DEAD || ahead_.completion(t, j) < DEAD) continue;
            const Int s = symbols.symbol(symbols.table[t], before + 1, b);
            if (memo.after(from, s) == UNKNOWN && !read_symbol(rules, symbols, memo, from, s)) return false;
            const Small next = memo.after(from, s);
            if (next == BROKEN) continue;
            Int total = so_far + gain - memo.cost(from, s);
            if (last) {
                const auto end = close_copy(rules, memo.vectors[next]);
                const Int rest = end.hard || paid == HARD ? HARD : read_last(t, before, j);
                if (rest == HARD) continue;
                total -= end.cost + paid + rest;
            }
            const Int could = total + ahead_.completion(t, j);
            if (total - ahead_.shift[t] < floor_ || could < reach_) continue;
            count = insert(t, count, {j, next, total, reach_ > DEAD ? could : total});
        }
        stack_.size[t] = count;
        return true;
    }

    struct Choice {
        Int state;
        Small joint;
        Int value, key;
    };

    // Insert a choice among the first `count` ones, if it is one of the best; the number of choices.
    Int insert(Int t, Int count, const Choice& choice)
    {
        const auto state = stack_.state[t], joint = stack_.joint[t];
        const auto value = stack_.value[t], key = stack_.key[t];
        Int place = count;
        while (place > 0 && key[place - 1] < choice.key) --place;
        if (count == width_) {
            counts_[CUT] = 1;
            if (place == width_) return count;
        } else {
            ++count;
        }
        for (Int other = count - 1; other > place; --other) {
            state[other] = state[other - 1];
            joint[other] = joint[other - 1];
            value[other] = value[other - 1];
            key[other] = key[other - 1];
        }
        state[place] = static_cast<Small>(choice.state);
        joint[place] = choice.joint;
        value[place] = choice.value;
        key[place] = choice.key;
        return count;
    }

    // Take a choice for token t; false where there is none that the limits allow.
    bool take(Int t, Int c)
    {
        const Int used = (t ? stack_.spent[t - 1] : 0) + (c > 0);
        const bool too_many = rule_.discrepancies >= 0 && used > rule_.discrepancies;
        if (c >= stack_.size[t] || too_many || (reach_ > DEAD && stack_.key(t, c) < reach_)) {
            if (c < stack_.size[t] && too_many) counts_[CUT] |= 1;
            return false;
        }
        stack_.following[t] = c + 1;
        stack_.spent[t] = used;
        return true;
    }

    // Record the labelling on the stack if it is the best one, and raise a floor; false where there is no
    // room.
    bool record(Int total)
    {
        if (total <= counts_[BEST]) return true;
        const Int n = counts_[COMPLETE], T = chain_.size();
        if (n == records_.values.size()) return false;
        for (Int t = 0; t < T; ++t) records_.paths(n, t) = stack_.state(t, chosen(t));
        records_.values[n] = counts_[BEST] = total;
        records_.when[n] = counts_[NODES];
        ++counts_[COMPLETE];
        if (rule_.raised == 1)
            floor_ = std::max(floor_, total - ahead_.shift[T - 1]);
        else if (rule_.raised == 2)
            reach_ = std::max(reach_, total + 1);
        return true;
    }

    const Chain& chain_;
    const Ahead& ahead_;
    const MemoJoint& joint_;
    const LateMachines& late_;
    const Stack& stack_;
    const Ints counts_;
    const Labellings<Int>& records_;
    const DiveRule& rule_;
    Int &floor_, &reach_;
    const Int width_;
};

}  // namespace

Int dive(const Chain& chain, const Ahead& ahead, const MemoJoint& joint, const LateMachines& late,
         const Stack& stack, Ints limits, Ints counts, const Labellings<Int>& records, const DiveRule& rule,
         Int work)
{
    return Dive(chain, ahead, joint, late, stack, limits, counts, records, rule).run(work);
}

}  // namespace ilpinfer
