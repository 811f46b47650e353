#include <nanobind/stl/pair.h>

#include "agreement.hpp"
#include "bindings.hpp"
#include "events.hpp"
#include "records.hpp"

namespace ilpinfer {

template <>
struct Members<agreement::Lattice> {};
template <>
struct Members<agreement::Lists> {};

void bind_lists(nb::module_& m)
{
    define(m, "agree_forward", agreement::forward, {"scores", "lists", "moving"},
           "Fill reach and past; where `moving`, divide the scores of each token anew.");
    define(m, "agree_backward", agreement::backward, {"scores", "lists", "moving"},
           "Fill ahead and future; where `moving`, divide the scores of each token anew.");
    define(m, "agree_bound", agreement::bound, {"scores", "lists"}, "The sum of the optima, after a backward sweep.");
    define(m, "agree_best_kinds", agreement::best_kinds, {"lists", "kinds"},
           "Fill kinds (N,) with the best kinds of each list, after a backward sweep.");
    define(m, "agree_narrow", agreement::narrow, {"scores", "lists", "total", "floor"},
           "Forbid the states through which no labelling reaches the floor; returns their number.");
    define(m, "agree_best_path", agreement::best_path, {"scores", "path"},
           "Fill path (T,) with the states of the lattice's best labelling, after a backward sweep.");
    define(m, "index_events",
           [](View<const Short, 1> symbols, View<const Int, 2> table, View<const Int, 2> layout,
              View<const Small, 1> next_state, ConstInts violations, Int states, Int labels) {
               auto lists = index_events({symbols, table, layout, next_state, violations, states, labels});
               return std::tuple(std::move(lists.begin), std::move(lists.event));
           },
           {"symbols", "table", "layout", "next_state", "violations", "states", "labels"},
           "The events of each step, by class and step; `begin` and `event`.");
}

}  // namespace ilpinfer
