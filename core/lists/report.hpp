// Reports: rows of the ledger as listings. Each reads one snapshot, row by row, in bounded memory
// (balances: one row for each creator).
//
// Storage failures are thrown as LedgerFailure. Reports are ordered: orders and anomalies by shop
// and order, the journal by node and entry, balances by account, program, creator and currency,
// products by shop and product, payouts in the order of closing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/explain/node_names.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/lists/list.hpp"
#include "core/lists/names.hpp"
#include "core/lists/row_output.hpp"
#include "core/rules/order_book.hpp"
#include "core/statements/statements.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::lists {

struct ReportFilter {
    std::optional<AccountId> account;  ///< Absent means every account.
    std::optional<ShopId> shop{};
    std::optional<CreatorId> creator{};  ///< Any of the creator's ids.
    std::optional<Timestamp> from{};     ///< Inclusive.
    std::optional<Timestamp> to{};       ///< Exclusive.
    bool by_receipt = false;           ///< The journal's dates are receipts, not accounting dates.
    std::optional<Timestamp> as_of{};  ///< Date of the amounts; absent means now.
    bool negative = false;             ///< Only balances below 0, with their age.
    std::optional<PayoutState> state{};
    std::string payout_run{};  ///< Empty means any.
    std::optional<Currency> currency{};

    [[nodiscard]] bool covers(Timestamp time) const noexcept {
        return (!from || *from <= time) && (!to || time < *to);
    }
    /// @param first  The first id of the creator.
    [[nodiscard]] bool covers(const CreatorNames& names, AccountNumber account_number,
                              const CreatorId& first) const {
        return !creator || names.first(account_number, *creator) == first;
    }
};

/// Options of a report in addition to --ledger and --format.
enum ReportOption : unsigned {
    kByAccount = 1,     ///< --account
    kNeedsAccount = 2,  ///< --account, or --all-accounts (S4).
    kByShop = 4,        ///< --shop
    kByCreator = 8,     ///< --creator
    kByTime = 16,       ///< --from, --to
    kAsOf = 32,         ///< --as-of
    kByPayout = 64,     ///< --state, --payout-run, --currency
    kAsOfPast = 128,    ///< --as-of may lie in the past.
    kByDate = 256,      ///< --by
    kNegative = 512,    ///< --negative
};

/// A report: its columns, and the function that writes its rows.
struct Report {
    std::string_view name;
    std::string_view description;
    std::vector<Column> columns;
    /// @param now  filter.as_of, if it has one.
    void (*write)(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, RowOutput& out);
    unsigned options = 0;  ///< Bits of ReportOption.
};

[[nodiscard]] const std::vector<Report>& reports();

/// An order, with what its row names.
struct OrderOf {
    const ShopRow& shop;
    const OrderState& order;
    const Attribution* given;  ///< Null without a creator.
    std::string_view creator;  ///< As shown, or empty.
    const EffectiveRefunds& refunds;
    Money commission;
    std::string_view status{};
    std::vector<std::string> blocked_by{};
    const std::string& node;
};
[[nodiscard]] const List<OrderOf>& order_list();
/// Exports have first ids of creators, and payouts whose COMMISSION items are the order's
/// commission (P2). Status and `blocked_by` are not read.
[[nodiscard]] const List<OrderOf>& exported_order_list();
/// Builds the rows of orders. Reads the names of creators and nodes once.
class OrderRows {
public:
    explicit OrderRows(LedgerReader& ledger) : judge_(ledger), creators_(ledger), nodes_(ledger) {}
    [[nodiscard]] Row row(const ShopRow& shop, const OrderState& order, Timestamp now);
    [[nodiscard]] OrderJudge& judge() noexcept { return judge_; }
    [[nodiscard]] const CreatorNames& creators() const noexcept { return creators_; }

private:
    OrderJudge judge_;
    CreatorNames creators_;
    NodeNames nodes_;
};

struct AnomalyOf {
    const ShopRow& shop;
    const Anomaly& anomaly;
    std::uint32_t blocking;  ///< Bits of the anomaly kinds that block in the account.

    [[nodiscard]] bool blocks() const noexcept {
        return anomaly.showing && anomaly.acknowledged_by.empty() &&
               (blocking & bit(anomaly.kind)) != 0;
    }
};
[[nodiscard]] const List<AnomalyOf>& anomaly_list();
[[nodiscard]] const List<AnomalyOf>& exported_anomaly_list();

/// An entry of a journal group.
struct JournalOf {
    const JournalGroup& group;
    std::size_t index;
    std::string_view account, shop, line;  ///< As shown, or empty.
    std::string_view referred{};           ///< Node of the entry that it refers to, or empty.

