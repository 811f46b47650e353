#include "solving.hpp"

#include "ordering.hpp"
#include "ranking.hpp"

namespace ilpinfer {
namespace {

// The attempt before multipliers and products has min(max(steps of its tokens / FIRST_SHARE, FIRST_STEPS), most / LARGEST_SHARE) steps.
constexpr Int FIRST_SHARE = 160, FIRST_STEPS = 40'000, LARGEST_SHARE = 20;

Int count_sums(const Machines& machines, const std::vector<Int>& active)
{
    return std::count_if(active.begin(), active.end(), [&](Int m) { return machines.may_have_multiplier(m); });
}

// The scores, the machines in a product and those outside it, as one relaxation.
class Relaxed {
public:
    Relaxed(const Task& task, const Completion& bare)
        : task_(task), bare_(bare), none_(no_machines(task.sequence.size(), task.instance.scores.states()))
    {
    }

    Relaxation of(const std::vector<Int>& active)
    {
        const auto& [instance, sequence, limits, marks] = task_;
        const auto& scores = instance.scores;
        const ConstInts outside = view_of(active);
        if (!product_)
            return {scores, instance.machines, sequence.edges, sequence.classes, none_, outside,
                    bare_.after, bare_.tail, bare_.total};
        auto& completion = product_->completion;
        return {scores, instance.machines, sequence.edges, sequence.classes, product_->joint, outside,
                completion.after, completion.tail, completion.total};
    }

