// Failures of a ledger: thrown, so that rules read as rules.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "core/ledger/order_state.hpp"
#include "core/values/result.hpp"

namespace sluice {

class LedgerFailure : public std::exception {
public:
    explicit LedgerFailure(Error error) : error_(std::move(error)) {}
    [[nodiscard]] const Error& error() const noexcept { return error_; }
    [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }

private:
    Error error_;
};

/// A stored row is not as sluice writes it, or breaks a rule (O6). kCorrupt.
class DamagedRow : public LedgerFailure {
public:
    /// @param row    Its table and key, as row_name() gives them.
    /// @param what   The fault.
    /// @param order  The order whose row it is, so that only inputs of this order are affected. No
    ///               value if the row does not belong to one order.
    DamagedRow(const std::string& row, const std::string& what, std::optional<OrderKey> order)
        : LedgerFailure(
              {ErrorCode::kCorrupt, "the ledger holds a damaged row: " + row + ": " + what}),
          order_(std::move(order)) {}
    [[nodiscard]] const std::optional<OrderKey>& order() const noexcept { return order_; }

private:
    std::optional<OrderKey> order_;
};

}  // namespace sluice
