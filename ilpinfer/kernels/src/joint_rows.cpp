#include "joint_rows.hpp"

namespace ilpinfer {
namespace {

Alike alike(const Joint& joint, Int r)
{
    const Int C = joint.kind.shape(1), S = joint.kind.shape(2);
    const auto key = [&](Int j, Int c) { return c < 0 ? joint.before[j + 1] : joint.kind(r, c, j); };
    const auto compare = [&](Int i, Int j) {
        Int c = -1;
        while (c < C && key(i, c) == key(j, c)) ++c;
        return c == C ? 0 : key(i, c) - key(j, c);
    };
    Alike result{std::vector<Int>(S), {}};
    std::iota(result.order.begin(), result.order.end(), 0);
    std::stable_sort(result.order.begin(), result.order.end(), [&](Int i, Int j) { return compare(i, j) < 0; });
    for (Int n = 0; n < S; ++n)
        if (!n || compare(result.order[n - 1], result.order[n])) result.begin.push_back(n);
    result.begin.push_back(S);
    return result;
}

}  // namespace

JointRows::JointRows(const Joint& joint, Int tokens)
    : joint_(joint), tokens_(tokens), Q_(joint.states()), parts_(joint.kind.shape(0)),
      led_({joint.after.shape(1), Q_}, false), changed_(joint.kind.shape(1)), states_(joint.kind.shape(2))
{
    for (Int q = 0; q < Q_; ++q)
        for (Int k = 0; k < led_.size(); ++k) led_(k, joint.after(q, k)) = true;
}

void JointRows::begin(Int t)
{
    const Int row = joint_.row[t], C = joint_.kind.shape(1);
    if (later_row_ != row_) {
        later_ = here_;
        later_row_ = row_;
        for (Int c = 1; c < C; ++c) {
            changed_[c].clear();
            for (Int n = 0; n < later_->size(); ++n) {
                const Int j = later_->first(n);
                if (joint_.kind(row_, c, j) != joint_.kind(row_, 0, j)) changed_[c].push_back(n);
            }
        }
    }
    if (row == row_) return;
    row_ = row;
    if (parts_[row].order.empty()) parts_[row] = alike(joint_, row);
    here_ = &parts_[row];
    entered_ = Array<bool, 2>({Q_, here_->size()}, false);
    for (Int c = 0; c < C; ++c)
        for (Int n = 0; n < here_->size(); ++n) {
            const auto led = led_[joint_.kind(row, c, here_->first(n))];
            for (Int q = 0; q < Q_; ++q) entered_(q, n) |= led[q];
        }
}

}  // namespace ilpinfer