    // Multiply active machines up to `most` joint states, first those that were `INSIDE`, or those of the largest penalty if these are
    // worth more in all. Takes at most the time of `steps` steps of label setting. Returns a bound on the best value.
    //
    // Sums with multipliers stay outside, as proofs require, and machines that read the previous label unless one of them is of a
    // hard rule: label setting over it alone may have to go far below the bound. Bounds of values below `least` may be too high.
    Int multiply(Active& active, Int most, Int steps, Int least);

private:
    const Task& task_;
    const Completion& bare_;
    Joint none_;
    std::optional<Product> product_;
};

Int Relaxed::multiply(Active& active, Int most, Int steps, Int least)
{
    const auto& [instance, sequence, limits, marks] = task_;
    const auto& [windows, scores, machines, counts] = instance;
    const auto mask = marks[0];
    const Int T = sequence.size(), S = scores.states(), width = scores.width();
    std::vector<Int> every;
    for (Int m = 0; m < mask.size(); ++m)
        if (mask[m] == INSIDE) every.push_back(m);
    every.insert(every.end(), active.list.begin(), active.list.end());
    most = std::max<Int>(1, std::min({most, MOST_CELLS / (T * width), VECTOR * steps / (T * S * scores.edge.shape(2))}));
    const bool hard = std::any_of(every.begin(), every.end(), [&](Int m) {
        return machines.layout(m, STRIDE) > 0 && machines.penalty[m] == HARD;
    });
    auto others = every;
    Multiplied best;
    double worth = -1.0;
    for (int attempt = 0; attempt < (most == FEWEST_JOINT ? 2 : 1); ++attempt) {
        auto made = multiply_machines(machines, sequence.classes, S, view_of(others), marks[1], most, hard);
        double total = 0.0;
        for (std::size_t a = 0; a < others.size(); ++a)
            if (made.inside[a]) total += static_cast<double>(machines.penalty[others[a]]);
        if (total > worth) {
            best = std::move(made);
            every = others;
            worth = total;
        }
        std::stable_sort(others.begin(), others.end(),
                         [&](Int a, Int b) { return machines.penalty[a] > machines.penalty[b]; });
    }
    product_.emplace(Product{std::move(best.joint), {}, std::move(best.inside)});
    product_->completion = complete_jointly(scores, sequence, product_->joint, bare_, least);
    active.list.clear();
    for (std::size_t a = 0; a < every.size(); ++a) {
        mask[every[a]] = product_->inside[a] ? INSIDE : ACTIVE_MACHINE;
        if (!product_->inside[a]) active.list.push_back(every[a]);
    }
    return product_->completion.total;
}

// Relaxations of more and more machines, those in the list of active ones at first, until the best labelling breaks no other
// machine; at first within `work` steps, then, with products, within `last`.
void refine(const Task& task, const Completion& bare, Int work, Int last, Ints path, Solved& solved,
            Workspace& space)
{
    const auto& [instance, sequence, limits, marks] = task;
    auto& [value, bound, proved] = solved.best;
    auto& active = space.active;
    const auto trial = space.trial.slice(0, sequence.size());
    Relaxed relaxed(task, bare);
    Int most = FEWEST_JOINT;
    while (true) {
        const auto found = set_labels(relaxed.of(active.list), bound, value, work - solved.work, limits.slots,
                                      space.prefixes);
        bound = found.bound;
        solved.work += found.steps;
        if (found.code == Found::NONE || (found.code == Found::STOPPED && work >= last)) {
            solved.code = found.code == Found::NONE ? NO_LABELLING : TOO_MUCH_WORK;
            return;
        }
        if (found.code == Found::STOPPED) {
            bound = std::min(bound, relaxed.multiply(active, most, last - solved.work, value));
            work = most == MOST_JOINT ? last : solved.work + last / 4;
            most = MOST_JOINT;
            continue;
        }
        space.prefixes.spell(found.end, trial);
        const std::size_t before = active.list.size();
        const Int cost = active.charge(instance.scores, instance.machines, sequence.classes, trial, marks[0]);
        const bool done = active.list.size() == before;
        if (done || bound - cost > std::max(value, DEAD)) {
            value = bound - cost;
            path.copy(trial);
        }
        if (done) {
            solved.code = PROVED;
            return;
        }
    }
}

// Viterbi, and relaxations if its path breaks machines; a better labelling in `path` is kept. With `early`, and broken sums that may have
// multipliers, only few steps are taken: the more sums, the fewer steps.
void attempt(const Task& task, Completion& completion, Int first, Int last, bool early, Ints path, Solved& solved,
             Workspace& space)
{
    const auto& [instance, sequence, limits, marks] = task;
    auto& active = space.active;
    auto& best = solved.best;
    complete(instance.scores, sequence, completion);
    marks[0].fill(IDLE);
    active.list.clear();
    if (completion.total < DEAD) {
        solved.code = NO_PATH;
        best.bound = FORBIDDEN;
        completion.total = FORBIDDEN;
        return;
    }
    best.bound = std::min(best.bound, completion.total);
    const auto trial = space.trial.slice(0, sequence.size());
    trace(instance.scores, sequence.edges, completion, trial);
    const Int cost = active.charge(instance.scores, instance.machines, sequence.classes, trial, marks[0]);
    if (active.list.empty() || completion.total - cost > std::max(best.value, DEAD)) {
        best.value = completion.total - cost;
        path.copy(trial);
    }
    solved.code = PROVED;
    if (active.list.empty()) return;
    const Int sums = count_sums(instance.machines, active.list);
    if (early && sums) first = last = first / sums;
    refine(task, completion, first, last, path, solved, space);
}

// The K-th largest of values, `FORBIDDEN` if there are fewer.
Int least_of(ConstInts values, Int number, Int K)
{
    return number < K ? FORBIDDEN : values[descending(values.slice(0, number))[K - 1]];
}

// Activate machines that the labellings break; a lower bound on the last labelling.
Int charge_list(const Task& task, View<Int, 2> paths, ConstInts values, Int number, Active& active)
{
    const auto mask = task.marks[0];
    const std::size_t known = active.list.size();
    Array<Int> worth(number);
    std::vector<bool> broken(mask.size());
    for (Int k = 0; k < number; ++k) {
        const Int cost =
            active.charge(task.instance.scores, task.instance.machines, task.sequence.classes, paths[k], mask);
        worth[k] = cost >= HARD ? FORBIDDEN : values[k] - cost;
        for (std::size_t a = known; a < active.list.size(); ++a) {
            broken[active.list[a]] = true;
            mask[active.list[a]] = IDLE;
        }
        active.list.resize(known);
    }
    for (Int m = 0; m < mask.size(); ++m)
        if (broken[m]) {
            mask[m] = ACTIVE_MACHINE;
            active.list.push_back(m);
        }
    return least_of(worth, number, values.size());
}

struct Steps {
    Int first, most;
    Int lowest;  // value below which no labelling is wanted
};

// Relaxations of more and more machines, until the best few labellings break no other machine. With `early`, it ends after few
// steps where active sums may have multipliers. `least` is a lower bound on the last labelling of the list; a better one is returned.
Int relax_list(const Task& task, const Steps& steps, bool early, Int least, View<Int, 2> paths, Ints values,
               Listed& listed, Workspace& space)
{
    const auto& [instance, sequence, limits, marks] = task;
    auto& active = space.active;
    auto& graph = space.prefixes;
    const Int T = sequence.size(), top = values.size();
    auto bare = space.completion(T);
    marks[0].fill(IDLE);
    active.list.clear();
    complete(instance.scores, sequence, bare);
    if (bare.total < DEAD) {
        listed.code = NO_PATH;
        return least;
    }
    listed.code = TOO_MUCH_WORK;
    Relaxed relaxed(task, bare);
    Int bound = bare.total, few = listed.work + steps.first, most = FEWEST_JOINT, step = FIRST_STEP;
    Int floor = std::max(bound - step, least);
    while (true) {
        const bool done =
            build_graph(relaxed.of(active.list), floor, std::min(few, steps.most) - listed.work, graph);
        listed.work += graph.steps;
        if (!done) {
            if (few >= steps.most || (early && count_sums(instance.machines, active.list))) return least;
            bound = std::min(bound, relaxed.multiply(active, most, steps.most - listed.work, least));
            few = most == MOST_JOINT ? steps.most : listed.work + steps.most / 4;
            most = MOST_JOINT;
            floor = std::max(std::min(floor, bound - FIRST_STEP), least);
            continue;
        }
        const auto best = rank_values(graph, T, top);
        const Int number = static_cast<Int>(best.size()), last = number == top ? best[0] : DEAD;
        if (graph.cut > DEAD && last < floor && floor > steps.lowest) {
            step *= 2;
            floor = std::max({bound - step, last, least});
            continue;
        }
        if (number == 0) {
            listed.code = NO_LABELLING;
            return least;
        }
        list_paths(graph, best, paths, values);
        const std::size_t before = active.list.size();
        const Int worth = charge_list(task, paths, values, number, active);
        if (active.list.size() == before) {
            listed.code = PROVED;
            listed.number = number;
            return least;
        }
        least = std::max(least, worth);
        if (number == top) bound = last;
        step = FIRST_STEP;
        floor = number < top ? steps.lowest : std::max(bound - step, least);
    }
}

}  // namespace

Workspace::Workspace(const Instance& instance, Int longest)
    : active(instance.machines.size()), trial(longest), after({longest, instance.scores.width()}),
      tail({longest, instance.scores.width()})
{
}

void Solved::write(Ints result) const
{
    result[CODE] = code;
    result[VALUE] = best.value;
    result[BOUND] = best.bound;
    result[RELAXED] = relaxed;
    result[WORK] = work;
}

Solved solve(const Task& task, Int known, Ints path, Workspace& space)
{
    const Int T = task.sequence.size(), most = task.limits.of(T);
    const Int few = std::min(std::max(task.limits.token * T / FIRST_SHARE, FIRST_STEPS), most / LARGEST_SHARE);
    Solved solved;
    solved.best.value = known;
    auto completion = space.completion(T);
    task.marks[1].fill(0);
    attempt(task, completion, few, most, true, path, solved, space);
    solved.relaxed = completion.total;
    if (solved.code != TOO_MUCH_WORK || solved.work >= most) return solved;
    const auto repriced =
        tighten(task.instance, task.sequence, completion, space.active, solved.best, path, task.marks[0],
                task.marks[1], most - solved.work, true);
    if (solved.best.proved) {
        solved.code = PROVED;
        return solved;
    }
    const Task again{repriced ? repriced->instance : task.instance,
                     repriced ? repriced->sequence : task.sequence, task.limits, task.marks};
    attempt(again, completion, solved.work + few, most, false, path, solved, space);
    return solved;
}

Listed list_best(const Task& task, Int first_steps, Int most_steps, Int lowest, View<Int, 2> paths, Ints values,
                 Workspace& space)
{
    Listed listed;
    const Steps steps{first_steps, most_steps, lowest};
    const Int least = relax_list(task, steps, true, lowest, paths, values, listed, space);
    if (listed.code != TOO_MUCH_WORK || listed.work >= most_steps) return listed;
    auto completion = space.completion(task.sequence.size());
    complete(task.instance.scores, task.sequence, completion);
    Best best{.value = least > DEAD ? least : FORBIDDEN};
    const auto repriced =
        tighten(task.instance, task.sequence, completion, space.active, best,
                space.trial.slice(0, task.sequence.size()), task.marks[0], task.marks[1],
                most_steps - listed.work, false);
    const Task again{repriced ? repriced->instance : task.instance,
                     repriced ? repriced->sequence : task.sequence, task.limits, task.marks};
    relax_list(again, steps, false, least, paths, values, listed, space);
    return listed;
}

Product multiply_jointly(const Instance& instance, const Sequence& sequence, const Completion& bare,
                         ConstInts active, Int most, Int cells, bool steps, Int least)
{
    const Int T = sequence.size(), width = instance.scores.width();
    const auto copied = [](View<Int, 2> rows) { return Array<Int, 2>::copy_of(rows, {rows.shape(0), rows.shape(1)}); };
    if (active.empty())
        return {no_machines(T, instance.scores.states()), {copied(bare.after), copied(bare.tail), bare.total}, {}};
    const Array<Int> apart(instance.machines.size(), 0);
    auto made = multiply_machines(instance.machines, sequence.classes, instance.scores.states(), active, apart,
                                  std::max<Int>(1, std::min(most, cells / (T * width))), steps);
    Product product{std::move(made.joint), {}, std::move(made.inside)};
    product.completion = complete_jointly(instance.scores, sequence, product.joint, bare, least);
    return product;
}

}  // namespace ilpinfer
