#include "bindings.hpp"
#include "ranking.hpp"
#include "records.hpp"
#include "single.hpp"

namespace ilpinfer {
namespace {

Int viterbi(const Scores& scores, View<const Int, 2> emission, ConstInts edges, View<Int, 2> after, View<Int, 2> tail,
            Ints path)
{
    const Single one(emission, edges, edges);
    Completion completion{after, tail, FORBIDDEN};
    unlocked([&] {
        complete(scores, one.sequence, completion);
        if (completion.total > DEAD) trace(scores, edges, completion, path);
    });
    return completion.total;
}

void solve_one(const Tables& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes,
               const Limits& limits, Ints path, Ints result, View<Int, 2> marks)
{
    const Single one(emission, edges, classes);
    unlocked([&] {
        Workspace space(tables.instance, emission.size());
        const auto solved = solve({tables.instance, one.sequence, limits, marks}, result[VALUE], path, space);
        result[CODE] = solved.code;
        result[VALUE] = solved.best.value;
        result[BOUND] = solved.best.bound;
        result[RELAXED] = solved.relaxed;
        result[WORK] = solved.work;
    });
}

auto list_one(const Tables& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes,
              Int first_steps, Int most_steps, Int lowest, View<Int, 2> paths, Ints values, View<Int, 2> marks)
{
    const Single one(emission, edges, classes);
    const auto listed = unlocked([&] {
        Workspace space(tables.instance, emission.size());
        return list_best({tables.instance, one.sequence, {0, 0, 0}, marks}, first_steps, most_steps, lowest, paths,
                         values, space);
    });
    return to_tuple(static_cast<Int>(listed.code), listed.number);
}

void price(const Tables& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes, Ints multipliers)
{
    const Single one(emission, edges, classes);
    const auto& instance = tables.instance;
    unlocked([&] {
        Workspace space(instance, emission.size());
        auto completion = space.completion(emission.size());
        complete(instance.scores, one.sequence, completion);
        if (completion.total <= DEAD) return;
        Best best;
        Array<Int> marks(instance.machines.size()), path(emission.size());
        tighten(instance, one.sequence, completion, space.active, best, path, marks, multipliers, NO_LIMIT, false);
    });
}

// Edge scores, costs, last costs, machines with a last cost at the start, machines with a multiplier, and emission and rows of edge
// scores of a sequence with multipliers in it.
auto repriced(const Tables& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes,
              ConstInts multipliers)
{
    const Single one(emission, edges, classes);
    auto r = unlocked([&] { return reprice(tables.instance, one.sequence, multipliers); });
    const auto owing = r->instance.machines.owing;
    return to_tuple(to_numpy(std::move(r->edge)), to_numpy(std::move(r->cost)), to_numpy(std::move(r->last_cost)),
                    to_numpy(Array<Small>::copy_of(owing, {owing.size()})), to_numpy(std::move(r->charged)),
                    to_numpy(std::move(r->emission)), to_numpy(std::move(r->edges)));
}

auto value_one(const Tables& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes,
               ConstInts path)
{
    const Single one(emission, edges, classes);
    Active active(tables.instance.machines.size());
    const auto [score, cost] = value_states(tables.instance, one.sequence, path, active);
    nb::typed<nb::list, Int> broken{nb::list()};
    for (Int m : active.list) broken.append(m);
    return to_tuple(score, cost, broken);
}

// A product of machines of one sequence, and its recursion.
struct JointProduct {
    JointProduct(const Tables& tables, View<const Int, 2> emission, ConstInts edges, ConstInts classes,
                 View<Int, 2> after, View<Int, 2> tail, Int total, ConstInts active, Int most, Int cells, bool steps)
    {
        const Single one(emission, edges, classes);
        const Completion bare{after, tail, total};
        product = unlocked(
            [&] { return multiply_jointly(tables.instance, one.sequence, bare, active, most, cells, steps); });
    }