    [[nodiscard]] const JournalEntry& entry() const { return group.entries[index]; }
    [[nodiscard]] std::uint64_t number() const { return group.first_entry + index; }
    [[nodiscard]] bool is_memo() const { return sluice::is_memo(entry().reason); }
    [[nodiscard]] bool is_last() const { return index + 1 == group.entries.size(); }
};
[[nodiscard]] const List<JournalOf>& journal_list();
[[nodiscard]] const List<JournalOf>& exported_journal_list();

/// The fields of a product, of which a table has room for the first few.
[[nodiscard]] const std::vector<Column>& product_columns();
/// Fields that the protocol does not know are members of `other_fields`.
[[nodiscard]] const std::vector<Column>& exported_product_columns();

/// Builds the rows of journal groups. Reads the names of accounts and shops, and the changes of
/// payees, once.
class JournalRows {
public:
    /// Returns a payee as it is shown.
    using ShowPayee = std::string (*)(std::string_view payee);

    /// @param only        Account of the groups; absent means every account.
    /// @param show_payee  Absent shows payees as they are.
    JournalRows(LedgerReader& ledger, const std::optional<AccountNumber>& only,
                ShowPayee show_payee = nullptr);

    /// Returns whether the group's account is known, and the filter covers the group.
    [[nodiscard]] bool covers(const JournalGroup& group, const ReportFilter& filter) const;
    /// Requires: the group's account is known.
    /// @param referred  Node that wrote the entry that `refers_to` names, or empty.
    [[nodiscard]] Row row(const JournalGroup& group, std::size_t index,
                          const std::string& referred) const;

private:
    /// Returns the shop's id, or an empty text for payouts, periods and credits without an order.
    [[nodiscard]] std::string shop_of(const JournalGroup& group) const;
    /// Returns the line, or the object of a memo entry. The journal has digests of payees, for
    /// which this shows the references until they are forgotten.
    [[nodiscard]] std::string line_of(const JournalGroup& group, std::size_t index) const;
    [[nodiscard]] std::string payee_of(const JournalGroup& group, const std::string& digest) const;

    CreatorNames names_;
    std::map<AccountNumber, AccountId> accounts_;
    std::unordered_map<std::uint32_t, std::string> shops_;
    /// References by the digest, in hexadecimal, that the creator's memo entries have.
    std::map<std::tuple<AccountNumber, CreatorId, std::string>, std::string> payees_;
    ShowPayee show_payee_;
};

// One source file for each, or for a few.
void write_orders(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, RowOutput& out);
void write_anomalies(LedgerReader& ledger, const ReportFilter& filter, Timestamp now,
                     RowOutput& out);
void write_journal(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, RowOutput& out);
struct BalanceOf {
    const AccountId& account_id;
    const CreatorId& creator;  ///< As shown.
    const BalanceAt& balance;
};
[[nodiscard]] const List<BalanceOf>& balance_list();
[[nodiscard]] const List<BalanceOf>& exported_balance_list();
/// The columns that `report balances --negative` adds. A creator owes since an accounting date.
struct NegativeOf {
    Timestamp since, now;

    [[nodiscard]] std::uint64_t days() const noexcept {
        return static_cast<std::uint64_t>(now.seconds - since.seconds) / kSecondsPerDay;
    }
};
[[nodiscard]] const List<NegativeOf>& negative_list();
void write_balances(LedgerReader& ledger, const ReportFilter& filter, Timestamp now,
                    RowOutput& out);
struct BalanceListing {
    AccountNumber account;
    AccountId account_id;
    std::optional<ProgramId> program{};
    std::optional<CreatorId> creator{};  ///< First id.
};
/// A balance's place in the report.
struct BalancePlace {
    ProgramId program;
    CreatorId creator;  ///< As shown.
    std::string currency;
};
/// Returns at most `max` rows of the report, which come first after `after`. Reads the open amounts
/// of their creators alone.
[[nodiscard]] std::vector<Row> balances_after(LedgerReader& ledger, const BalanceListing& listing,
                                              Timestamp now,
                                              const std::optional<BalancePlace>& after,
                                              std::size_t max);
struct PayoutOf;  // payouts.hpp
[[nodiscard]] const List<PayoutOf>& payout_list();
void write_payouts(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, RowOutput& out);

/// An approval, and the key that signed it.
struct ApprovalOf {
    const AccountId& account_id;
    const JournalGroup& group;
    const std::string& subject;
    Json key, verdict;
};
[[nodiscard]] const List<ApprovalOf>& approval_list();
/// Lists approvals by node and entry, with the keys that signed them.
/// @param verifies  Check all signatures.
/// Returns the number of signatures that prove nothing.
std::uint64_t write_approvals(LedgerReader& ledger, const ReportFilter& filter, bool verifies,
                              RowOutput& out);

/// Returns the shops of the ledger that the filter covers, sorted by shop id.
[[nodiscard]] std::vector<ShopRow> shops_of(LedgerReader& ledger, const ReportFilter& filter);

}  // namespace sluice::lists
