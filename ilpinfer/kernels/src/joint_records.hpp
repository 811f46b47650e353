// Records of joint states, in the order of their named tuples; see tables.py and machines.py.
#pragma once

#include "joint_states.hpp"
#include "records.hpp"

namespace ilpinfer {

template <>
struct Members<Rules> {
    using R = Rules;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Rules");
    static constexpr auto value = std::tuple(&R::machines, &R::classes);
};

template <>
struct Members<Symbols> {
    using R = Symbols;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.joint_states.Symbols");
    static constexpr auto value = std::tuple(&R::symbol, &R::table, &R::read);
};

template <>
struct Members<Memo> {
    using R = Memo;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.joint_states.Memo");
    static constexpr auto value =
        std::tuple(&R::vectors, &R::after, &R::cost, &R::number, &R::slots, &R::hard, &R::end);
};

template <>
struct Members<MemoJoint> {
    using R = MemoJoint;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.joint_states.Joint");
    static constexpr auto value = std::tuple(&R::rules, &R::symbols, &R::memo);
};

}  // namespace ilpinfer
