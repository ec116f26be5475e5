// The reads behind the resources. Each returns the rows of one page, or one object.
#pragma once

#include "core/reports/json.hpp"
#include "worker/read/resource.hpp"

namespace sluice::serve {

/// Most rows that one request reads (Q7).
inline constexpr std::size_t kRowsReadMax = 10'000;
/// Most bytes of an answer (Q6).
inline constexpr std::size_t kAnswerBytesMax = std::size_t{8} << 20;

/// Returns the account's shops, by id, those that sent nothing yet as well.
[[nodiscard]] std::vector<store::ShopRow> registered_shops(const Read& read);
/// Returns the shops of the caller's account that have sent something, by shop id: all, or the one
/// that the parameter `shop` names. A shop that the account does not have is not_found.
[[nodiscard]] std::vector<ShopRow> shops_of(Read& read);
/// Returns the first id of the creator that the parameter `creator` names, or nothing without one.
/// A creator that the account does not have is not_found.
[[nodiscard]] std::optional<CreatorId> creator_of(Read& read);
/// Returns the program that the parameter `program` names, or nothing without one. A program that
/// the account does not have is not_found.
[[nodiscard]] std::optional<ProgramRow> program_of(Read& read);
/// Returns the payout that the parameter `payout` names; not_found likewise.
[[nodiscard]] Payout payout_of(Read& read);

struct NodeState {
    LedgerHead head;
    /// The node's inputs have waited for over five minutes, if it is this store's, or its last
    /// receipt is over an hour older than the newest node's.
    bool is_behind = false;
};
/// Returns every node, by UUID.
[[nodiscard]] std::vector<NodeState> node_states(Read& read);
/// @param digest  As code_digest() returns it.
[[nodiscard]] bool has_code(const OrderState& order, const Digest256& digest);

/// Cuts a page out of rows that were all read.
class PageOfAll : public reports::RowOutput {
public:
    /// @param sorted_by  Cells by which the rows are sorted, as texts: the key of a row. Without
    /// them it is the row's place.
    explicit PageOfAll(const Read& read, std::vector<std::size_t> sorted_by = {});
    void add(const reports::Row& row) override;
    /// Not called: no such list has raw rows.
    void add_raw(const std::vector<JsonMember>& /*row*/) override {}
    [[nodiscard]] Page take() &&;

private:
    void add_by_place(const reports::Row& row);

    std::size_t limit_, first_ = 0, count_ = 0;
    std::vector<std::size_t> sorted_by_;
    std::optional<std::vector<std::string>> after_;
    std::vector<std::string> last_;
    bool has_more_ = false;
    Page page_;
};

[[nodiscard]] Page list_orders(Read& read);
[[nodiscard]] Page list_anomalies(Read& read);
[[nodiscard]] Page list_holds(Read& read);
[[nodiscard]] Page list_creators(Read& read);
[[nodiscard]] Page list_programs(Read& read);
[[nodiscard]] Page list_program_versions(Read& read);
[[nodiscard]] Page list_shops(Read& read);
[[nodiscard]] Page list_products(Read& read);
[[nodiscard]] Page list_balances(Read& read);
[[nodiscard]] Page list_journal(Read& read);
[[nodiscard]] Page list_runs(Read& read);
[[nodiscard]] Page list_payouts(Read& read);
[[nodiscard]] Page list_payout_items(Read& read);
[[nodiscard]] Page list_approvals(Read& read);
[[nodiscard]] Page list_payees(Read& read);
[[nodiscard]] Page list_periods(Read& read);
[[nodiscard]] Page list_period_sums(Read& read);
[[nodiscard]] Page list_trial_balance(Read& read);
[[nodiscard]] Page list_nodes(Read& read);
[[nodiscard]] Page search(Read& read);

[[nodiscard]] reports::Json show_me(Read& read);
[[nodiscard]] reports::Json show_today(Read& read);
[[nodiscard]] reports::Json show_order(Read& read);
[[nodiscard]] reports::Json show_creator(Read& read);
[[nodiscard]] reports::Json show_program(Read& read);
[[nodiscard]] reports::Json show_run(Read& read);
[[nodiscard]] reports::Json show_payout(Read& read);
[[nodiscard]] reports::Json show_approval(Read& read);
[[nodiscard]] Answer show_statement(Read& read);
/// @param statement  As `report statement --format json` prints it.
[[nodiscard]] Answer statement_html(reports::Json statement);

[[nodiscard]] std::vector<reports::Column> hold_columns();
[[nodiscard]] std::vector<reports::Column> shop_columns();
[[nodiscard]] std::vector<reports::Column> run_columns();
[[nodiscard]] std::vector<reports::Column> node_columns();
[[nodiscard]] std::vector<reports::Column> search_columns();

}  // namespace sluice::serve
