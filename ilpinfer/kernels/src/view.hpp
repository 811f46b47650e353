// Views of arrays in C order, and arrays that own their memory.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace ilpinfer {

using Int = std::int64_t;
using Small = std::int32_t;
using Short = std::int16_t;

// D dimensions of T; it owns nothing. Indices are checked where assertions are on.
template <typename T, int D>
class View {
public:
    View() = default;
    View(T* data, std::array<Int, D> shape) : data_(data), shape_(shape) {}

    // A view that cannot write.
    operator View<const T, D>() const
        requires(!std::is_const_v<T>)
    {
        return {data_, shape_};
    }

    template <typename... I>
        requires(sizeof...(I) == D)
    T& operator()(I... index) const
    {
        return data_[offset(index...)];
    }

    T& operator[](Int index) const
        requires(D == 1)
    {
        assert(0 <= index && index < shape_[0]);
        return data_[index];
    }

    // The part at an index of the first dimension.
    View<T, D - 1> operator[](Int index) const
        requires(D > 1)
    {
        assert(0 <= index && index < shape_[0]);
        std::array<Int, D - 1> rest;
        Int size = 1;
        for (int d = 1; d < D; ++d) size *= rest[d - 1] = shape_[d];
        return {data_ + index * size, rest};
    }

    // The parts from `first` to before `last` of the first dimension.
    View slice(Int first, Int last) const
    {
        assert(0 <= first && first <= last && last <= shape_[0]);
        auto shape = shape_;
        shape[0] = last - first;
        Int size = 1;
        for (int d = 1; d < D; ++d) size *= shape_[d];
        return {data_ + first * size, shape};
    }

    // The same numbers in another shape.
    template <int N>
    View<T, N> reshaped(std::array<Int, N> shape) const
    {
        return {data_, shape};
    }

    void fill(std::remove_const_t<T> value) const { std::fill_n(data_, count(), value); }
    void copy(View<const T, D> source) const
    {
        assert(source.count() == count());
        std::copy_n(source.data(), count(), data_);
    }

    Int size() const { return shape_[0]; }
    Int shape(int d) const { return shape_[d]; }
    bool empty() const { return shape_[0] == 0; }
    Int count() const
    {
        Int product = 1;
        for (Int n : shape_) product *= n;
        return product;
    }
    T* data() const { return data_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + count(); }

private:
    template <typename... I>
    Int offset(I... index) const
    {
        Int at = 0;
        int d = 0;
        ((assert(0 <= Int(index) && Int(index) < shape_[d]), at = at * shape_[d++] + Int(index)), ...);
        return at;
    }

    T* data_ = nullptr;
    std::array<Int, D> shape_{};
};

// An array that owns its memory; it is not initialised unless a value is given.
template <typename T, int D = 1>
class Array : public View<T, D> {
public:
    Array() = default;
    explicit Array(std::array<Int, D> shape) : View<T, D>(nullptr, shape)
    {
        memory_ = std::make_unique_for_overwrite<T[]>(std::max<Int>(1, this->count()));
        static_cast<View<T, D>&>(*this) = View<T, D>(memory_.get(), shape);
    }
    explicit Array(Int size)
        requires(D == 1)
        : Array(std::array<Int, 1>{size})
    {
    }
    Array(std::array<Int, D> shape, T value) : Array(shape) { this->fill(value); }
    Array(Int size, T value)
        requires(D == 1)
        : Array(std::array<Int, 1>{size}, value)
    {
    }
    static Array copy_of(View<const T, D> source, std::array<Int, D> shape)
    {
        Array result(shape);
        result.copy(source);
        return result;
    }

private:
    std::unique_ptr<T[]> memory_;
};

// A view of a vector, and an array of its first numbers, which has a shape.
template <typename T>
View<const T, 1> view_of(const std::vector<T>& values)
{
    return {values.data(), {static_cast<Int>(values.size())}};
}
template <typename T, std::size_t D = 1>
Array<T, int{D}> array_of(const std::vector<T>& values, std::array<Int, D> shape)
{
    Array<T, int{D}> result(shape);
    std::copy_n(values.begin(), result.count(), result.begin());
    return result;
}
template <typename T>
Array<T> array_of(const std::vector<T>& values)
{
    return array_of(values, std::array{static_cast<Int>(values.size())});
}

template <typename T>
using Row = View<T, 1>;
using Ints = View<Int, 1>;
using ConstInts = View<const Int, 1>;

}  // namespace ilpinfer
