#include <nanobind/nanobind.h>

namespace ilpinfer {

void bind(nanobind::module_& m);

}  // namespace ilpinfer

NB_MODULE(ILPINFER_MODULE, m)
{
    m.doc() = "Kernels of ilpinfer.";
    nanobind::set_leak_warnings(false);  // modules that keep functions until the interpreter ends are no leak
    ilpinfer::bind(m);
}
