#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "ranking.hpp"
#include "records.hpp"

namespace ilpinfer {
namespace {

Int viterbi(const Scores& scores, View<const Int, 2> emission, ConstInts edges, View<Int, 2> after, View<Int, 2> tail,
            Ints path)
{
    const Single one({emission, edges, edges});
    Completion completion{after, tail, FORBIDDEN};
    complete(scores, one.sequence, completion);
    if (completion.total > DEAD) trace(scores, edges, completion, path);
    return completion.total;
}

void solve_one(const Instance& tables, const Tokens& tokens, const Limits& limits, Ints path, Ints result,
               View<Int, 2> marks)
{
    const Single one(tokens);
    Workspace space(tables, one.sequence.size());
    solve({tables, one.sequence, limits, marks}, result[VALUE], path, space).write(result);
}

auto list_one(const Instance& tables, const Tokens& tokens, Int first_steps, Int most_steps, Int lowest,
              View<Int, 2> paths, Ints values, View<Int, 2> marks)
{
    const Single one(tokens);
    Workspace space(tables, one.sequence.size());
    const auto listed =
        list_best({tables, one.sequence, {}, marks}, first_steps, most_steps, lowest, paths, values, space);
    return std::tuple(Int{listed.code}, listed.number);
}

void price(const Instance& tables, const Tokens& tokens, Ints multipliers)
{
    const Single one(tokens);
    Workspace space(tables, one.sequence.size());
    auto completion = space.completion(one.sequence.size());
    complete(tables.scores, one.sequence, completion);
    if (completion.total <= DEAD) return;
    Best best;
    Array<Int> marks(tables.machines.size());
    tighten(tables, one.sequence, completion, space.active, best, space.trial, marks, multipliers, NO_LIMIT, false);
}

auto price_in(const Instance& tables, const Tokens& tokens, ConstInts multipliers)
{
    const Single one(tokens);
    auto r = reprice(tables, one.sequence, multipliers);
    const auto owing = r->instance.machines.owing;
    return std::tuple(std::move(r->edge), std::move(r->cost), std::move(r->last_cost),
                      Array<Small>::copy_of(owing, {owing.size()}), std::move(r->charged), std::move(r->emission),
                      std::move(r->edges));
}

auto value_one(const Instance& tables, const Tokens& tokens, ConstInts path)
{
    const Single one(tokens);
    Active active(tables.machines.size());
    const auto [score, cost] = value_states(tables, one.sequence, path, active);
    return std::tuple(score, cost, active.list);
}

// A product of machines of one sequence, and its recursion.
struct JointProduct {
    JointProduct(const Instance& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes,
                 View<Int, 2> after, View<Int, 2> tail, Int total, ConstInts active, Int most, Int cells, bool steps)
    {
        const Single one({emission, edges, classes});
        const Completion bare{after, tail, total};
        product = multiply_jointly(tables, one.sequence, bare, active, most, cells, steps);
    }

    Product product;
};

// Label setting of one sequence over the machines outside a product, as far as it has gone.
class Search {
public:
    Search(const Instance& tables, const Tokens& tokens, JointProduct& joint, ConstInts active, Int floor, Int width,
           Int copies, bool greedy, const Account& account)
        : search_({tables.scores, tables.machines, tokens.edges, tokens.classes, joint.product.joint, active,
                   joint.product.completion.after, joint.product.completion.tail, joint.product.completion.total},
                  account.kept()),
          options_{.floor = floor, .work = 0, .greedy = greedy, .copies = copies, .width = width, .account = account}
    {
        p.start(search_.relaxation.size(), search_.relaxation.total, search_.places.words);
        if (search_.events.steps()) search_.events.keep();
    }

    // Extend prefixes by some more steps; whether all are labellings.
    bool advance(Int work)
    {
        options_.work = p.steps + work;
        return search_.extend(options_, p);
    }

    // Reach, keys (n, W) and states (n, T) of the labellings that reach the floor.
    auto labellings() const { return reaching(p.level[p.token], p.token); }

    // As `labellings`, the last states (n, 1) of the prefixes that are one token longer than one of t tokens, by label ids.
    auto children(Int t, ConstInts key, Int reach)
    {
        options_.work = NO_LIMIT;
        p.start(search_.relaxation.size(), reach, search_.places.words);
        std::copy_n(key.begin(), p.words, p.key.begin());
        p.token = t;
        p.level[t + 1] = 1;
        search_.extend_token(options_, p);
        p.finish();
        return reaching(1, 1);
    }

    // By token, the number of prefixes above a value.
    auto above(Int value) const
    {
        std::vector<Int> counts(p.token + 1);
        for (Int t = 0; t <= p.token; ++t)
            counts[t] = std::count_if(p.reach.begin() + p.level[t], p.reach.begin() + p.level[t + 1],
                                      [&](Int reach) { return reach > value; });
        return counts;
    }

