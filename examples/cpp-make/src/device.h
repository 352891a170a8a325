// Device memory that frees itself, and statuses as exceptions.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "moments.h"  // any generated header has the functions for memory

inline void check(prism_status status)
{
    if (status != PRISM_OK)
        throw std::runtime_error(prism_message());
}

template <class T> class DeviceArray {
public:
    explicit DeviceArray(std::size_t size) : size_(size)
    {
        check(prism_allocate(size * sizeof(T), &memory_));
    }

    explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size())
    {
        check(prism_upload(memory_, values.data(), size_ * sizeof(T)));
    }

    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;

    ~DeviceArray()
    {
        prism_free(memory_);
    }

    T *data() const
    {
        return static_cast<T *>(memory_);
    }

    std::vector<T> values() const
    {
        std::vector<T> host(size_);
        check(prism_download(host.data(), memory_, size_ * sizeof(T)));
        return host;
    }

private:
    std::size_t size_;
    void *memory_ = nullptr;
};
