// An input as it came from the queue or the archive, and what a FORGET among them has found.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// The ids that a forget has found; none is ever removed. Customers and orders are those of the
/// forget's shop, devices those of its account.
struct ForgetFound {
    /// The person's orders. Their bodies keep only the fields that the ledger reads.
    std::set<OrderId> orders{};
    std::set<Digest256> customers{};  ///< Customer ids that these orders stated, in any version.
    std::set<Digest256> devices{};    ///< Device ids that these orders stated.
    std::set<CreatorId> creators{};   ///< Every id that a forgotten creator had.
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
    /// Set if the input cannot be applied, whatever its record says: its body is missing, or memory
    /// does not suffice. The input becomes a dead letter with this reason.
    std::optional<std::string> dead_reason;
    /// SHA-256 of the body as it was sent, if `record` no longer holds those bytes (forgotten
    /// customers); duplicates are recognised by it.
    std::optional<Digest256> body_sha256;
    /// Set if the input met a damaged row of an order (O6). An event becomes a dead letter with
    /// this reason; a command is refused with it.
    std::optional<std::string> damage;
    /// For a FORGET: the orders and digests found in the archive and the ledger. nullptr means that
    /// they were not searched.
    const ForgetFound* forget_found = nullptr;
    /// Digest of the input as it was first applied, if `record` no longer holds those bytes.
    std::optional<Digest256> digest{};
    /// The ledger rejects the bytes: a dead letter of the input has none.
    bool is_bare = false;
};

}  // namespace sluice