    Prefixes p;

private:
    std::tuple<Array<Int>, Array<Int, 2>, Array<Int, 2>> reaching(Int first, Int states) const
    {
        std::vector<Int> places;
        for (Int h = first; h < p.made; ++h)
            if (p.reach[h] >= options_.floor) places.push_back(h);
        const Int n = static_cast<Int>(places.size());
        Array<Int> reach(n);
        Array<Int, 2> keys({n, p.words}), paths({n, states});
        for (Int k = 0; k < n; ++k) {
            reach[k] = p.reach[places[k]];
            std::copy_n(p.key.begin() + places[k] * p.words, p.words, keys[k].begin());
            p.spell(places[k], paths[k]);
        }
        return {std::move(reach), std::move(keys), std::move(paths)};
    }

    LabelSetting search_;
    Options options_;
};

}  // namespace

void bind_relaxations(nb::module_& m)
{
    m.attr("BITS") = BITS;
    m.attr("FEWEST_JOINT") = FEWEST_JOINT;
    m.attr("FIRST_STEP") = FIRST_STEP;
    m.attr("MOST_CELLS") = MOST_CELLS;
    m.attr("MOST_JOINT") = MOST_JOINT;
    m.attr("NO_LIMIT") = NO_LIMIT;
    m.attr("VECTOR") = VECTOR;
    m.attr("WIDEST") = WIDEST;
    define(m, "viterbi", viterbi, {"scores", "emission", "edges", "after", "tail", "path"},
           "Viterbi without machines: the best value; fills completions and tails (T, W), and path (T,) unless the value is "
           "forbidden.");
    define(m, "prune", prune, {"scores", "emission", "edges", "after", "floor"},
           "Forbid the states (T, S) through which no labelling reaches the floor by its scores; the number that is left.");
    define(m, "solve", solve_one, {"tables", "sequence", "limits", "path", "result", "marks"},
           "The best labelling of one sequence; a path (T,) of value result[VALUE] is known where that is not forbidden.");
    define(m, "list_best", list_one,
           {"tables", "sequence", "first_steps", "most_steps", "lowest", "paths", "values", "marks"},
           "The best labellings (top, T) of one sequence and their values; the code and their number.");
    define(m, "price", price, {"tables", "sequence", "multipliers"},
           "Fill multipliers (M,), zeros, with those of the sums that lower the bound.");
    define(m, "reprice", price_in, {"tables", "sequence", "multipliers"},
           "A sequence with multipliers in it: edge scores, cost, last cost, owing, charged, emission and edges.");
    define(m, "value_states", value_one, {"tables", "sequence", "path"},
           "The score of a labelling without machines, its cost, and the machines that have a cost.");
    nb::class_<JointProduct>(m, "JointProduct", "A product of machines of one sequence, and its recursion.")
        .def(nb::init<const Instance&, View<const Int, 2>, ConstInts, ConstInts, View<Int, 2>, View<Int, 2>, Int, ConstInts,
                      Int, Int, bool>(),
             nb::arg("tables"), nb::arg("emission"), nb::arg("edges"), nb::arg("classes"), nb::arg("after"),
             nb::arg("tail"), nb::arg("total"), nb::arg("active"), nb::arg("most"), nb::arg("cells"), nb::arg("steps"),
             nb::call_guard<Unlocked>())
        .def_prop_ro("total", [](const JointProduct& one) { return one.product.completion.total; })
        .def_prop_ro("states", [](const JointProduct& one) { return one.product.joint.states(); })
        .def_prop_ro("inside", [](const JointProduct& one) -> nb::typed<nb::list, bool> {
            nb::list inside;
            for (bool each : one.product.inside) inside.append(each);
            return inside;
        });
    auto search = nb::class_<Search>(m, "Search", "Label setting of one sequence over the machines outside a product.")
        .def(nb::init<const Instance&, const Tokens&, JointProduct&, ConstInts, Int, Int, Int, bool, const Account&>(),
             nb::arg("tables"), nb::arg("sequence"), nb::arg("joint"), nb::arg("active"), nb::arg("floor"), nb::arg("width"),
             nb::arg("copies"), nb::arg("greedy"), nb::arg("account"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 10>())
        .def_prop_ro("words", [](const Search& one) { return one.p.words; })
        .def_prop_ro("made", [](const Search& one) { return one.p.made; })
        .def_prop_ro("cut", [](const Search& one) { return one.p.cut; });
    define(search, "advance", &Search::advance, {"work"});
    define(search, "children", &Search::children, {"t", "key", "reach"});
    define(search, "above", &Search::above, {"value"});
    search.def("labellings", &Search::labellings, "Reach, keys (n, W) and states (n, T) of the labellings that reach the floor.");
}

}  // namespace ilpinfer
