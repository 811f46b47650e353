#include "bindings.hpp"
#include "joint_records.hpp"
#include "marginals.hpp"

namespace ilpinfer {

template <>
struct Members<Readings> {};
template <>
struct Members<Groups> {};
template <>
struct Members<Expansion> {};
template <>
struct Members<Nats> {};
template <>
struct Members<Lattice> {};

void bind_marginals(nb::module_& m)
{
    define(m, "first_final_cost", first_final_cost, {"rules", "memo"}, "Compute the final cost of the first joint state.");
    define(m, "enter_rows", enter_rows<Small, Small>, {"slots", "rows", "first", "count"},
           "Empty a hash table, and put `count` rows from `first` on into it.");
    define(m, "expand",
           [](const Rules& rules, Int size, const Readings& readings, const Groups& groups, View<const bool, 2> possible,
              View<const Int, 3> pool, Int budget) {
               auto made = expand(rules, size, readings, groups, possible, pool, budget);
               return std::tuple(std::move(made.first), std::move(made.states), std::move(made.labels),
                                 std::move(made.arc_at), std::move(made.leads), std::move(made.cost),
                                 std::move(made.end), made.passed);
           },
           {"rules", "size", "readings", "groups", "possible", "pool", "budget"},
           "The fields of the product of a lattice with its rules' machines.");
    define(m, "expected_counts", expected_counts, {"rules", "rule", "readings", "product", "mass", "last", "expected"},
           "Add the expected violations of each rule to expected (R,).");
    define(m, "backward", backward, {"lattice", "tail"},
           "Fill tail (V, K) with log sums of suffixes; the logarithm of the whole sum.");
    define(m, "forward",
           [](const Lattice& lattice, View<double, 2> tail, View<double, 2> labels, View<double, 3> edges, Row<double> mass,
              Row<double> ended) { forward(lattice, tail, {labels, edges, mass, ended}); },
           {"lattice", "tail", "labels", "edges", "mass", "ended"},
           "Fill labels (T, K), edges (T-1, K, K) unless empty, mass (A,) and ended (V,) with probabilities.");
    define(m, "draw", draw, {"lattice", "tail", "uniform", "ids"},
           "Fill ids (n, T) with labellings drawn from numbers uniform (n, T) in [0, 1).");
}

}  // namespace ilpinfer
