// Records that Python makes, in the order of their named tuples; see tables.py and counts.py.
#pragma once

#include "instance.hpp"
#include "numpy.hpp"
#include "solving.hpp"

namespace ilpinfer {

template <>
struct Members<Windows> {
    using R = Windows;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Windows");
    static constexpr auto value = std::tuple(&R::numbers, &R::start, &R::shape, &R::classes);
};

template <>
struct Members<Scores> {
    using R = Scores;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Scores");
    static constexpr auto value = std::tuple(&R::node, &R::edge, &R::which, &R::base, &R::labels);
};

template <>
struct Members<Machines> {
    using R = Machines;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Machines");
    static constexpr auto value =
        std::tuple(&R::symbols, &R::table, &R::layout, &R::next_state, &R::cost, &R::last_cost, &R::begin, &R::event,
                   &R::owing, &R::weight, &R::sums, &R::charged, &R::mark, &R::penalty, &R::violations, &R::last);
};

template <>
struct Members<Counts> {
    using R = Counts;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.counts.Counts");
    static constexpr auto value = std::tuple(&R::node_begin, &R::edge_begin, &R::event, &R::overruled, &R::owner,
                                             &R::rules, &R::pool);
};

template <>
struct Members<Limits> {
    using R = Limits;
    static constexpr auto value = std::tuple(&R::token, &R::least, &R::slots);
};

// The tables of a decoder, which keep their arrays.
struct Tables {
    Tables(Kept<Windows> windows, Kept<Scores> scores, Kept<Machines> machines, Kept<Counts> counts)
        : instance{windows.record, scores.record, machines.record, counts.record}, windows(windows.source),
          scores(scores.source), machines(machines.source), counts(counts.source)
    {
    }

    Instance instance;
    nb::typed<nb::object, Windows> windows;
    nb::typed<nb::object, Scores> scores;
    nb::typed<nb::object, Machines> machines;
    nb::typed<nb::object, Counts> counts;
};

}  // namespace ilpinfer
