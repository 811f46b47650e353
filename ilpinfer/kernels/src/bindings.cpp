// What Python calls.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "agreement.hpp"
#include "decoding.hpp"
#include "discrepancy.hpp"
#include "evolution.hpp"
#include "level.hpp"
#include "marginals.hpp"
#include "ranking.hpp"
#include "records.hpp"
#include "single.hpp"
#include "snapping.hpp"

namespace ilpinfer {
namespace {

using Decode = void (*)(const Instance&, const Batch&, const Limits&, const Output&, int);

// Decode a batch into a buffer of zeros, until another thread sets the only number of `end`.
template <Decode decode>
void run(const Instance& tables, const Batch& batch, const Limits& limits, Int top, Ints buffer, int threads, Ints end)
{
    watched.watch->end_by(end.data());
    decode(tables, batch, limits, Output(buffer, batch, tables, top), threads);
}

// The best value without machines; fills completions and tails (T, W), and path (T,) unless the value is forbidden.
Int viterbi(const Scores& scores, View<const Int, 2> emission, ConstInts edges, View<Int, 2> after, View<Int, 2> tail,
            Ints path)
{
    const Single one({emission, edges, edges});
    Completion completion{after, tail, FORBIDDEN};
    complete(scores, one.sequence, completion);
    if (completion.total > DEAD) trace(scores, edges, completion, path);
    return completion.total;
}

// The best labelling of one sequence; a path (T,) of value result[VALUE] is known where that is not forbidden.
void solve_one(const Instance& tables, const Tokens& tokens, const Limits& limits, Ints path, Ints result,
               View<Int, 2> marks)
{
    const Single one(tokens);
    Workspace space(tables, one.sequence.size());
    solve({tables, one.sequence, limits, marks}, result[VALUE], path, space).write(result);
}

// The code of a list of the best labellings (top, T) of one sequence, and their number.
auto list_one(const Instance& tables, const Tokens& tokens, Int first_steps, Int most_steps, Int lowest,
              View<Int, 2> paths, Ints values, View<Int, 2> marks)
{
    const Single one(tokens);
    Workspace space(tables, one.sequence.size());
    const auto listed =
        list_best({tables, one.sequence, {}, marks}, first_steps, most_steps, lowest, paths, values, space);
    return std::tuple(Int{listed.code}, listed.number);
}

// Fill multipliers (M,), zeros, with those of the sums that lower the bound.
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

// A sequence with multipliers in it: edge scores, cost, last cost, owing, charged, emission and edges.
auto price_in(const Instance& tables, const Tokens& tokens, ConstInts multipliers)
{
    const Single one(tokens);
    auto r = reprice(tables, one.sequence, multipliers);
    const auto owing = r->instance.machines.owing;
    return std::tuple(std::move(r->edge), std::move(r->cost), std::move(r->last_cost),
                      Array<Small>::copy_of(owing, {owing.size()}), std::move(r->charged), std::move(r->emission),
                      std::move(r->edges));
}

// The score of a labelling without machines, its cost, and the machines that have a cost.
auto value_one(const Instance& tables, const Tokens& tokens, ConstInts path)
{
    const Single one(tokens);
    Active active(tables.machines.size());
    const auto [score, cost] = value_states(tables, one.sequence, path, active);
    return std::tuple(score, cost, active.list);
}

// The value of label ids (T,) of tokens with classes (3, T); fills parts (5,) and violations (R,).
Int value_labelling(const Instance& tables, View<const Int, 2> emission, View<const Int, 2> classes, ConstInts rows,
                    ConstInts pool, ConstInts path, Ints parts, Ints violations)
{
    Walk walk(tables.machines.size());
    const Sequence sequence{emission, rows, classes[NODES], classes[EDGES], classes[MACHINES]};
    return evaluate(tables, sequence, {pool, classes[EDGES]}, path, walk, false, parts, violations);
}

// A product of machines of one sequence, and its recursion.
struct JointProduct {
    JointProduct(const Instance& tables, const Tokens& tokens, View<Int, 2> after, View<Int, 2> tail, Int total,
                 ConstInts active, Int most, Int cells, bool steps, Int least)
    {
        const Single one(tokens);
        product = multiply_jointly(tables, one.sequence, {after, tail, total}, active, most, cells, steps, least);
    }

