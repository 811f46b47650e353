// Parts of kernels, for tests.
#include "bindings.hpp"
#include "follow.hpp"
#include "records.hpp"

namespace ilpinfer {
namespace {

Int complete_sequence(const Scores& scores, View<const Int, 2> emission, ConstInts rows, ConstInts nodes,
                      ConstInts edges, View<Int, 2> after, View<Int, 2> tail)
{
    Completion completion{after, tail, FORBIDDEN};
    complete(scores, {emission, rows, nodes, edges, edges}, completion);
    return completion.total;
}

auto complete_product(const Instance& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes,
                      ConstInts active, Int most, Int least)
{
    const Single one({emission, edges, classes});
    const auto& [windows, scores, machines, counts] = tables;
    const Int T = edges.size(), S = scores.states();
    Array<Int, 2> after({T, scores.width()}), tail({T, scores.width()});
    Completion bare{after, tail, FORBIDDEN};
    complete(scores, one.sequence, bare);
    const Array<Int> apart(machines.size(), 0);
    const auto product = multiply_machines(machines, classes, S, active, apart, most, false);
    auto result = complete_jointly(scores, one.sequence, product.joint, bare, least);
    return std::tuple(std::move(result.after), result.total);
}

Int value_labelling(const Instance& tables, View<const Int, 2> emission, View<const Int, 2> classes, ConstInts rows,
                    ConstInts pool, ConstInts path, Ints parts, Ints violations)
{
    Walk walk(tables.machines.size());
    const Sequence sequence{emission, rows, classes[NODES], classes[EDGES], classes[MACHINES]};
    return evaluate(tables, sequence, {pool, classes[EDGES]}, path, walk, false, parts, violations);
}

}  // namespace

void bind_parts(nb::module_& m)
{
    m.attr("COARSE") = COARSE;
    m.attr("LOST") = LOST<Small>;
    m.attr("SHORT_LOST") = LOST<Short>;
    define(m, "complete", complete_sequence, {"scores", "emission", "rows", "nodes", "edges", "after", "tail"},
           "The best value without machines; fills completions and tails (T, W).");
    define(m, "complete_jointly", complete_product, {"tables", "emission", "edges", "classes", "active", "most", "least"},
           "The completions over a product of active machines for values from `least` on, and a bound on the best value.");
    define(m, "evaluate", value_labelling, {"tables", "emission", "classes", "rows", "pool", "path", "parts", "violations"},
           "The value of label ids (T,) of tokens with classes (3, T); fills parts (5,) and violations (R,).");
}

}  // namespace ilpinfer
