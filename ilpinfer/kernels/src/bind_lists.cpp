#include <nanobind/stl/pair.h>

#include "agreement.hpp"
#include "bindings.hpp"
#include "diagram.hpp"
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
template <>
struct Members<diagram::Graph> {
    using R = diagram::Graph;
    static constexpr auto value =
        std::tuple(&R::state, &R::value, &R::layers, &R::first, &R::target, &R::score, &R::end, &R::ahead);
};
template <>
struct Members<diagram::Growth> {
    using R = diagram::Growth;
    static constexpr auto value = std::tuple(&R::graph, &R::origin, &R::key, &R::bound, &R::slots);
};
template <>
struct Members<diagram::Limits> {
    using R = diagram::Limits;
    static constexpr auto value = std::tuple(&R::floor, &R::width, &R::work);
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

void bind_diagram(nb::module_& m)
{
    m.def("unfold", without_lock(diagram::unfold), nb::arg("scores"), nb::arg("emission"), nb::arg("edge_at"),
          nb::arg("output"), "Write a lattice as a diagram; returns the numbers of nodes and of steps.");
    m.def("complete_diagram", without_lock(diagram::complete), nb::arg("graph"), nb::arg("last"),
          nb::arg("stop"), nb::arg("path"),
          "Fill `ahead` for layers last to stop, and path (T,) with the best labelling's states.");
    m.def("thin", without_lock(diagram::thin), nb::arg("graph"), nb::arg("floor"), nb::arg("number"),
          nb::arg("output"),
          "Keep what reaches the floor; returns the steps kept, and the best score left out.");
    m.def("words_of", without_lock(diagram::words_of), nb::arg("machines"), nb::arg("active"),
          nb::arg("nodes"), "Words of the keys of a product of a diagram of so many nodes with machines.");
    m.def("multiply_diagram", without_lock(diagram::multiply), nb::arg("graph"), nb::arg("machines"),
          nb::arg("classes"), nb::arg("active"), nb::arg("growth"), nb::arg("counts"), nb::arg("limits"),
          "Build the product of a graph with machines; returns why it has stopped.");
}

}  // namespace

void bind_lists(nb::module_& m)
{
    bind_agreement(m);
    bind_diagram(m);
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