    auto completions() const
    {
        const auto& after = product.completion.after;
        return Array<Int, 2>::copy_of(after, {after.shape(0), after.shape(1)});
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

void bind_engine(nb::module_& m)
{
    nb::class_<Instance>(m, "Tables")
        .def(nb::init<Windows, Scores, Machines, Counts>(), nb::arg("windows"), nb::arg("scores"), nb::arg("machines"),
             nb::arg("counts"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
    define(m, "classify",
           [](const Instance& tables, ConstInts tokens, View<Int, 2> classes) {
               return classify(tables.windows, tokens, classes);
           },
           {"tables", "tokens", "classes"});
    define(m, "decode_best", run<decode_best>, {"tables", "batch", "limits", "top", "buffer", "threads", "end"});
    define(m, "decode_lists", run<decode_lists>, {"tables", "batch", "limits", "top", "buffer", "threads", "end"});
    define(m, "snap", snap<double>, {"nats", "rows", "most", "units"});
    define(m, "snap", snap<float>, {"nats", "rows", "most", "units"});
    define(m, "snap_softmax", snap_softmax<double>, {"nats", "rows", "most", "units"});
    define(m, "snap_softmax", snap_softmax<float>, {"nats", "rows", "most", "units"});
    define(m, "index_events", index_events, {"machines", "states", "labels"});
    define(m, "viterbi", viterbi, {"scores", "emission", "edges", "after", "tail", "path"});
    define(m, "prune", prune, {"scores", "emission", "edges", "after", "floor"});
    define(m, "solve", solve_one, {"tables", "sequence", "limits", "path", "result", "marks"});
    define(m, "list_best", list_one,
           {"tables", "sequence", "first_steps", "most_steps", "lowest", "paths", "values", "marks"});
    define(m, "price", price, {"tables", "sequence", "multipliers"});
    define(m, "reprice", price_in, {"tables", "sequence", "multipliers"});
    define(m, "value_states", value_one, {"tables", "sequence", "path"});
    define(m, "evaluate", value_labelling, {"tables", "emission", "classes", "rows", "pool", "path", "parts", "violations"});
    nb::class_<JointProduct>(m, "JointProduct")
        .def(nb::init<const Instance&, const Tokens&, View<Int, 2>, View<Int, 2>, Int, ConstInts, Int, Int, bool, Int>(),
             nb::arg("tables"), nb::arg("sequence"), nb::arg("after"), nb::arg("tail"), nb::arg("total"), nb::arg("active"),
             nb::arg("most"), nb::arg("cells"), nb::arg("steps"), nb::arg("least"), nb::call_guard<Unlocked>())
        .def_prop_ro("total", [](const JointProduct& one) { return one.product.completion.total; })
        .def_prop_ro("states", [](const JointProduct& one) { return one.product.joint.states(); })
        .def_prop_ro("inside", [](const JointProduct& one) { return one.product.inside; })
        .def("completions", &JointProduct::completions);
    auto search = nb::class_<Search>(m, "Search")
        .def(nb::init<const Instance&, const Tokens&, JointProduct&, ConstInts, Int, Int, Int, bool, const Account&>(),
             nb::arg("tables"), nb::arg("sequence"), nb::arg("joint"), nb::arg("active"), nb::arg("floor"), nb::arg("width"),
             nb::arg("copies"), nb::arg("greedy"), nb::arg("account"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 10>())
        .def_prop_ro("words", [](const Search& one) { return one.p.words; })
        .def_prop_ro("made", [](const Search& one) { return one.p.made; })
        .def_prop_ro("cut", [](const Search& one) { return one.p.cut; })
        .def("labellings", &Search::labellings);
    define(search, "advance", &Search::advance, {"work"});
    define(search, "children", &Search::children, {"t", "key", "reach"});
    define(search, "above", &Search::above, {"value"});
    define(m, "agree_forward", agreement::forward, {"scores", "lists", "moving"});
    define(m, "agree_backward", agreement::backward, {"scores", "lists", "moving"});
    define(m, "agree_best_kinds", agreement::best_kinds, {"lists", "kinds"});
    define(m, "agree_narrow", agreement::narrow, {"scores", "lists", "total", "floor"});
    define(m, "agree_best_path", agreement::best_path, {"scores", "path"});
}

void bind_sums(nb::module_& m)
{
    define(m, "expand", expand, {"rules", "size", "readings", "groups", "possible", "pool", "budget"});
    define(m, "expected_counts", expected_counts, {"rules", "rule", "readings", "product", "mass", "last", "expected"});
    define(m, "backward", backward, {"lattice", "tail"});
    define(m, "forward", forward, {"lattice", "tail", "shares"});
    define(m, "draw", draw, {"lattice", "tail", "uniform", "ids"});
}

void bind_searches(nb::module_& m)
{
    define(m, "first_final_cost", first_final_cost, {"rules", "memo"});
    define(m, "enter_rows", enter_rows<Small, Small>, {"slots", "rows", "first", "count"});
    define(m, "dive", [](const Dive& search, Int work) { return search.run(work); }, {"search", "work"});
    define(m, "value_individual",
           [](const Breeding& all, Int who, Int first, Int last) { return all.value(who, first, last); },
           {"breeding", "who", "first", "last"});
    define(m, "begin_population", [](const Breeding& all, Int count, Int mutations) { return all.begin(count, mutations); },
           {"breeding", "count", "mutations"});
    define(m, "evolve", evolve, {"breeding", "places", "weights", "records", "last"});
    define(m, "sample", sample, {"order", "n", "pressure", "seed", "chosen"});
    define(m, "cuts", cuts, {"y", "joins", "borders"});
    define(m, "put", put, {"y", "begin", "end", "k", "runs"});
    define(m, "shift_back", shift_back, {"y", "t", "runs"});
    define(m, "shift_on", shift_on, {"y", "t", "runs"});
    define(m, "mutate", mutate, {"y", "seed", "borders", "labels", "shift", "both", "runs"});
}

}  // namespace

void bind(nb::module_& m)
{
    const std::pair<const char*, Int> constants[] = {
        {"BITS", BITS},           {"FEWEST_JOINT", FEWEST_JOINT}, {"FIRST_STEP", FIRST_STEP}, {"MOST_CELLS", MOST_CELLS},
        {"MOST_JOINT", MOST_JOINT}, {"NO_LIMIT", NO_LIMIT},       {"VECTOR", VECTOR},         {"WIDEST", WIDEST},
        {"COARSE", COARSE},       {"LOST", LOST<Small>},          {"SHORT_LOST", LOST<Short>}};
    for (const auto& [name, value] : constants) m.attr(name) = value;
    m.def("level", level);
    bind_engine(m);
    bind_sums(m);
    bind_searches(m);
}

}  // namespace ilpinfer
