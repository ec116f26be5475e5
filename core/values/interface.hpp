// Interface and Visitor: the base of an abstract class, and what its scans call.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Held by reference or by pointer, never copied.
class Interface {
public:
    Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    virtual ~Interface() = default;
};

/// Called for each row of a scan. Returns false to end it; a callable without a result sees every
/// row. The row is valid during the call only.
template <class Row>
class Visitor {
public:
    template <class Visit>
    requires(!std::same_as<Visit, Visitor> && std::invocable<Visit&, const Row&>)
        Visitor(Visit visit) {
        if constexpr (std::is_void_v<std::invoke_result_t<Visit&, const Row&>>) {
            visit_ = [visit = std::move(visit)](const Row& row) mutable {
                visit(row);
                return true;
            };
        } else {
            visit_ = std::move(visit);
        }
    }
    bool operator()(const Row& row) const { return visit_(row); }

private:
    std::function<bool(const Row&)> visit_;
};

}  // namespace sluice
