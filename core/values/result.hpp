// Result: what an operation that can fail returns. std::expected is not in C++20; this has the part
// of it that sluice needs (docs/decisions/0004-our-own-result.md).
//
// Operational failures (input, disk, peers) are Results. Programmer errors are SLUICE_ASSERT.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/values/assert.hpp"

namespace sluice {

/// The kind of a failure, for the caller. The message is for people.
enum class ErrorCode {
    kInvalid,      ///< The input breaks a rule. Trying again is useless.
    kNotFound,     ///< The named thing does not exist.
    kConflict,     ///< It exists already, or is in a state that forbids this.
    kLimit,        ///< A documented limit is reached.
    kFull,         ///< The store is above its high-water mark. The call can succeed later.
    kNoSpace,      ///< The disk is full. The call succeeds once something frees room.
    kBusy,         ///< Another process holds it. The call can succeed later.
    kIo,           ///< An I/O error: the outcome of a write may be in doubt.
    kCorrupt,      ///< Stored bytes are damaged. Keep the files, and report it.
    kPermission,   ///< The process may not; the message names path and owner.
    kUnsupported,  ///< A newer format, or something this build does not know.
    kPending,      ///< The command is recorded, and pending until another person approves it.
    kInternal,     ///< Should not happen.
};

struct [[nodiscard]] Error {
    ErrorCode code = ErrorCode::kInternal;
    std::string message;  ///< One line, no final newline, no secrets and no customer data.
};

// The errors that are returned most often.
[[nodiscard]] inline Error invalid(std::string message) {
    return {ErrorCode::kInvalid, std::move(message)};
}
[[nodiscard]] inline Error not_found(std::string message) {
    return {ErrorCode::kNotFound, std::move(message)};
}
[[nodiscard]] inline Error conflict(std::string message) {
    return {ErrorCode::kConflict, std::move(message)};
}
[[nodiscard]] inline Error busy(std::string message) {
    return {ErrorCode::kBusy, std::move(message)};
}
[[nodiscard]] inline Error corrupt(std::string message) {
    return {ErrorCode::kCorrupt, std::move(message)};
}
[[nodiscard]] inline Error unsupported(std::string message) {
    return {ErrorCode::kUnsupported, std::move(message)};
}

/// Whether a value becomes another type of value that is not narrower and no view of what the first
/// one owned.
template <class From, class To>
concept ConvertsWhole = !std::same_as<From, To> && !std::same_as<To, std::string_view> &&
                        std::convertible_to<From, To> && requires(From && from) {
    To{std::move(from)};
};

/// Either a T or an Error. `T` may be move-only. Not thread-safe.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value)
        : state_(std::in_place_index<0>, std::move(value)) {
    }  // NOLINT(google-explicit-constructor)
    Result(Error error)
        : state_(std::in_place_index<1>, std::move(error)) {
    }  // NOLINT(google-explicit-constructor)

    template <class Other>
    requires ConvertsWhole<Other, T> Result(Result<Other> other)
        : Result(other.ok() ? Result(T{std::move(other).value()}) : Result(other.error())) {
    }  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    /// Requires: ok().
    [[nodiscard]] T& value() & {
        SLUICE_ASSERT(ok());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] const T& value() const& {
        SLUICE_ASSERT(ok());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] T&& value() && {
        SLUICE_ASSERT(ok());
        return std::move(*std::get_if<0>(&state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    /// Requires: !ok().
    [[nodiscard]] const Error& error() const& {
        SLUICE_ASSERT(!ok());
        return *std::get_if<1>(&state_);
    }

    /// Returns the value, or `otherwise` in place of the error.
    [[nodiscard]] T value_or(T otherwise) && {
        return ok() ? std::move(*this).value() : std::move(otherwise);
    }

    /// Returns what `next` makes of the value, a Result or a Status; or the error.
    template <class Next>
    [[nodiscard]] std::invoke_result_t<Next, T&&> and_then(Next&& next) && {
        if (!ok()) {
            return error();
        }
        return std::forward<Next>(next)(std::move(*this).value());
    }

private:
    std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] static Status success() { return {}; }
    [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return ok(); }
    /// Requires: !ok().
    [[nodiscard]] const Error& error() const {
        SLUICE_ASSERT(error_.has_value());
        return *error_;
    }

private:
    std::optional<Error> error_;
};

/// Moves the value to `target`, or returns the error.
template <class Target, class T>
[[nodiscard]] Status assign(Target& target, Result<T> result) {
    if (!result.ok()) {
        return result.error();
    }
    target = std::move(result).value();
    return Status::success();
}

}  // namespace sluice
