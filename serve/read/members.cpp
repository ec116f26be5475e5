#include "serve/read/members.hpp"

#include <string_view>

#include "core/lists/creators.hpp"
#include "core/lists/links.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/report.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {
namespace {

using lists::Column;
using Columns = std::vector<Column>;
using enum lists::ColumnType;
using enum lists::Scope;

/// Returns columns of one type and scope; spaces separate the names.
Columns all(lists::ColumnType type, lists::Scope scope, std::string_view names) {
    Columns columns;
    for (const std::string_view name : lists::words_of(names)) {
        columns.emplace_back(name, type, scope);
    }
    return columns;
}

Columns texts(std::string_view names) {
    return all(kText, kEveryone, names);
}

Columns order_lines() {
    return texts(
               "line_item_id sku variant_sku rule rate base refund calculation rounding "
               "explanation") +
           Columns{{"amount", kAmount, kEveryone},
                   {"tax", kAmount, kEveryone},
                   {"quantity", kInteger, kEveryone},
                   {"in_newest_payload", kFlag, kEveryone},
                   {"commission", kAmount, kEveryone}};
}

/// Without who did it, and why.
Columns order_journal() {
    return texts(
               "node line_item_id command_id creator_id program_id currency debit_account "
               "credit_account reason") +
           Columns{{"entry", kInteger, kEveryone},
                   {"event_seq", kInteger, kEveryone},
                   {"amount", kAmount, kEveryone},
                   {"accounting_date", kTime, kEveryone},
                   {"recorded_at", kTime, kEveryone}};
}

Columns order_payouts() {
    return texts("payout_id node state creator_id program_id currency") +
           Columns{{"amount", kAmount, kEveryone},
                   {"closed_at", kTime, kEveryone},
                   {"sent_at", kTime, kEveryone},
                   {"ended_at", kTime, kEveryone},
                   {"items", kObjects, kEveryone,
                    texts("line_item_id kind") + Columns{{"amount", kAmount, kEveryone}}}};
}

Columns attribution() {
    return texts("creator_id program_id explanation") +
           Columns{{"candidates", kObjects, kEveryone,
                    texts("type source creator_id program_id link_id explanation") +
                        Columns{{"clicked_at", kTime, kEveryone}, {"won", kFlag, kEveryone}}}};
}

}  // namespace

const Columns& me_members() {
    static const Columns members{
        {"user", kText, kEveryone},
        {"token_id", kText, kEveryone},
        {"role", kText, kEveryone},
        {"scopes", kTexts, kEveryone},
        {"accounts", kObjects, kEveryone,
         texts("account_id role") + Columns{{"scopes", kTexts, kEveryone}}},
        {"limit", kText, kEveryone}};
    return members;
}

const Columns& today_members() {
    static const Columns members{
        {"account_id", kText, kEveryone},
        {"day", kText, kEveryone},
        {"currency", kText, kLedger},
        {"currencies", kObjects, kLedger},
        {"yesterday", kObject, kEveryone,
         all(kInteger, kEveryone, "orders attributed clicks devices") +
             all(kAmount, kLedger, "earned usual")},
        {"payable", kAmount, kLedger},
        {"pending", kAmount, kLedger},
        {"blocked", kAmount, kLedger},
        {"in_payout", kAmount, kLedger},
        {"next_close", kObject, kLedger},
        {"waiting",
         kObjects,
         kEveryone,
         {{"kind", kText, kEveryone},
          {"count", kInteger, kEveryone},
          {"amounts", kObjects, kEveryone},
          {"sentences", kTexts, kEveryone}}},
        {"days", kObjects, kLedger},
        {"clearing", kObjects, kLedger},
        {"creators", kObjects, kLedger},
        {"unattributed", kObjects, kEveryone,
         texts("order_id shop_id") +
             Columns{{"ordered_at", kTime, kEveryone}, {"codes", kTexts, kEveryone}}}};
    return members;
}

