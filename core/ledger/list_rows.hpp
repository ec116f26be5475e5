// List rows: keys by which lists are read a page at a time. They follow from orders, payouts,
// payout runs and approvals, and have no other columns.
//
// PostgreSQL has an index and a view instead of a table, except for codes and numbers, of which an
// order may have several. So a transaction writes these rows, and only snapshots read them; clicks
// by receipt are read by transactions as well.
#pragma once

#include <cstdint>
#include <string>

#include "core/ledger/command_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

struct OrderByTime {
    AccountNumber account;
    Timestamp ordered_at{};
    ShopNumber shop{};
    OrderId order_id{};
};

/// An order by the creator of its live position.
struct OrderByCreator {
    AccountNumber account;
    CreatorId creator;
    Timestamp ordered_at{};
    ShopNumber shop{};
    OrderId order_id{};
};

/// Returns the number by which orders are listed under a code: the first 63 bits of its digest, so
/// that a row is short. A reader compares the codes of the order itself.
[[nodiscard]] constexpr std::uint64_t code_number(const Digest256& digest) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof(number); ++i) {
        number = number << 8U | digest[i];
    }
    return number >> 1U;
}
/// An order by one of its codes, with or without a creator.
struct OrderByCode {
    AccountNumber account;
    std::uint64_t code = 0;  ///< As code_number() returns it.
    Timestamp ordered_at{};
    ShopNumber shop{};
    OrderId order_id{};
};

/// An order by one of its numbers, the confirmation number among them.
struct OrderByNumber {
    AccountNumber account;
    ShopNumber shop;
    Digest256 number{};  ///< order_number_digest()
    OrderId order_id;
};

/// Where to begin to read an account's chain on a node: one group in each block of kChainBlock
/// entries of the node's journal, so that a reader passes few groups of other accounts, and a batch
/// of one account writes few rows.
struct ChainGroup {
    AccountNumber account;
    std::uint32_t node = 0;         ///< LedgerHead::number
    std::uint64_t last_change = 0;  ///< As in JournalGroup.
    std::uint64_t first_entry = 0;
};
inline constexpr std::uint64_t kChainBlock = 256;
/// Returns whether the group has a ChainGroup row.
/// @param before  First entry of the account's group before it on this node, or 0.
[[nodiscard]] constexpr bool is_listed(std::uint64_t first_entry, std::uint64_t before) noexcept {
    return before == 0 || first_entry / kChainBlock != before / kChainBlock;
}

struct PayoutByAccount {
    AccountNumber account;
    PayoutState state = PayoutState::kClosed;
    std::string payout_id;
};

struct PayoutByCreator {
    AccountNumber account;
    CreatorId creator;
    std::string payout_id;
};

struct RunByAccount {
    AccountNumber account;
    std::string payout_run;
};

struct WaitingByState {
    AccountNumber account;
    ApprovalState state = ApprovalState::kPending;
    std::string command_id;
};

/// A click that is deleted some time after its receipt: all but imported ones.
struct ClickByReceipt {
    AccountNumber account;
    Timestamp received_at{};
    Digest256 anon{};
    ProgramId program{};
    Timestamp occurred_at{};
    CreatorId creator{};
};

}  // namespace sluice