    Product product;
};

// Label setting of one sequence over the machines outside a product, as far as it has gone.
class Search {
public:
    Search(const Tables& tables, ConstInts edges, ConstInts classes, JointProduct& joint, ConstInts active, Int floor,
           Int width, Int copies, bool greedy, Int budget, ConstInts cost, ConstInts last_cost, ConstInts inside)
        : edges_(Array<Int>::copy_of(edges, {edges.size()})), classes_(Array<Int>::copy_of(classes, {classes.size()})),
          active_(Array<Int>::copy_of(active, {active.size()})), inside_(Array<Int>::copy_of(inside, {inside.size()})),
          search_({tables.instance.scores, tables.instance.machines, edges_, classes_, joint.product.joint, active_,
                   joint.product.completion.after, joint.product.completion.tail, joint.product.completion.total},
                  budget >= 0),
          options_{.floor = floor, .work = 0, .greedy = greedy, .copies = copies, .width = width, .budget = budget,
                   .cost = cost, .last_cost = last_cost, .inside = inside_}
    {
        p.start(edges.size(), search_.relaxation.total, search_.places.words);
        if (search_.events.steps()) search_.events.keep();
    }

    // Extend prefixes by some more steps; whether all are labellings.
    bool advance(Int work)
    {
        options_.work = p.steps + work;
        return unlocked([&] { return search_.extend(options_, p); });
    }

    // The values of labellings, those of an account of costs, and the labellings (n, T), of those that reach the floor.
    auto labellings() const
    {
        const Int T = edges_.size();
        std::vector<Int> ends;
        for (Int h = p.level[T]; h < p.made; ++h)
            if (p.reach[h] >= options_.floor) ends.push_back(h);
        const Int n = static_cast<Int>(ends.size());
        Array<Int> values(n), costs(n);
        Array<Int, 2> paths({n, T});
        for (Int k = 0; k < n; ++k) {
            values[k] = p.reach[ends[k]];
            costs[k] = options_.budget >= 0 ? p.key[(ends[k] + 1) * p.words - 1] : 0;
            p.spell(ends[k], paths[k]);
        }
        return to_tuple(to_numpy(std::move(values)), to_numpy(std::move(costs)), to_numpy(std::move(paths)));
    }

    // The prefixes that are one token longer than one of t tokens, by label ids: their states, keys (n, W) and reach.
    auto children(Int t, ConstInts key, Int reach)
    {
        options_.work = NO_LIMIT;
        p.start(edges_.size(), reach, search_.places.words);
        std::copy_n(key.begin(), p.words, p.key.begin());
        p.token = t;
        p.level[t + 1] = 1;
        unlocked([&] { return search_.extend_token(options_, p); });
        const auto reaches = [&](Int h) { return p.reach[h] >= options_.floor; };
        std::vector<Int> places;
        for (Int h = 1; h < p.made; ++h)
            if (reaches(h)) places.push_back(h);
        const Int n = static_cast<Int>(places.size());
        Array<Int> states(n), reach_of(n);
        Array<Int, 2> keys({n, p.words});
        for (Int k = 0; k < n; ++k) {
            states[k] = p.state[places[k]];
            reach_of[k] = p.reach[places[k]];
            keys[k].copy(p.keys()[places[k]]);
        }
        p.finish();
        return to_tuple(to_numpy(std::move(states)), to_numpy(std::move(keys)), to_numpy(std::move(reach_of)));
    }

    // By token, the number of prefixes above a value.
    nb::typed<nb::list, Int> above(Int value) const
    {
        nb::list counts;
        for (Int t = 0; t <= edges_.size(); ++t)
            counts.append(std::count_if(p.reach.begin() + p.level[t], p.reach.begin() + p.level[t + 1],
                                        [&](Int reach) { return reach > value; }));
        return counts;
    }

