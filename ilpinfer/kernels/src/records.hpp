// Records that Python makes, in the order of their named tuples; see tables.py and counts.py.
#pragma once

#include "instance.hpp"
#include "numpy.hpp"
#include "solving.hpp"

namespace ilpinfer {

template <>
struct Members<Windows> {
    using R = Windows;
    static constexpr auto value = std::tuple(&R::numbers, &R::start, &R::shape, &R::classes);
};

template <>
struct Members<Scores> {
    using R = Scores;
    static constexpr auto value = std::tuple(&R::node, &R::edge, &R::which, &R::base, &R::labels);
};

template <>
struct Members<Machines> {
    using R = Machines;
    static constexpr auto value =
        std::tuple(&R::symbols, &R::table, &R::layout, &R::next_state, &R::cost, &R::last_cost, &R::begin, &R::event,
                   &R::owing, &R::weight, &R::sums, &R::charged, &R::mark, &R::penalty, &R::violations, &R::last);
};

template <>
struct Members<Counts> {
    using R = Counts;
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
    Tables(nb::tuple windows, nb::tuple scores, nb::tuple machines, nb::tuple counts)
        : instance{nb::cast<Windows>(windows), nb::cast<Scores>(scores), nb::cast<Machines>(machines),
                   nb::cast<Counts>(counts)},
          windows(windows), scores(scores), machines(machines), counts(counts)
    {
    }

    Instance instance;
    nb::tuple windows, scores, machines, counts;
};

}  // namespace ilpinfer
