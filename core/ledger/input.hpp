// An input as it came from the queue or the archive, and what a FORGET among them has found.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// Only ever grows. Customers and orders are those of the forget's shop, devices those of its
/// account.
struct ForgetFound {
    std::set<OrderId> orders;  ///< The person's: their bodies lose what the ledger does not read.
    std::set<Digest256> customers;   ///< Stated by these orders, in any version.
    std::set<Digest256> devices;     ///< Likewise.
    std::set<CreatorId> creators{};  ///< Every id that a forgotten creator had.
    friend bool operator==(const ForgetFound&, const ForgetFound&) = default;

    /// Returns true if something in `other` was new.
    bool add(const ForgetFound& other) {
        const auto size = [this] {
            return orders.size() + customers.size() + devices.size() + creators.size();
        };
        const std::size_t before = size();
        orders.insert(other.orders.begin(), other.orders.end());
        customers.insert(other.customers.begin(), other.customers.end());
        devices.insert(other.devices.begin(), other.devices.end());
        creators.insert(other.creators.begin(), other.creators.end());
        return size() != before;
    }
};

struct Input {
    SequenceNumber seq;
    std::string_view record;  ///< decode_record() reads it.
    /// The body stored outside the queue, already compared with its SHA-256.
    std::string_view bulk_body;
    /// Set if it cannot be applied, whatever it says: no body, no memory. It goes to the dead
    /// letters with this reason.
    std::optional<std::string> dead_reason;
    /// SHA-256 of the body as it was sent, if `record` no longer holds those bytes (forgotten
    /// customers); duplicates are recognised by it.
    std::optional<Digest256> body_sha256;
    /// Set if it met a damaged row of an order (O6): an event goes to the dead letters with this
    /// reason, a command is refused with it.
    std::optional<std::string> damage;
    /// For a FORGET: the orders and digests found in the archive and the ledger. nullptr means that
    /// they were not searched.
    const ForgetFound* forget_found = nullptr;
};

}  // namespace sluice