    Prefixes p;

private:
    Array<Int> edges_, classes_, active_, inside_;
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
    m.def("viterbi", viterbi, nb::arg("scores"), nb::arg("emission"), nb::arg("edges"), nb::arg("after"), nb::arg("tail"),
          nb::arg("path"),
          "Viterbi without machines: the best value; fills completions and tails (T, W), and path (T,) unless the value is "
          "forbidden.");
    m.def(
        "prune",
        [](const Scores& scores, View<Int, 2> emission, ConstInts edges, View<const Int, 2> after, Int floor) {
            return unlocked([&] { return prune(scores, emission, edges, after, floor); });
        },
        nb::arg("scores"), nb::arg("emission"), nb::arg("edges"), nb::arg("after"), nb::arg("floor"),
        "Forbid the states (T, S) through which no labelling reaches the floor by its scores; the number that is left.");
    m.def("solve", solve_one, nb::arg("tables"), nb::arg("emission"), nb::arg("edges"), nb::arg("classes"), nb::arg("limits"),
          nb::arg("path"), nb::arg("result"), nb::arg("marks"),
          "The best labelling of one sequence; a path (T,) of value result[VALUE] is known where that is not forbidden.");
    m.def("list_best", list_one, nb::arg("tables"), nb::arg("emission"), nb::arg("edges"), nb::arg("classes"),
          nb::arg("first_steps"), nb::arg("most_steps"), nb::arg("lowest"), nb::arg("paths"), nb::arg("values"),
          nb::arg("marks"), "The best labellings (top, T) of one sequence and their values; the code and their number.");
    m.def("price", price, nb::arg("tables"), nb::arg("emission"), nb::arg("edges"), nb::arg("classes"), nb::arg("multipliers"),
          "Fill multipliers (M,), zeros, with those of the sums that lower the bound.");
    m.def("reprice", repriced, nb::arg("tables"), nb::arg("emission"), nb::arg("edges"), nb::arg("classes"),
          nb::arg("multipliers"),
          "A sequence with multipliers in it: edge scores, cost, last cost, owing, charged, emission and edges.");
    m.def("value_states", value_one, nb::arg("tables"), nb::arg("emission"), nb::arg("edges"), nb::arg("classes"),
          nb::arg("path"), "The score of a labelling without machines, its cost, and the machines that have a cost.");
    nb::class_<JointProduct>(m, "JointProduct", "A product of machines of one sequence, and its recursion.")
        .def(nb::init<const Tables&, View<const Int, 2>, ConstInts, ConstInts, View<Int, 2>, View<Int, 2>, Int, ConstInts,
                      Int, Int, bool>(),
             nb::arg("tables"), nb::arg("emission"), nb::arg("edges"), nb::arg("classes"), nb::arg("after"),
             nb::arg("tail"), nb::arg("total"), nb::arg("active"), nb::arg("most"), nb::arg("cells"), nb::arg("steps"))
        .def_prop_ro("total", [](const JointProduct& one) { return one.product.completion.total; })
        .def_prop_ro("states", [](const JointProduct& one) { return one.product.joint.states(); })
        .def_prop_ro("inside", [](const JointProduct& one) -> nb::typed<nb::list, bool> {
            nb::list inside;
            for (bool each : one.product.inside) inside.append(each);
            return inside;
        });
    nb::class_<Search>(m, "Search", "Label setting of one sequence over the machines outside a product.")
        .def(nb::init<const Tables&, ConstInts, ConstInts, JointProduct&, ConstInts, Int, Int, Int, bool, Int,
                      ConstInts, ConstInts, ConstInts>(),
             nb::arg("tables"), nb::arg("edges"), nb::arg("classes"), nb::arg("joint"), nb::arg("active"), nb::arg("floor"),
             nb::arg("width"), nb::arg("copies"), nb::arg("greedy"), nb::arg("budget"), nb::arg("cost"),
             nb::arg("last_cost"), nb::arg("inside"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 12>(),
             nb::keep_alive<1, 13>())
        .def("advance", &Search::advance, nb::arg("work"))
        .def("children", &Search::children, nb::arg("t"), nb::arg("key"), nb::arg("reach"))
        .def("labellings", &Search::labellings)
        .def("above", &Search::above, nb::arg("value"))
        .def_prop_ro("words", [](const Search& one) { return one.p.words; })
        .def_prop_ro("made", [](const Search& one) { return one.p.made; })
        .def_prop_ro("cut", [](const Search& one) { return one.p.cut; });
}

}  // namespace ilpinfer
