#include "bindings.hpp"
#include "decoding.hpp"
#include "records.hpp"

namespace ilpinfer {

template <>
struct Members<Batch> {
    using R = Batch;
    static constexpr auto value = std::tuple(&R::emission, &R::begins, &R::tokens, &R::rows, &R::pool);
};

namespace {

using Decode = void (*)(const Instance&, const Batch&, const Limits&, const Output&, int);

template <Decode decode>
void run(const Tables& tables, const Batch& batch, const Limits& limits, Int top, Ints buffer, int threads, Ints end)
{
    if (buffer.size() != Output::size(batch, tables.instance, top)) throw nb::type_error("the buffer has another length");
    const Output output(buffer, batch, tables.instance, top);
    unlocked([&] { decode(tables.instance, batch, limits, output, threads); }, end.data());
}

}  // namespace

void bind_decoding(nb::module_& m)
{
    nb::class_<Tables>(m, "Tables", "Windows, scores, machines and counts of one decoder; it keeps their arrays.")
        .def(nb::init<Kept<Windows>, Kept<Scores>, Kept<Machines>, Kept<Counts>>(), nb::arg("windows"), nb::arg("scores"),
             nb::arg("machines"), nb::arg("counts"))
        .def_ro("windows", &Tables::windows)
        .def_ro("scores", &Tables::scores)
        .def_ro("machines", &Tables::machines)
        .def_ro("counts", &Tables::counts);
    m.def("decode_best", run<decode_best>, nb::arg("tables"), nb::arg("batch"), nb::arg("limits"), nb::arg("top"),
          nb::arg("buffer"), nb::arg("threads"), nb::arg("end"),
          "Decode the sequences of a batch into a buffer of zeros, until another thread sets the only number of `end`.");
    m.def("decode_lists", run<decode_lists>, nb::arg("tables"), nb::arg("batch"), nb::arg("limits"), nb::arg("top"),
          nb::arg("buffer"), nb::arg("threads"), nb::arg("end"),
          "The best `top` labellings of sequences, as `decode_best` decodes them.");
    m.def(
        "classify",
        [](const Tables& tables, ConstInts tokens, View<Int, 2> classes) {
            return classify(tables.instance.windows, tokens, classes);
        },
        nb::arg("tables"), nb::arg("tokens"), nb::arg("classes"),
        "Fill classes (3, T) of distinct tokens (T,); the first token of an unknown class, or -1.");
}

}  // namespace ilpinfer
