#include "decoding.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

constexpr Int LIST_SHARE = 64;             // the attempt before machines are multiplied has 1 / LIST_SHARE of the steps
constexpr Int MOST_LISTED = Int{1} << 24;  // labels of all labellings of a list together
enum ListResult { NUMBER = 1, LIST_WORK = 2 };

// A sequence of a batch, and room for its classes.
class Reader {
public:
    Reader(const Instance& instance, const Batch& batch, Int longest)
        : instance_(instance), batch_(batch), classes_({4, longest})
    {
    }

    // Read a sequence; false where a token has an unknown class.
    bool read(Int n)
    {
        first_ = batch_.begins[n];
        const Int T = batch_.begins[n + 1] - first_;
        const View<Int, 2> classes(classes_.data(), {4, T});
        if (classify(instance_.windows, batch_.tokens.slice(first_, first_ + T), classes) >= 0) return false;
        pool = batch_.pool.empty() ? batch_.pool : batch_.pool.slice(first_, first_ + T);
        edge_classes = classes[EDGES];
        const auto edges = classes[3];
        edges[0] = 0;
        for (Int t = 1; t < T; ++t) edges[t] = instance_.scores.which(pool.empty() ? 0 : pool[t], edge_classes[t]);
        sequence = {batch_.emission, batch_.rows.slice(first_, first_ + T), classes[NODES], edges, classes[MACHINES]};
        return true;
    }

    Sequence sequence;
    ConstInts edge_classes, pool;

private:
    const Instance& instance_;
    const Batch& batch_;
    Array<Int, 2> classes_;
    Int first_ = 0;
};

// Fill the numbers of active machines and of sums with multipliers.
void count_marks(View<Int, 2> marks, Ints result)
{
    const auto nonzero = [](Ints values) {
        return std::count_if(values.begin(), values.end(), [](Int value) { return value != 0; });
    };
    result[ACTIVE] = nonzero(marks[0]);
    result[MULTIPLIERS] = nonzero(marks[1]);
}

// One thread's work on a batch.
class Worker {
public:
    Worker(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output, Int longest)
        : instance_(instance), batch_(batch), limits_(limits), output_(output), space_(instance, longest),
          reader_(instance, batch, longest), walk_(instance.machines.size())
    {
    }

    void best(Int n)
    {
        const auto result = output_.results[n];
        const auto path = output_.paths_of(batch_, n)[0];
        if (!reader_.read(n)) {
            result[CODE] = UNKNOWN_CLASS;
            return;
        }
        const auto marks = output_.marks[n];
        const auto solved = solve({instance_, reader_.sequence, limits_, marks}, FORBIDDEN, path, space_);
        const bool found = solved.best.value >= DEAD;
        solved.write(result);
        if (!found) {
            result[VALUE] = FORBIDDEN;
            path.fill(-1);
        }
        output_.values(n, 0) = result[VALUE];
        count_marks(marks, result);
        if (solved.code == PROVED && !is_right(n, 0, path)) result[CODE] = WRONG_VALUE;
    }

    void list(Int n)
    {
        const auto result = output_.results[n];
        if (!reader_.read(n)) {
            result[CODE] = UNKNOWN_CLASS;
            return;
        }
        const Int T = reader_.sequence.size(), top = output_.top, most = limits_.of(T);
        const auto marks = output_.marks[n];
        const auto paths = output_.paths_of(batch_, n);
        Listed listed;
        if (T * top <= MOST_LISTED)
            listed = list_best({instance_, reader_.sequence, limits_, marks}, most / LIST_SHARE, most, DEAD, paths,
                               output_.values[n], space_);
        result[CODE] = listed.code;
        result[NUMBER] = listed.number;
        result[LIST_WORK] = listed.work;
        count_marks(marks, result);
        for (Int k = 0; listed.code == PROVED && k < listed.number; ++k)
            if (!is_right(n, k, paths[k])) result[CODE] = WRONG_VALUE;
    }

private:
    // Whether the value of a labelling is that of its parts, which are filled, and its violations. Where no machine is active, and no
    // sum has a multiplier, machines were asked and have no cost. Tables without counts have neither.
    bool is_right(Int n, Int k, ConstInts path)
    {
        if (instance_.counts.node_begin.empty()) return true;
        const auto result = output_.results[n];
        const bool silent = result[ACTIVE] == 0 && result[MULTIPLIERS] == 0;
        return evaluate(instance_, reader_.sequence, reader_.edge_classes, reader_.pool, path, walk_, silent,
                        output_.parts[n][k], output_.violations[n][k]) == output_.values(n, k);
    }

    const Instance& instance_;
    const Batch& batch_;
    const Limits& limits_;
    const Output& output_;
    Workspace space_;
    Reader reader_;
    Walk walk_;
};

// Threads that end before their scope does; not every standard library has std::jthread.
struct Joined {
    std::vector<std::thread> threads;
    ~Joined()
    {
        for (std::thread& each : threads) each.join();
    }
};

// Run all sequences in some threads; the first error of any ends all of them.
template <typename Work>
void in_threads(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output,
                int threads, Work&& work)
{
    const Int last = batch.size();
    Int longest = 0;
    for (Int n = 0; n < last; ++n) longest = std::max(longest, batch.begins[n + 1] - batch.begins[n]);
    std::atomic<Int> next{0};
    const auto run = [&] {
        Worker worker(instance, batch, limits, output, longest);
        for (Int n = next++; n < last; n = next++) {
            look_for_interrupts();
            work(worker, n);
        }
    };
    if (threads <= 1) {
        run();
        return;
    }
    std::exception_ptr error, interrupted;
    std::mutex lock;
    std::condition_variable ended;
    int others = 0;
    const Watched own = watched;
    const auto guarded = [&](bool own_thread, auto&& part) {
        watched = {own.watch, own_thread};
        try {
            part();
        } catch (const Interrupted&) {
            const std::lock_guard held(lock);
            interrupted = std::current_exception();
        } catch (...) {
            const std::lock_guard held(lock);
            if (!error) error = std::current_exception();
            next = last;
            own.watch->stop();
        }
    };
    const auto another = [&] {
        guarded(false, run);
        const std::lock_guard held(lock);
        --others;
        ended.notify_one();
    };
    const auto start = [&](Joined& joined) {
        for (int k = 1; k < threads; ++k) {
            const std::lock_guard held(lock);
            try {
                joined.threads.emplace_back(another);
            } catch (const std::system_error&) {
                return;  // the system has no more threads; those that there are do the work
            }
            ++others;
        }
    };
    // Other threads do not look for signals.
    const auto wait = [&] {
        for (std::unique_lock held(lock); others; ended.wait_for(held, std::chrono::milliseconds(10)))
            look_for_interrupts();
    };
    {
        Joined joined;
        guarded(true, [&] {
            start(joined);
            run();
            wait();
        });
    }
    watched = own;
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

void decode_best(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output,
                 int threads)
{
    in_threads(instance, batch, limits, output, threads, [](Worker& worker, Int n) { worker.best(n); });
}

void decode_lists(const Instance& instance, const Batch& batch, const Limits& limits, const Output& output,
                  int threads)
{
    in_threads(instance, batch, limits, output, threads, [](Worker& worker, Int n) { worker.list(n); });
}

}  // namespace ilpinfer
