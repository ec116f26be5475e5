// Account rows: policy, periods, holds, profiles of creators, programs (rules H1, H3, S1 to S3).
//
// Plain values without behaviour; they own their bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/signature.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Settings that every input of an account reads; one row per account. A change moves
/// LedgerHead::programs_revision.
struct AccountRow {
    AccountNumber account;
    AccountId account_id{};
    std::optional<Timestamp> closed_until{};  ///< The first instant of the open period (S1).
    std::string policy{};                     ///< As encode_policy() writes it, or empty.
    std::string policy_by{};                  ///< The actor who set it last.
    std::uint32_t policy_version = 0;
    std::uint64_t open_credits = 0;  ///< Credits that name an order and are not reversed.
};

/// A hold on a creator. Holds on orders are in the order.
struct CreatorHold {
    AccountNumber account;
    CreatorId creator{};
    ProgramId program{};  ///< Empty means all.
    std::string actor{}, reason{};
    Timestamp held_at{};
};

struct CreatorRow {
    AccountNumber account;
    CreatorId creator;
    std::string name, payee;                 ///< May be empty.
    CreatorId shown_as;                      ///< After `creator rename`. Empty means as `creator`.
    std::optional<Timestamp> payee_since{};  ///< Receipt of the command that set the payee.
    bool payee_changed = false;              ///< False for the payee that the creator came with.
};

/// A change of a creator's payee. The memo entry PAYEE_CHANGED has the digests of both references;
/// a forget replaces the references here by these digests.
struct PayeeChange {
    AccountNumber account;
    CreatorId creator{};
    Timestamp changed_at{};
    std::string command_id{};
    std::string old_payee{}, new_payee{};  ///< May be empty.
    std::string actor{}, reason{};
};

/// A new name of a creator. Imports accept both names.
struct CreatorAlias {
    AccountNumber account;
    CreatorId alias;
    CreatorId creator;
};

struct Period {
    AccountNumber account;
    Timestamp until{};  ///< The first instant of a month.
    Timestamp closed_at{};
    std::string closed_by{}, command_id{};
};

/// Sums of one closed period: the entries with an accounting date from the end of the period before
/// up to `until`. opening + entries = closing, for each ledger account.
struct PeriodSum {
    AccountNumber account;
    Timestamp until;
    CreatorId creator{};
    ProgramId program{};
    Currency currency{};
    Decimal opening_owed{}, opening_in_payout{}, opening_paid{};
    std::string reasons{};  ///< `ACCRUAL=10.00 REFUND=-4.00`, in the order of JournalReason.
    Decimal closing_owed{}, closing_in_payout{}, closing_paid{};
    std::uint64_t entries = 0;
    Digest256 digest{};  ///< Digest of the entries, in the order of a statement.
};

/// Net sales of a creator in a program and calendar month (UTC), kept for programs with tiers (M4).
struct TierVolume {
    AccountNumber account;
    ProgramId program;
    CreatorId creator{};
    std::uint32_t month = 0;  ///< 202601.
    Currency currency{};
    Decimal amount{};
};

/// The orders of a creator in a program whose tiers apply to the month: key only (M4).
struct TierOrder {
    AccountNumber account;
    ProgramId program;
    CreatorId creator{};
    std::uint32_t month = 0;  ///< 202601.
    Timestamp ordered_at{};
    ShopNumber shop{};
    OrderId order_id{};
    friend bool operator==(const TierOrder&, const TierOrder&) = default;
};

/// Orders of a customer of a shop: key only (M1, `customer`).
struct CustomerOrder {
    AccountNumber account;
    ShopNumber shop{};
    Digest256 customer{};
    Timestamp ordered_at{};
    OrderId order_id{};
};

/// ProgramShop::shop of a program that covers every shop of the account.
inline constexpr std::string_view kEveryShop = "*";

/// From when on orders of a shop are covered by a program: as the apply that added it said (A2).
struct ProgramShop {
    ProgramId program;
    std::string shop;  ///< Shop id, or kEveryShop.
    Timestamp effective_from;
};

/// A forget that some node has not performed yet (F2). Wiped when all have.
struct ForgetTask {
    std::string command_id;
    AccountNumber account{};
    ShopNumber shop{};
    std::string secret{};   ///< R, drawn by the command.
    std::string digests{};  ///< Digests that are replaced.
};
struct ForgetDone {
    std::string command_id;
    std::string node;
};

enum class LimitKind : std::uint8_t { kPayout = 1, kAdjust = 2, kAttribution = 3 };

/// An amount that took effect without a second person. Limits of the policy count these together
/// (controls K4).
struct LimitUse {
    AccountNumber account;
    LimitKind kind = LimitKind::kPayout;
    Timestamp at;    ///< Accounting date.
    std::string id;  ///< Payout id or command id.
    CreatorId creator;
    Currency currency;
    Digest256 payee{};  ///< payee_digest() of whom the creator was paid as; zeros for no payee.
    Decimal amount;     ///< Not negative.
};

/// The current version of a program. A program id belongs to one account for ever.
struct ProgramHead {
    ProgramId program;
    AccountNumber account;
    std::uint32_t version = 0;
    std::optional<Timestamp> opening_at{};  ///< Date of its opening balances.
};

/// A program as a file stated it; earlier versions stay readable for `sluice explain`.
struct ProgramVersion {
    ProgramId program;
    std::uint32_t version = 0;
    AccountNumber account{};
    AccountId account_id{};
    SequenceNumber applied_by{};
    Timestamp applied_at{};
    Timestamp first_effective_from{};
    std::string json{};  ///< As encode_program() writes it.
};

}  // namespace sluice
