// StoreFailure: an Error on its way to the public interface of lmdb_store, where attempt() returns
// it. For code off the hot path, where a check after each call would hide what the code does.
#pragma once

#include <exception>
#include <type_traits>
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

/// The type that attempt() returns: a Status for an action without a value, else a Result of it.
template <class Value>
struct Attempted {
    using Type = Result<Value>;
};
template <>
struct Attempted<void> {
    using Type = Status;
};
template <>
struct Attempted<Status> {
    using Type = Status;
};
template <class Value>
struct Attempted<Result<Value>> {
    using Type = Result<Value>;
};

/// Returns what `action` returns, or a StoreFailure that it throws as an error.
template <class Action>
[[nodiscard]] typename Attempted<std::invoke_result_t<Action>>::Type attempt(Action&& action) {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Action>>) {
            std::forward<Action>(action)();
            return Status::success();
        } else {
            return std::forward<Action>(action)();
        }
    } catch (const StoreFailure& failure) {
        return failure.error();
    }
}

/// Throws the error of a status as a StoreFailure, if it has one.
inline void check(const Status& status) {
    if (!status) {
        throw StoreFailure(status.error());
    }
}

/// Returns the value of a result, or throws its error as a StoreFailure.
template <class Value>
[[nodiscard]] Value checked(Result<Value> result) {
    if (!result) {
        throw StoreFailure(result.error());
    }
    return std::move(*result);
}

}  // namespace sluice::store
