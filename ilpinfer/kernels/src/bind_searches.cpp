#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "discrepancy.hpp"
#include "evolution.hpp"
#include "joint_records.hpp"

namespace ilpinfer {

template <>
struct Members<Chain> {
    static constexpr auto name = nb::detail::const_name("ilpinfer.kernels.tables.Chain");
};
template <typename Label>
struct Members<Labellings<Label>> {};
template <>
struct Members<Dive> {};
template <>
struct Members<Runs> {};
template <>
struct Members<IndividualArrays> {};
template <>
struct Members<Breeding> {};
template <>
struct Members<Population> {};
template <>
struct Members<Settings> {};
template <>
struct Members<Weights> {};

void bind_searches(nb::module_& m)
{
    define(m, "dive", [](const Dive& search, Int work) { return search.run(work); }, {"search", "work"},
           "Search depth first until so much more work is done; why it has stopped.");
    define(m, "value_individual",
           [](const Breeding& all, Int who, Int first, Int last) { return all.value(who, first, last); },
           {"breeding", "who", "first", "last"},
           "Evaluate an individual that has changed from `first` to `last`; False where there is no room.");
    define(m, "begin_population", [](const Breeding& all, Int count, Int mutations) { return all.begin(count, mutations); },
           {"breeding", "count", "mutations"},
           "Make individuals by mutations of the first one, and evaluate all; False where there is no room.");
    define(m, "evolve", evolve, {"breeding", "places", "weights", "records", "last"},
           "Run generations until the `last` one; why it has stopped.");
    define(m, "sample", sample, {"order", "n", "pressure", "seed", "chosen"},
           "Draw n of those in `order`, worst first, by linear ranking.");
    define(m, "cuts", cuts, {"y", "joins", "borders"},
           "Fill borders with the first tokens of runs; the number of runs.");
    define(m, "put", put, {"y", "begin", "end", "k", "runs"},
           "Make tokens one run; the first and the last token that may have changed.");
    define(m, "shift_back", shift_back, {"y", "t", "runs"},
           "Let a run begin one token earlier; the first and the last token that may have changed.");
    define(m, "shift_on", shift_on, {"y", "t", "runs"},
           "Extend the run before token t by it; the first and the last token that may have changed.");
    define(m, "mutate", mutate, {"y", "seed", "borders", "labels", "shift", "both", "runs"},
           "Shift a border or relabel a run; the first and the last token that may have changed.");
}

}  // namespace ilpinfer
