#include "bindings.hpp"
#include "decoding.hpp"
#include "records.hpp"
#include "snapping.hpp"

namespace ilpinfer {

template <>
struct Members<Batch> {};

namespace {

using Decode = void (*)(const Instance&, const Batch&, const Limits&, const Output&, int);

template <Decode decode>
void run(const Instance& tables, const Batch& batch, const Limits& limits, Int top, Ints buffer, int threads, Ints end)
{
    watched.watch->end_by(end.data());
    decode(tables, batch, limits, Output(buffer, batch, tables, top), threads);
}

}  // namespace

void bind_decoding(nb::module_& m)
{
    nb::class_<Instance>(m, "Tables", "Windows, scores, machines and counts of one decoder; it keeps their arrays.")
        .def(nb::init<Windows, Scores, Machines, Counts>(), nb::arg("windows"), nb::arg("scores"), nb::arg("machines"),
             nb::arg("counts"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
    define(m, "decode_best", run<decode_best>, {"tables", "batch", "limits", "top", "buffer", "threads", "end"},
           "Decode the sequences of a batch into a buffer of zeros, until another thread sets the only number of `end`.");
    define(m, "decode_lists", run<decode_lists>, {"tables", "batch", "limits", "top", "buffer", "threads", "end"},
           "The best `top` labellings of sequences, as `decode_best` decodes them.");
    define(m, "snap", snap<double>, {"nats", "rows", "most", "units"},
           "Fill units (R, K) with rows of nats (N, K); the largest size, NaN where one is NaN or at least `most`.");
    define(m, "snap", snap<float>, {"nats", "rows", "most", "units"});
    define(m, "snap_softmax", snap_softmax<double>, {"nats", "rows", "most", "units"},
           "As `snap`, of the logarithms of the softmax of each row; the size of each number of nats counts, too.");
    define(m, "snap_softmax", snap_softmax<float>, {"nats", "rows", "most", "units"});
    define(m, "classify",
           [](const Instance& tables, ConstInts tokens, View<Int, 2> classes) {
               return classify(tables.windows, tokens, classes);
           },
           {"tables", "tokens", "classes"}, "Fill classes (3, T) of distinct tokens (T,); the first token of an unknown class, or -1.");
}

}  // namespace ilpinfer
