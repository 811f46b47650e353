// Records that Python makes, in the order of their named tuples; see tables.py and counts.py.
#pragma once

#include "instance.hpp"
#include "numpy.hpp"
#include "single.hpp"
#include "solving.hpp"

namespace ilpinfer {

template <>
struct Members<Windows> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Windows");
};
template <>
struct Members<Scores> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Scores");
};
template <>
struct Members<Machines> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Machines");
};
template <>
struct Members<Counts> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.counts.Counts");
};
template <>
struct Members<Limits> {};
template <>
struct Members<Tokens> {};
template <>
struct Members<Account> {};

}  // namespace ilpinfer
