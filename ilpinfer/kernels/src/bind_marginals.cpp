#include "bindings.hpp"
#include "joint_records.hpp"
#include "marginals.hpp"

namespace ilpinfer {

template <>
struct Members<Readings> {
    using R = Readings;
    static constexpr auto value = std::tuple(&R::number, &R::symbols, &R::begin, &R::kind);
};
template <>
struct Members<Groups> {
    using R = Groups;
    static constexpr auto value = std::tuple(&R::alike, &R::possible, &R::pair, &R::step);
};
template <>
struct Members<Expansion> {
    using R = Expansion;
    static constexpr auto value = std::tuple(&R::first, &R::states, &R::labels, &R::arc_at, &R::leads,
                                             &R::cost, &R::end, &R::passed);
};
template <>
struct Members<Nats> {
    using R = Nats;
    static constexpr auto value = std::tuple(&R::node, &R::pool, &R::scaled, &R::largest);
};
template <>
struct Members<Lattice> {
    using R = Lattice;
    static constexpr auto value = std::tuple(&R::product, &R::readings, &R::groups, &R::scores);
};

namespace {

void bind_joint_states(nb::module_& m)
{
    m.def("first_final_cost", first_final_cost, nb::arg("rules"), nb::arg("memo"),
          "Compute the final cost of the first joint state.");
    m.def("enter_rows", enter_rows<Small, Small>, nb::arg("slots"), nb::arg("rows"), nb::arg("first"),
          nb::arg("count"), "Empty a hash table, and put `count` rows from `first` on into it.");
}

void bind_expansion(nb::module_& m)
{
    m.def(
        "expand",
        [](const Rules& rules, Int size, const Readings& readings, const Groups& groups,
           View<const bool, 2> possible, View<const Int, 3> pool, Int budget) {
            auto made =
                unlocked([&] { return expand(rules, size, readings, groups, possible, pool, budget); });
            return to_tuple(to_numpy(std::move(made.first)), to_numpy(std::move(made.states)),
                            to_numpy(std::move(made.labels)), to_numpy(std::move(made.arc_at)),
                            to_numpy(std::move(made.leads)), to_numpy(std::move(made.cost)),
                            to_numpy(std::move(made.end)), made.passed);
        },
        nb::arg("rules"), nb::arg("size"), nb::arg("readings"), nb::arg("groups"), nb::arg("possible"),
        nb::arg("pool"), nb::arg("budget"),
        "The fields of the product of a lattice with its rules' machines.");
    m.def(
        "expected_counts",
        [](const Rules& rules, ConstInts rule, const Readings& readings, const Expansion& product,
           Row<const double> mass, Row<const double> last, Row<double> expected) {
            unlocked([&] { expected_counts(rules, rule, readings, product, mass, last, expected); });
        },
        nb::arg("rules"), nb::arg("rule"), nb::arg("readings"), nb::arg("product"), nb::arg("mass"),
        nb::arg("last"), nb::arg("expected"), "Add the expected violations of each rule to expected (R,).");
}

}  // namespace

void bind_marginals(nb::module_& m)
{
    bind_joint_states(m);
    bind_expansion(m);
    m.def(
        "backward",
        [](const Lattice& lattice, View<double, 2> tail) { return unlocked([&] { return backward(lattice, tail); }); },
        nb::arg("lattice"), nb::arg("tail"), "Fill tail (V, K) with log sums of suffixes; the logarithm of the whole sum.");
    m.def(
        "forward",
        [](const Lattice& lattice, View<double, 2> tail, View<double, 2> labels, View<double, 3> edges, Row<double> mass,
           Row<double> ended) {
            unlocked([&] { forward(lattice, tail, {labels, edges, mass, ended}); });
        },
        nb::arg("lattice"), nb::arg("tail"), nb::arg("labels"), nb::arg("edges"), nb::arg("mass"), nb::arg("ended"),
        "Fill labels (T, K), edges (T-1, K, K) unless empty, mass (A,) and ended (V,) with probabilities.");
    m.def(
        "draw",
        [](const Lattice& lattice, View<double, 2> tail, View<const double, 2> uniform, View<Int, 2> ids) {
            unlocked([&] { draw(lattice, tail, uniform, ids); });
        },
        nb::arg("lattice"), nb::arg("tail"), nb::arg("uniform"), nb::arg("ids"),
        "Fill ids (n, T) with labellings drawn from numbers uniform (n, T) in [0, 1).");
}

}  // namespace ilpinfer
