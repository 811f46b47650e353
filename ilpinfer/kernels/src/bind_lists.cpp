#include <nanobind/stl/pair.h>

#include "agreement.hpp"
#include "bindings.hpp"
#include "events.hpp"
#include "records.hpp"

namespace ilpinfer {

template <>
struct Members<agreement::Lattice> {
    using R = agreement::Lattice;
    static constexpr auto value = std::tuple(&R::node, &R::pool, &R::step, &R::base, &R::reach, &R::ahead);
};
template <>
struct Members<agreement::Lists> {
    using R = agreement::Lists;
    static constexpr auto value =
        std::tuple(&R::kind, &R::begin, &R::before, &R::after, &R::penalty, &R::own, &R::past, &R::future);
};

namespace {

// A function that runs a kernel without the interpreter's lock.
template <typename Result, typename... Arguments>
auto without_lock(Result (*kernel)(Arguments...))
{
    return [kernel](Arguments... arguments) { return unlocked([&] { return kernel(arguments...); }); };
}

void bind_agreement(nb::module_& m)
{
    m.def("agree_forward", without_lock(agreement::forward), nb::arg("scores"), nb::arg("lists"),
          nb::arg("moving"), "Fill reach and past; where `moving`, divide the scores of each token anew.");
    m.def("agree_backward", without_lock(agreement::backward), nb::arg("scores"), nb::arg("lists"),
          nb::arg("moving"), "Fill ahead and future; where `moving`, divide the scores of each token anew.");
    m.def("agree_bound", without_lock(agreement::bound), nb::arg("scores"), nb::arg("lists"),
          "The sum of the optima, after a backward sweep.");
    m.def("agree_best_kinds", without_lock(agreement::best_kinds), nb::arg("lists"), nb::arg("kinds"),
          "Fill kinds (N,) with the best kinds of each list, after a backward sweep.");
    m.def("agree_narrow", without_lock(agreement::narrow), nb::arg("scores"), nb::arg("lists"),
          nb::arg("total"), nb::arg("floor"),
          "Forbid the states through which no labelling reaches the floor; returns their number.");
    m.def("agree_best_path", without_lock(agreement::best_path), nb::arg("scores"), nb::arg("path"),
          "Fill path (T,) with the states of the lattice's best labelling, after a backward sweep.");
}

}  // namespace

void bind_lists(nb::module_& m)
{
    bind_agreement(m);
    m.def(
        "index_events",
        [](View<const Short, 1> symbols, View<const Int, 2> table, View<const Int, 2> layout,
           View<const Small, 1> next_state, ConstInts violations, Int states, Int labels) {
            const Arcs arcs{symbols, table, layout, next_state, violations, states, labels};
            auto lists = unlocked([&] { return index_events(arcs); });
            return to_tuple(to_numpy(std::move(lists.begin)), to_numpy(std::move(lists.event)));
        },
        nb::arg("symbols"), nb::arg("table"), nb::arg("layout"), nb::arg("next_state"), nb::arg("violations"),
        nb::arg("states"), nb::arg("labels"),
        "The events of each step, by class and step; `begin` and `event`.");
}

}  // namespace ilpinfer
