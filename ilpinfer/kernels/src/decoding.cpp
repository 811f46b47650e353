#include "decoding.hpp"

#include <atomic>
#include <exception>
#include <future>
#include <stdexcept>
#include <system_error>

#include "interrupts.hpp"
#include "ordering.hpp"

namespace ilpinfer {
namespace {

constexpr Int LIST_SHARE = 64;             // the attempt before machines are multiplied has 1 / LIST_SHARE of the steps
constexpr Int MOST_LISTED = Int{1} << 24;  // labels of all labellings of a list together
enum ListResult { NUMBER = 1, LIST_WORK = 2 };

// One thread's work on a batch.
class Worker {
public:
    Worker(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output, Int longest)
        : instance_(instance), batch_(batch), limits_(limits), output_(output), space_(instance, longest),
          classes_({4, longest}), walk_(instance.machines.size())
    {
    }

    // Decode a sequence by `search`, which fills paths and its results, and says how many labellings there are.
    template <typename Search>
    void decode(Int n, Search&& search)
    {
        const auto result = output_.results[n];
        if (!read(n)) {
            result[CODE] = UNKNOWN_CLASS;
            return;
        }
        const auto marks = output_.marks[n];
        const auto paths = output_.paths_of(batch_, n);
        const Int number = search(Task{instance_, sequence_, limits_, marks}, paths, output_.values[n], result, space_);
        result[ACTIVE] = count_nonzero(marks[0]);
        result[MULTIPLIERS] = count_nonzero(marks[1]);
        for (Int k = 0; result[CODE] == PROVED && k < number; ++k)
            if (!is_right(n, k, paths[k])) result[CODE] = WRONG_VALUE;
    }

private:
    // Read a sequence; false where a token has an unknown class.
    bool read(Int n)
    {
        const Int first = batch_.begins[n], last = batch_.begins[n + 1], T = last - first;
        const View<Int, 2> classes(classes_.data(), {4, T});
        if (classify(instance_.windows, batch_.tokens.slice(first, last), classes) >= 0) return false;
        steps_ = {batch_.pool.empty() ? batch_.pool : batch_.pool.slice(first, last), classes[EDGES]};
        const auto edges = classes[3];
        edges[0] = 0;
        for (Int t = 1; t < T; ++t) edges[t] = instance_.scores.which(steps_.entry(t), steps_.classes[t]);
        sequence_ = {batch_.emission, batch_.rows.slice(first, last), classes[NODES], edges, classes[MACHINES]};
        return true;
    }

    // Whether the value of a labelling equals that of its parts, which are filled, and its violations. If no machine is active, and no
    // sum has a multiplier, all machines were read and have no cost. Tables without counts have no parts and no violations.
    bool is_right(Int n, Int k, ConstInts path)
    {
        if (instance_.counts.node_begin.empty()) return true;
        const auto result = output_.results[n];
        const bool silent = result[ACTIVE] == 0 && result[MULTIPLIERS] == 0;
        return evaluate(instance_, sequence_, steps_, path, walk_, silent, output_.parts[n][k],
                        output_.violations[n][k]) == output_.values(n, k);
    }

