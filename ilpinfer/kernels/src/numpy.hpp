// numpy arrays as views, named tuples as records, and arrays that kernels return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <string_view>

#include "instance.hpp"
#include "interrupts.hpp"

namespace nb = nanobind;

namespace ilpinfer {

// Records are aggregates but the one that is a class in Python. Some have the name of a named tuple there, see records.hpp.
template <typename T>
concept IsRecord = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_same_v<T, Instance>;

template <IsRecord Record>
inline constexpr auto name_of = nb::detail::const_name("tuple[typing.Any, ...]");

// The number of members of a record.
struct Anything {
    template <typename T>
    operator T() const;
};
template <IsRecord Record, typename... Known>
consteval std::size_t members()
{
    if constexpr (requires { Record{Known()..., Anything()}; })
        return members<Record, Known..., Anything>();
    else
        return sizeof...(Known);
}

// The name of a type in numpy, and its letters in the buffer protocol, of any size.
template <typename T>
constexpr auto numpy_name()
{
    using nb::detail::const_name;
    constexpr auto size = const_name<8 * sizeof(T)>();
    if constexpr (std::is_same_v<T, bool>)
        return const_name("bool_");
    else if constexpr (std::is_floating_point_v<T>)
        return const_name("float") + size;
    else if constexpr (std::is_signed_v<T>)
        return const_name("int") + size;
    else
        return const_name("uint") + size;
}
template <typename T>
constexpr std::string_view letters = std::is_same_v<T, bool>       ? "?"
                                     : std::is_floating_point_v<T> ? "fd"
                                     : std::is_signed_v<T>         ? "hilq"
                                                                   : "HILQ";

// A new numpy array with the memory of an array.
template <typename T, int D>
nb::typed<nb::object, View<T, D>> to_numpy(Array<T, D>&& array)
{
    auto* const kept = new Array<T, D>(std::move(array));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Array<T, D>*>(p); });
    size_t shape[D];
    for (int d = 0; d < D; ++d) shape[d] = static_cast<size_t>(kept->shape(d));
    return nb::ndarray<nb::numpy, T>(kept->data(), D, shape, owner).cast();
}

// Frees the interpreter's lock while a kernel runs, and checks for signals.
class Unlocked {
public:
    Unlocked() { watched = {&watch_, true}; }
    ~Unlocked() { watched = {}; }

private:
    static void look_for_signals()
    {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals()) throw nb::python_error();
    }

    const nb::gil_scoped_release release_;
    Watch watch_{look_for_signals};
};

// Bind a kernel, which runs without the interpreter's lock, with the names of its arguments; headers say what it does.
template <typename Target, typename Kernel, std::size_t N>
void define(Target& target, const char* name, Kernel&& kernel, const char* const (&names)[N])
{
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        target.def(name, std::forward<Kernel>(kernel), nb::arg(names[I])..., nb::call_guard<Unlocked>());
    }(std::make_index_sequence<N>());
}

}  // namespace ilpinfer

namespace nanobind::detail {

template <typename T, int D>
struct type_caster<ilpinfer::View<T, D>> {
    using Viewed = ilpinfer::View<T, D>;
    using Plain = std::remove_const_t<T>;
    NB_TYPE_CASTER(Viewed, const_name("numpy.typing.NDArray[numpy.") + ilpinfer::numpy_name<Plain>() + const_name("]"))

    // Arrays of this type and order alone; nothing is converted.
    bool from_python(handle source, uint32_t, cleanup_list*) noexcept
    {
        Py_buffer buffer;
        const int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (std::is_const_v<T> ? 0 : PyBUF_WRITABLE);
        if (PyObject_GetBuffer(source.ptr(), &buffer, flags) != 0) {
            PyErr_Clear();
            return false;
        }
        const char letter = buffer.format ? buffer.format[0] : 'B';
        const bool known = ilpinfer::letters<Plain>.find(letter) != std::string_view::npos;
        const bool fits = buffer.ndim == D && known && buffer.itemsize == sizeof(T);
        if (fits) {
            std::array<ilpinfer::Int, D> shape;
            for (int d = 0; d < D; ++d) shape[d] = buffer.shape[d];
            value = Value(static_cast<T*>(buffer.buf), shape);
        }
        PyBuffer_Release(&buffer);  // the caller keeps the array
        return fits;
    }
};

template <typename T, int D>
struct type_caster<ilpinfer::Array<T, D>> {
    static constexpr auto Name = make_caster<ilpinfer::View<T, D>>::Name;

    static handle from_cpp(ilpinfer::Array<T, D>&& array, rv_policy, cleanup_list*)
    {
        return ilpinfer::to_numpy(std::move(array)).release();
    }
};

template <ilpinfer::IsRecord Record>
struct type_caster<Record> {
    NB_TYPE_CASTER(Record, ilpinfer::name_of<Record>)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept
    {
        constexpr std::size_t size = ilpinfer::members<Record>();
        if (!PyTuple_Check(source.ptr()) || PyTuple_GET_SIZE(source.ptr()) != static_cast<Py_ssize_t>(size)) return false;
        bool fits = true;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            value = Record{Item{PyTuple_GET_ITEM(source.ptr(), I), flags, cleanup, fits}...};
        }(std::make_index_sequence<size>());
        return fits;
    }

private:
    // Converts to the type of the record's member.
    struct Item {
        handle source;
        uint32_t flags;
        cleanup_list* cleanup;
        bool& fits;

        template <typename T>
        operator T() const noexcept
        {
            make_caster<T> caster;
            if (fits && caster.from_python(source, flags, cleanup)) return caster.operator cast_t<T>();
            fits = false;
            return T();
        }
    };
};

}  // namespace nanobind::detail
