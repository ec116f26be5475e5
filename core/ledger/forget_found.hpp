// Forget found: the person's orders, and the digests by which the ledger knows the person (F2).
#pragma once

#include <set>

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

}  // namespace sluice