    const Instance& instance_;
    const Batch& batch_;
    const Limits& limits_;
    const Output& output_;
    Workspace space_;
    Sequence sequence_;
    ModelSteps steps_;
    Array<Int, 2> classes_;
    Walk walk_;
};

Int find_best(const Task& task, View<Int, 2> paths, Ints values, Ints result, Workspace& space)
{
    const auto solved = solve(task, FORBIDDEN, paths[0], space);
    solved.write(result);
    if (solved.best.value < DEAD) {
        result[VALUE] = FORBIDDEN;
        paths.fill(-1);
    }
    values[0] = result[VALUE];
    return 1;
}

Int find_list(const Task& task, View<Int, 2> paths, Ints values, Ints result, Workspace& space)
{
    const Int most = task.limits.of(task.sequence.size());
    Listed listed;
    if (paths.count() <= MOST_LISTED) listed = list_best(task, most / LIST_SHARE, most, DEAD, paths, values, space);
    result[CODE] = listed.code;
    result[NUMBER] = listed.number;
    result[LIST_WORK] = listed.work;
    return listed.number;
}

// Run all sequences in some threads; the first error ends all threads.
template <typename Search>
void in_threads(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output, int threads,
                Search&& search)
{
    const Int last = batch.size();
    Int longest = 0;
    for (Int n = 0; n < last; ++n) longest = std::max(longest, batch.begins[n + 1] - batch.begins[n]);
    std::atomic<Int> next{0};
    const auto run = [&] {
        Worker worker(instance, batch, limits, output, longest);
        for (Int n = next++; n < last; n = next++) {
            look_for_interrupts();
            worker.decode(n, search);
        }
    };
    if (threads <= 1) {
        run();
        return;
    }
    Watch* const watch = watched.watch;
    const auto guarded = [&](auto&& part) {
        try {
            part();
        } catch (...) {
            next = last;
            watch->stop();
            throw;
        }
    };
    // Other threads do not check for signals.
    const auto another = [&] {
        watched = {watch, false};
        guarded(run);
    };
    std::vector<std::future<void>> others;
    const auto run_all = [&] {
        others.reserve(threads - 1);
        try {
            for (int k = 1; k < threads; ++k) others.push_back(std::async(std::launch::async, another));
        } catch (const std::system_error&) {
            // The system has no more threads; the existing ones do the work.
        }
        run();
        for (const auto& each : others)
            while (each.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) look_for_interrupts();
    };
    std::exception_ptr error, interrupted;
    const auto keep_error = [&](auto&& part) {
        try {
            part();
        } catch (const Interrupted&) {
            interrupted = std::current_exception();
        } catch (...) {
            if (!error) error = std::current_exception();
        }
    };
    keep_error([&] { guarded(run_all); });
    for (auto& each : others) keep_error([&] { each.get(); });
    if (error || interrupted) std::rethrow_exception(error ? error : interrupted);
}

}  // namespace

Output::Output(Ints buffer, const Batch& batch, const Instance& instance, Int top) : top(top)
{
    const Int N = batch.size(), M = instance.machines.size(), R = instance.counts.rules.size();
    Int at = 0;
    const auto take = [&](Int size) {
        at += size;
        return Ints(buffer.data() + at - size, {size});
    };
    paths = take(batch.begins[N] * top);
    values = take(N * top).reshaped<2>({N, top});
    results = take(N * RESULTS).reshaped<2>({N, RESULTS});
    parts = take(N * top * PARTS).reshaped<3>({N, top, PARTS});
    marks = take(N * 2 * M).reshaped<3>({N, 2, M});
    violations = take(N * top * R).reshaped<3>({N, top, R});
    if (at != buffer.size()) throw std::length_error("the buffer has another length");
}

View<Int, 2> Output::paths_of(const Batch& batch, Int n) const
{
    const Int first = batch.begins[n], last = batch.begins[n + 1];
    return paths.slice(first * top, last * top).reshaped<2>({top, last - first});
}

Int classify(const Windows& windows, ConstInts tokens, View<Int, 2> classes)
{
    const auto& [numbers, starts, shape, known] = windows;
    const Int T = tokens.size();
    Int unknown = T;
    for (int purpose = 0; purpose < 3; ++purpose) {
        const Int start = starts[purpose], befores = shape(purpose, 0);
        const Int owns = shape(purpose, 1), nexts = shape(purpose, 2);
        Int before = 0, token = tokens[0];
        for (Int t = 0; t < T; ++t) {
            const Int following = t < T - 1 ? tokens[t + 1] : -1;
            const Int own = numbers(token, purpose, 1), after = following >= 0 ? numbers(following, purpose, 2) : 0;
            const bool inside = before < befores && own < owns && after < nexts;
            const Int c = inside ? known[start + (before * owns + own) * nexts + after] : -1;
            classes(purpose, t) = c;
            if (c < 0) unknown = std::min(unknown, t);
            before = numbers(token, purpose, 0);
            token = following;
        }
    }
    return unknown < T ? unknown : -1;
}

void decode_best(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output, int threads)
{
    in_threads(instance, batch, limits, output, threads, find_best);
}

void decode_lists(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output, int threads)
{
    in_threads(instance, batch, limits, output, threads, find_list);
}

}  // namespace ilpinfer
