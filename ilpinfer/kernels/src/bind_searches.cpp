#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "discrepancy.hpp"
#include "evolution.hpp"
#include "joint_records.hpp"

namespace ilpinfer {

template <>
struct Members<Chain> {
    using R = Chain;
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Chain");
    static constexpr auto value = std::tuple(&R::node, &R::pool, &R::step, &R::base);
};
template <typename Label>
struct Members<Labellings<Label>> {
    using R = Labellings<Label>;
    static constexpr auto value = std::tuple(&R::values, &R::when, &R::paths);
};
template <>
struct Members<LateMachines> {
    using R = LateMachines;
    static constexpr auto value = std::tuple(&R::rules, &R::kept, &R::vector);
};
template <>
struct Members<Ahead> {
    using R = Ahead;
    static constexpr auto value = std::tuple(&R::completion, &R::shift);
};
template <>
struct Members<Stack> {
    using R = Stack;
    static constexpr auto value =
        std::tuple(&R::state, &R::joint, &R::value, &R::key, &R::size, &R::following, &R::spent);
};
template <>
struct Members<DiveRule> {
    using R = DiveRule;
    static constexpr auto value = std::tuple(&R::discrepancies, &R::raised);
};
template <>
struct Members<Runs> {
    using R = Runs;
    static constexpr auto value = std::tuple(&R::joins, &R::forms);
};
template <>
struct Members<IndividualArrays> {
    using R = IndividualArrays;
    static constexpr auto value =
        std::tuple(&R::label, &R::joint, &R::worth, &R::broken, &R::total, &R::breaks);
};
template <>
struct Members<Population> {
    using R = Population;
    static constexpr auto value = std::tuple(&R::living, &R::free);
};
template <>
struct Members<Settings> {
    using R = Settings;
    static constexpr auto value = std::tuple(&R::rate, &R::pressure, &R::shift, &R::ranked, &R::both);
};
template <>
struct Members<Weights> {
    using R = Weights;
    static constexpr auto value = std::tuple(&R::start, &R::increase);
};

namespace {

// A kernel that runs without the interpreter's lock.
template <typename Result, typename... Arguments>
auto free_running(Result (*kernel)(Arguments...))
{
    return [kernel](std::decay_t<Arguments>... arguments) {
        return unlocked([&] { return kernel(arguments...); });
    };
}

}  // namespace

void bind_searches(nb::module_& m)
{
    m.def("dive", free_running(dive), nb::arg("chain"), nb::arg("ahead"), nb::arg("joint"), nb::arg("late"),
          nb::arg("stack"), nb::arg("limits"), nb::arg("counts"), nb::arg("records"), nb::arg("rule"),
          nb::arg("work"), "Search depth first until so much more work is done; why it has stopped.");
    m.def("value_individual", free_running(value_individual), nb::arg("chain"), nb::arg("machines"),
          nb::arg("individuals"), nb::arg("who"), nb::arg("first"), nb::arg("last"), nb::arg("counts"),
          "Evaluate an individual that has changed from `first` to `last`; False where there is no room.");
    m.def("begin_population", free_running(begin_population), nb::arg("chain"), nb::arg("machines"),
          nb::arg("individuals"), nb::arg("count"), nb::arg("mutations"), nb::arg("seed"), nb::arg("runs"),
          nb::arg("settings"), nb::arg("counts"),
          "Make individuals by mutations of the first one, and evaluate all; False where there is no room.");
    m.def("evolve", free_running(evolve), nb::arg("chain"), nb::arg("machines"), nb::arg("individuals"),
          nb::arg("places"), nb::arg("seed"), nb::arg("runs"), nb::arg("settings"), nb::arg("weights"),
          nb::arg("records"), nb::arg("counts"), nb::arg("last"),
          "Run generations until the `last` one; why it has stopped.");
    m.def(
        "sample",
        [](ConstInts order, Int n, double pressure, Row<std::uint64_t> seed, Ints chosen) {
            Random random(seed);
            sample(order, n, pressure, random, chosen);
        },
        nb::arg("order"), nb::arg("n"), nb::arg("pressure"), nb::arg("seed"), nb::arg("chosen"),
        "Draw n of those in `order`, worst first, by linear ranking.");
    m.def("cuts", cuts, nb::arg("y"), nb::arg("joins"), nb::arg("borders"),
          "Fill borders with the first tokens of runs; the number of runs.");
    m.def("put", put, nb::arg("y"), nb::arg("begin"), nb::arg("end"), nb::arg("k"), nb::arg("runs"),
          "Make tokens one run; the first and the last token that may have changed.");
    m.def("shift_back", shift_back, nb::arg("y"), nb::arg("t"), nb::arg("runs"),
          "Let a run begin one token earlier; the first and the last token that may have changed.");
    m.def("shift_on", shift_on, nb::arg("y"), nb::arg("t"), nb::arg("runs"),
          "Extend the run before token t by it; the first and the last token that may have changed.");
    m.def(
        "mutate",
        [](Row<Small> y, Row<std::uint64_t> seed, Ints borders, Int labels, double shift, bool both,
           const Runs& runs) {
            Random random(seed);
            return mutate(y, random, borders, labels, shift, both, runs);
        },
        nb::arg("y"), nb::arg("seed"), nb::arg("borders"), nb::arg("labels"), nb::arg("shift"),
        nb::arg("both"), nb::arg("runs"),
        "Shift a border or relabel a run; the first and the last token that may have changed.");
}

}  // namespace ilpinfer
