// Names of the records that are named tuples in Python, in the order of their fields; see tables.py, counts.py and joint_states.py.
#pragma once

#include "chain.hpp"
#include "joint_states.hpp"
#include "numpy.hpp"

namespace ilpinfer {

template <>
inline constexpr auto name_of<Windows> = nb::detail::const_name("ilpinfer.kernels.tables.Windows");
template <>
inline constexpr auto name_of<Scores> = nb::detail::const_name("ilpinfer.kernels.tables.Scores");
template <>
inline constexpr auto name_of<Machines> = nb::detail::const_name("ilpinfer.kernels.tables.Machines");
template <>
inline constexpr auto name_of<Counts> = nb::detail::const_name("ilpinfer.kernels.counts.Counts");
template <>
inline constexpr auto name_of<Chain> = nb::detail::const_name("ilpinfer.kernels.tables.Chain");
template <>
inline constexpr auto name_of<Rules> = nb::detail::const_name("ilpinfer.kernels.tables.Rules");
template <>
inline constexpr auto name_of<Symbols> = nb::detail::const_name("ilpinfer.kernels.joint_states.Symbols");
template <>
inline constexpr auto name_of<Memo> = nb::detail::const_name("ilpinfer.kernels.joint_states.Memo");
template <>
inline constexpr auto name_of<MemoJoint> = nb::detail::const_name("ilpinfer.kernels.joint_states.Joint");

}  // namespace ilpinfer