const Columns& order_members() {
    static const Columns members{
        {"answer", kObject, kEveryone,
         texts("status sentence next_step command") + all(kTime, kEveryone, "since next_at")},
        {"order_id", kText, kEveryone},
        {"shop_id", kText, kEveryone},
        {"account_id", kText, kEveryone},
        {"currency", kText, kEveryone},
        {"amount", kAmount, kEveryone},
        {"tax", kAmount, kEveryone},
        {"shipping", kAmount, kEveryone},
        {"refund_amount", kAmount, kEveryone},
        {"refund_tax", kAmount, kEveryone},
        {"ordered_at", kTime, kEveryone},
        {"last_updated_at", kTime, kEveryone},
        {"cancelled_at", kTime, kEveryone},
        {"commission_amount", kAmount, kEveryone},
        {"duplicates", kInteger, kEveryone},
        {"device", kText, kEveryone},
        {"codes", kTexts, kEveryone},
        {"numbers", kTexts, kEveryone},
        {"blocked_by", kTexts, kEveryone},
        {"events", kObjects, kEveryone,
         texts("node topic version decision trace explanation") +
             Columns{{"event_seq", kInteger, kEveryone},
                     {"received_at", kTime, kEveryone},
                     {"anomalies", kTexts, kEveryone},
                     {"source", kObject, kEveryone, texts("kind")}}},
        {"refunds", kObjects, kEveryone,
         texts("refund_line_item_id line_item_id version explanation") +
             Columns{{"amount", kAmount, kEveryone},
                     {"tax", kAmount, kEveryone},
                     {"quantity", kInteger, kEveryone},
                     {"counts", kFlag, kEveryone}}},
        {"attribution", kObject, kEveryone, attribution()},
        {"lines", kObjects, kEveryone, order_lines()},
        {"journal", kObjects, kEveryone, order_journal()},
        {"accruals", kObjects, kEveryone,
         texts("creator_id program_id currency explanation") +
             all(kAmount, kEveryone, "accrued manual allocated")},
        {"payouts", kObjects, kEveryone, order_payouts()},
        {"names", kObject, kEveryone}};
    return members;
}

const Columns& link_members() {
    static const Columns members =
        lists::link_list().columns() +
        Columns{{"conversion", kRate, kEveryone},
                {"days", kObjects, kEveryone,
                 texts("day") + all(kInteger, kEveryone, "clicks devices orders")},
                {"amounts", kObjects, kLedger,
                 texts("currency") + all(kAmount, kLedger, "earned adjusted")},
                {"newest_orders", kObjects, kEveryone, lists::order_list().columns()},
                {"newest_orders_cut", kFlag, kEveryone},
                {"names", kObject, kEveryone}};
    return members;
}

const Columns& creator_members() {
    static const Columns members{
        {"creator_id", kText, kEveryone},
        {"account_id", kText, kEveryone},
        {"name", kText, kEveryone},
        {"payee", kText, kPayee},
        {"payee_since", kTime, kLedger},
        {"aliases", kTexts, kEveryone},
        {"programs",
         kObjects,
         kEveryone,
         {{"program_id", kText, kEveryone},
          {"group", kText, kEveryone},
          {"removed", kFlag, kEveryone},
          {"effective_from", kTime, kEveryone},
          {"codes",
           kObjects,
           kEveryone,
           {{"code", kText, kEveryone},
            {"valid_from", kTime, kEveryone},
            {"valid_until", kTime, kEveryone}}}}},
        {"holds",
         kObjects,
         kEveryone,
         {{"program_id", kText, kEveryone},
          {"actor", kText, kLedger},
          {"reason", kText, kLedger},
          {"held_at", kTime, kEveryone}}},
        {"balances", kObjects, kLedger, lists::balance_list().columns()},
        {"next_closes", kObjects, kLedger},
        {"clearing", kObjects, kLedger},
        {"payee_changes", kObjects, kLedger, lists::payee_change_list().columns()},
        {"months", kObjects, kLedger},
        {"click_months", kObjects, kEveryone,
         texts("month") + all(kInteger, kEveryone, "clicks devices orders") +
             Columns{{"conversion", kRate, kEveryone}}},
        {"links", kObjects, kEveryone, lists::link_list().columns()},
        {"payouts", kObjects, kLedger, lists::payout_list().columns()}};
    return members;
}

const Columns& creator_link_members() {
    static const Columns members{{"url", kText, kEveryone},
                                 {"token", kText, kEveryone},
                                 {"expires_at", kTime, kEveryone},
                                 {"creator_id", kText, kEveryone}};
    return members;
}

const Columns& approval_members() {
    static const Columns members{
        {"id", kText, kLedger},          {"command", kText, kLedger},
        {"account_id", kText, kLedger},  {"state", kText, kLedger},
        {"actor", kText, kLedger},       {"reason", kText, kLedger},
        {"received_at", kTime, kLedger}, {"approvers", kTexts, kLedger},
        {"ended_by", kText, kLedger},    {"ended_at", kTime, kLedger},
        {"fields", kObject, kLedger},    {"differences", kObjects, kLedger},
        {"effect", kObject, kLedger},    {"digest", kText, kLedger},
        {"names", kObject, kLedger}};
    return members;
}

const Columns& changes_members() {
    static const Columns members{
        {"changes", kObjects, kLedger}, {"next", kText, kLedger}, {"more", kFlag, kLedger}};
    return members;
}

}  // namespace sluice::serve
