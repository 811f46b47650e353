// numpy arrays as views, named tuples as records, and arrays that kernels return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tuple>

#include "interrupts.hpp"
#include "view.hpp"

namespace nb = nanobind;

namespace ilpinfer {

// The members of a record, in the order of the named tuple in Python, and its name there, if it has one.
template <typename Record>
struct Members;

template <typename Record>
concept IsRecord = requires { Members<Record>::value; };

template <IsRecord Record>
constexpr auto name_of()
{
    if constexpr (requires { Members<Record>::name; })
        return Members<Record>::name;
    else
        return nb::detail::const_name("tuple[typing.Any, ...]");
}

// A record, and the tuple that keeps its arrays.
template <IsRecord Record>
struct Kept {
    Record record;
    nb::typed<nb::object, Record> source;
};

// The code of a type in the buffer protocol, and its name in numpy.
template <typename T>
struct Letters;
template <>
struct Letters<bool> {
    static constexpr char letters[] = "?";
    static constexpr auto name = nb::detail::const_name("bool_");
};
template <>
struct Letters<Short> {
    static constexpr char letters[] = "h";
    static constexpr auto name = nb::detail::const_name("int16");
};
template <>
struct Letters<Small> {
    static constexpr char letters[] = "il";
    static constexpr auto name = nb::detail::const_name("int32");
};
template <>
struct Letters<Int> {
    static constexpr char letters[] = "lq";
    static constexpr auto name = nb::detail::const_name("int64");
};
template <>
struct Letters<std::uint64_t> {
    static constexpr char letters[] = "LQ";
    static constexpr auto name = nb::detail::const_name("uint64");
};
template <>
struct Letters<double> {
    static constexpr char letters[] = "d";
    static constexpr auto name = nb::detail::const_name("float64");
};

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

// A tuple whose types Python is told.
template <typename... Values>
nb::typed<nb::tuple, Values...> to_tuple(Values... values)
{
    return nb::make_tuple(std::move(values)...);
}

// Run a kernel without the interpreter's lock; signals, and a number that ends the kernel, are looked for where it does so.
template <typename Kernel>
auto unlocked(Kernel&& kernel, Int* end = nullptr)
{
    struct Reset {
        ~Reset() { watched = {}; }
    };
    const nb::gil_scoped_release release;
    Watch watch([] {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals()) throw nb::python_error();
    }, end);
    watched = {&watch, true};
    const Reset reset;
    return kernel();
}

}  // namespace ilpinfer

namespace nanobind::detail {

template <typename T, int D>
struct type_caster<ilpinfer::View<T, D>> {
    using Viewed = ilpinfer::View<T, D>;
    using Plain = std::remove_const_t<T>;
    NB_TYPE_CASTER(Viewed, const_name("numpy.typing.NDArray[numpy.") + ilpinfer::Letters<Plain>::name + const_name("]"))

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
        const bool known = std::char_traits<char>::find(ilpinfer::Letters<Plain>::letters,
                                                        sizeof(ilpinfer::Letters<Plain>::letters) - 1, letter);
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

template <ilpinfer::IsRecord Record>
struct type_caster<Record> {
    NB_TYPE_CASTER(Record, ilpinfer::name_of<Record>())

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept
    {
        constexpr auto members = ilpinfer::Members<Record>::value;
        constexpr std::size_t size = std::tuple_size_v<decltype(members)>;
        if (!PyTuple_Check(source.ptr()) || PyTuple_GET_SIZE(source.ptr()) != static_cast<Py_ssize_t>(size)) return false;
        return read(source, members, flags, cleanup, std::make_index_sequence<size>());
    }

private:
    template <typename List, std::size_t... I>
    bool read(handle source, const List& members, uint32_t flags, cleanup_list* cleanup,
              std::index_sequence<I...>) noexcept
    {
        return (read_one(PyTuple_GET_ITEM(source.ptr(), I), value.*std::get<I>(members), flags, cleanup) && ...);
    }

    template <typename Member>
    static bool read_one(handle source, Member& member, uint32_t flags, cleanup_list* cleanup) noexcept
    {
        make_caster<Member> caster;
        if (!caster.from_python(source, flags, cleanup)) return false;
        member = caster.operator cast_t<Member>();
        return true;
    }
};

template <typename Record>
struct type_caster<ilpinfer::Kept<Record>> {
    using One = ilpinfer::Kept<Record>;
    NB_TYPE_CASTER(One, ilpinfer::name_of<Record>())

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept
    {
        make_caster<Record> caster;
        if (!caster.from_python(source, flags, cleanup)) return false;
        value = {caster.operator cast_t<Record>(), borrow(source)};
        return true;
    }
};

}  // namespace nanobind::detail
