// Records of joint states, in the order of their named tuples; see tables.py and machines.py.
#pragma once

#include "joint_states.hpp"
#include "records.hpp"

namespace ilpinfer {

template <>
struct Members<Rules> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Rules");
};

template <>
struct Members<Symbols> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.joint_states.Symbols");
};

template <>
struct Members<Memo> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.joint_states.Memo");
};

template <>
struct Members<MemoJoint> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.joint_states.Joint");
};

}  // namespace ilpinfer
