// Parsed: the value of a text, or nothing if the text has another form.
//
// A std::optional whose dereference is checked. Reading an empty std::optional is undefined, and in
// a release it yields whatever the memory held; reading an empty Parsed throws, so that one wrong
// text ends one answer and not a process. Callers check it first, as
// tests/lint/test_checked_parses.py demands.
#pragma once

#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace sluice {

/// Thrown by the use of a value that a text did not have.
class UncheckedParse : public std::logic_error {
public:
    UncheckedParse() : std::logic_error("a text was used as a value that it does not have") {}
};

template <class T>
class [[nodiscard]] Parsed : public std::optional<T> {
    using Base = std::optional<T>;

public:
    using Base::Base;
    Parsed(Base value) : Base(std::move(value)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] T& operator*() & { return checked(*this); }
    [[nodiscard]] const T& operator*() const& { return checked(*this); }
    [[nodiscard]] T&& operator*() && { return std::move(checked(*this)); }
    [[nodiscard]] T* operator->() { return &checked(*this); }
    [[nodiscard]] const T* operator->() const { return &checked(*this); }
    [[nodiscard]] const T& value() const { return checked(*this); }

private:
    template <class Self>
    static auto& checked(Self& self) {
        if (!self.has_value()) [[unlikely]] {
            throw UncheckedParse();
        }
        return static_cast<std::conditional_t<std::is_const_v<Self>, const Base&, Base&>>(self).
        operator*();
    }
};

}  // namespace sluice
