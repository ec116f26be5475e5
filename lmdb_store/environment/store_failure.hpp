// StoreFailure: an Error on its way to the public interface of lmdb_store, where attempt() returns
// it.
#pragma once

#include <exception>
#include <utility>

#include "core/values/result.hpp"

namespace sluice::store {

class StoreFailure : public std::exception {
public:
    explicit StoreFailure(Error error) : error_(std::move(error)) {}
    [[nodiscard]] const Error& error() const noexcept { return error_; }
    [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }

private:
    Error error_;
};

}  // namespace sluice::store
