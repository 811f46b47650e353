#include "joint_states.hpp"

namespace ilpinfer {
namespace {

void set_end(const Rules& rules, const Memo& memo, Int row)
{
    const Charge charge = close_copy(rules, memo.vectors[row]);
    memo.end(row, 0) = charge.cost;
    memo.end(row, 1) = charge.hard;
}

}  // namespace

Charge read_step(const Rules& rules, Int t, Int before, Int now, Row<Small> vector)
{
    const auto& machines = rules.machines;
    const Int c = rules.classes[t];
    Int cost = 0;
    for (Int m = 0; m < machines.size(); ++m) {
        const Int violations = read(machines, m, machines.symbol(m, c, before + 1, now), vector);
        if (violations && machines.penalty[m] == HARD) return {cost, violations};
        cost += machines.penalty[m] * violations;
    }
    return {cost, 0};
}

Charge close(const Rules& rules, Row<Small> vector)
{
    const auto& machines = rules.machines;
    Charge charge;
    for (Int m = 0; m < machines.size(); ++m) {
        const Int violations = count_final(machines, m, vector);
        if (machines.penalty[m] == HARD)
            charge.hard += violations;
        else
            charge.cost += machines.penalty[m] * violations;
    }
    return charge;
}

Charge close_copy(const Rules& rules, Row<const Small> vector)
{
    return close(rules, Array<Small>::copy_of(vector, {vector.size()}));
}

void first_final_cost(const Rules& rules, const Memo& memo) { set_end(rules, memo, 0); }

bool read_symbol(const Rules& rules, const Symbols& symbols, const Memo& memo, Int joint, Int symbol)
{
    const auto& machines = rules.machines;
    const Int made = memo.number[0];
    const bool counting = !memo.hard.empty();
    if (made == memo.vectors.size()) return false;
    const auto vector = memo.vectors[made];
    vector.copy(memo.vectors[joint]);
    Charge charge;
    for (Int m = 0; m < symbols.read.size(); ++m) {
        const Int penalty = machines.penalty[m];
        const Int violations = read(machines, m, symbols.read(m, symbol), vector);
        if (penalty != HARD) {
            charge.cost += penalty * violations;
        } else if (violations && !counting) {
            memo.after(joint, symbol) = BROKEN;
            return true;
        } else {
            charge.hard += violations;
        }
    }
    Small& slot = memo.slots[slot_of(memo.slots, memo.vectors, made, 0, 0)];
    if (slot < 0) {
        slot = static_cast<Small>(made);
        memo.after[made].fill(UNKNOWN);
        if (counting) set_end(rules, memo, made);
        ++memo.number[0];
    }
    memo.after(joint, symbol) = slot;
    memo.cost(joint, symbol) = charge.cost;
    if (counting) memo.hard(joint, symbol) = charge.hard;
    return true;
}

}  // namespace ilpinfer
