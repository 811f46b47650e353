#include "bindings.hpp"
#include "level.hpp"

NB_MODULE(ILPINFER_MODULE, m)
{
    m.doc() = "Kernels of ilpinfer.";
    nanobind::set_leak_warnings(false);  // modules that keep functions until the interpreter ends are no leak
    m.def("level", ilpinfer::level, "The level of x86-64 that the processor supports, 2 or 3.");
    ilpinfer::bind_decoding(m);
    ilpinfer::bind_relaxations(m);
    ilpinfer::bind_marginals(m);
    ilpinfer::bind_searches(m);
    ilpinfer::bind_lists(m);
    ilpinfer::bind_parts(m);
}
