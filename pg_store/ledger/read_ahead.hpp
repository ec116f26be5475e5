// Read ahead: finds the rows that inputs will need, so that a batch reads them together. Internal
// to pg_store.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/product_batch.hpp"
#include "core/protocol/record.hpp"

namespace sluice::pg {

struct ShopText {
    AccountNumber account;
    ShopNumber shop;
    std::string text;
    friend auto operator<=>(const ShopText&, const ShopText&) = default;
};

/// Keys may be repeated.
struct UpcomingKeys {
    std::vector<OrderKey> orders;
    std::vector<ShopText> refund_ids;
    std::vector<OrderKey> deletable;  ///< Orders that the shop's platform may have deleted before.
    std::vector<WaitKey> sources;     ///< Anonymous ids and codes of the orders.
    std::vector<ShopText> products;   ///< Product ids that are about to change.
    std::vector<ShopText> skus;       ///< Texts of lines whose products may be asked for.
    std::vector<WaitKey> devices;     ///< Devices of clicks.
    std::vector<LinkId> links;        ///< Links of clicks.
    std::size_t inputs_count = 0;     ///< How many one transaction takes, from the front.
    bool command = false;             ///< The one input is a person's command.
    bool deletes = false;             ///< Some input deletes an order.
};

/// The demands of an account's programs on a batch.
struct ProgramNeeds {
    bool products = false;  ///< Some rule asks for a line's product.
    bool alone = false;     ///< Some rate depends on other orders (tiers, new customers).
};

/// One per ledger. Its parsers keep their buffers.
class ReadAhead {
public:
    /// A command has a transaction of its own, because no other node's may run meanwhile. So the
    /// inputs end before a command. A command that is the first input is the only one, or there is
    /// none if the transaction `holds_some` already. Clicks may follow and precede other inputs,
    /// but need the exclusive lock from the transaction's first input on, so that no order of
    /// another node misses them.
    [[nodiscard]] UpcomingKeys keys(std::span<const Input> inputs, bool holds_some,
                                    bool is_exclusive);
    /// Returns the demands of the account's current programs. Reads the ledger once per revision.
    [[nodiscard]] const ProgramNeeds& needs(LedgerReader& ledger, AccountNumber account);
    /// Returns true if some account of the orders runs alone, as far as is known for this revision.
    [[nodiscard]] bool runs_alone(const UpcomingKeys& keys, std::uint64_t revision) const;

private:
    void add(const Input& input, const RecordView& record, UpcomingKeys& keys);
    static void add_deletion(const RecordView& record, std::string_view body, UpcomingKeys& keys);

    OrderEventParser orders_;
    ProductBatchParser products_;
    std::uint64_t revision_ = 0;  ///< The revision to which `needs_` belongs.
    std::unordered_map<std::uint32_t, ProgramNeeds> needs_;
};

}  // namespace sluice::pg
