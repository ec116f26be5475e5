#include "serve/read/masks.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "serve/read/resource.hpp"

namespace sluice::serve {
namespace {

using reports::Json;

constexpr std::array<std::string_view, 3> kPayees{"payee", "old_payee", "new_payee"};

/// The members of one resource that callers without read_ledger see. A member below another one is
/// seen only if both are named.
struct ShownMembers {
    std::string_view path;
    std::string_view names;  ///< Separated by spaces.
};

constexpr std::string_view kProgram =
    "program_id account_id shops starts_at ends_at late_days window_days base precedence "
    "clearing_days default_rate default_tiers default_tiers.from default_tiers.rate max_per_order "
    "rules rules.match rules.value rules.creator rules.group rules.customer rules.from rules.until "
    "rules.min_order_amount rules.rate rules.tiers rules.tiers.from rules.tiers.rate version "
    "applied_at";

/// The rules of the account, without who approves.
constexpr std::string_view kPolicy =
    "policy policy.min_payout policy.approve_payout_above policy.approve_adjust_above "
    "policy.approve_attribution_above policy.approve_run_above policy.approve_rates "
    "policy.approve_period_close policy.approve_payees_file policy.require_payee "
    "policy.approve_payee_change policy.payee_cooling_days policy.payout_day policy.max_rate "
    "policy.lines_over policy.max_share "
    "policy.amount_limit policy.blocking";

constexpr std::array kShown{
    ShownMembers{"me",
                 "user token_id role scopes accounts accounts.account_id accounts.role "
                 "accounts.scopes limit"},
    ShownMembers{"today",
                 "account_id day yesterday yesterday.orders yesterday.attributed waiting "
                 "waiting.kind waiting.count waiting.amounts unattributed unattributed.order_id "
                 "unattributed.shop_id unattributed.ordered_at unattributed.codes"},
    ShownMembers{"search", "kind id shop_id sentence creator_id match"},
    ShownMembers{"orders",
                 "order_id shop_id account_id creator_id program_id attribution_types "
                 "commission_amount accrued commission_currency amount tax shipping refund_amount "
                 "refund_tax currency cancelled_at ordered_at last_updated_at status blocked_by "
                 "payouts node"},
    ShownMembers{
        "order",
        "answer answer.status answer.sentence answer.since answer.next_at answer.next_step "
        "answer.command order_id "
        "shop_id account_id currency amount tax shipping refund_amount refund_tax ordered_at "
        "last_updated_at cancelled_at commission_amount duplicates device codes blocked_by events "
        "events.node events.event_seq events.topic events.version events.received_at "
        "events.decision events.trace events.explanation events.anomalies refunds "
        "refunds.refund_line_item_id refunds.line_item_id refunds.amount refunds.tax "
        "refunds.quantity refunds.version refunds.counts refunds.explanation attribution "
        "attribution.creator_id attribution.program_id attribution.explanation "
        "attribution.candidates attribution.candidates.type attribution.candidates.source "
        "attribution.candidates.creator_id attribution.candidates.program_id "
        "attribution.candidates.won attribution.candidates.explanation lines lines.line_item_id "
        "lines.sku lines.variant_sku lines.amount lines.tax lines.quantity "
        "lines.in_newest_payload lines.rule lines.rate lines.base lines.refund lines.calculation "
        "lines.rounding lines.explanation lines.commission journal journal.node journal.entry "
        "journal.event_seq journal.line_item_id journal.command_id journal.creator_id "
        "journal.program_id journal.currency journal.amount journal.debit_account "
        "journal.credit_account journal.reason journal.accounting_date journal.recorded_at "
        "accruals accruals.creator_id accruals.program_id accruals.currency accruals.accrued "
        "accruals.manual accruals.allocated accruals.explanation payouts payouts.payout_id "
        "payouts.node payouts.state payouts.creator_id payouts.program_id payouts.currency "
        "payouts.amount payouts.closed_at payouts.sent_at payouts.ended_at payouts.items "
        "payouts.items.line_item_id payouts.items.kind payouts.items.amount"},
    ShownMembers{"anomalies",
                 "node event_seq account_id shop_id order_id kind recorded_at count message blocks "
                 "acknowledged_at value acknowledged_value"},
    ShownMembers{"holds", "account_id shop_id order_id creator_id program_id held_at"},
    ShownMembers{"shops",
                 "shop_id account_id suspended created_at last_event_at silence silence.state "
                 "silence.sentence silence.silent silence.usual silence.limit dead_letters"},
    ShownMembers{"creators", "creator_id program_id account_id group codes name removed"},
    ShownMembers{"creator",
                 "creator_id account_id name aliases programs programs.program_id programs.group "
                 "programs.removed programs.effective_from programs.codes programs.codes.code "
                 "programs.codes.valid_from programs.codes.valid_until holds holds.program_id "
                 "holds.held_at"},
    ShownMembers{"programs", kProgram},
    ShownMembers{"program", kProgram},
    ShownMembers{"program", kPolicy},
    ShownMembers{"program/versions", kProgram},
};

using Names = std::set<std::string, std::less<>>;

/// Returns an empty set for a resource that needs read_ledger, of which others see nothing.
const Names& names_of(std::string_view path) {
    static const std::map<std::string_view, Names> all = [] {
        std::map<std::string_view, Names> lists;
        for (const ShownMembers& shown : kShown) {
            const std::vector<std::string_view> names = words_of(shown.names);
            lists[shown.path].insert(names.begin(), names.end());
        }
        return lists;
    }();
    static const Names none;
    const auto found = all.find(path);
    return found == all.end() ? none : found->second;
}

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::string masked_payee(std::string_view payee) {
    constexpr std::string_view kDots = "••••";
    constexpr std::size_t kShownAtEnd = 4, kShortest = 8;
    const auto count =
        std::count_if(payee.begin(), payee.end(), [](char c) { return !is_continuation(c); });
    if (static_cast<std::size_t>(count) < kShortest) {
        return std::string(kDots);
    }
    std::size_t at = payee.size();
    for (std::size_t shown = 0; shown < kShownAtEnd;
         shown += is_continuation(payee[at]) ? 0U : 1U) {
        --at;
    }
    return std::string(kDots) + std::string(payee.substr(at));
}

Masks::Masks(std::string_view path, bool sees_ledger)
    : shown_(&names_of(path)), sees_ledger_(sees_ledger) {}

bool Masks::shows(const std::string& path) const {
    return path == "cut" || path.starts_with("cut.") || shown_->contains(path);
}

void Masks::mask_members(Json& value, const std::string& path) const {
    const std::vector<std::string>& names = value.names();
    for (std::size_t i = 0; i < value.items().size(); ++i) {
        Json& item = value.items()[i];
        if (names.empty()) {
            mask_members(item, path);
        } else {
            mask_cell(path.empty() ? names[i] : path + "." + names[i], item);
        }
    }
}

void Masks::mask_cell(const std::string& path, Json& value) const {
    const std::string_view name = std::string_view(path).substr(path.rfind('.') + 1);
    if (value.is_null() || (!sees_ledger_ && !shows(path))) {
        value = {};
    } else if (std::find(kPayees.begin(), kPayees.end(), name) != kPayees.end()) {
        value = masked_payee(value.cell());
    } else {
        mask_members(value, path);
    }
}

void mask_approval(Json& approval) {
    bool is_payee = false;
    approval["differences"].change_members([&is_payee](std::string_view name, Json& value) {
        if (name == "field") {
            is_payee = value.cell().ends_with(".payee");
        } else if (is_payee && !value.is_null()) {
            value = masked_payee(value.cell());
        }
    });
    if (approval["command"].cell() != "creator import" || approval["fields"].is_null()) {
        return;
    }
    Json rows = Json::array();
    for (const Json& row : approval["fields"]["rows"].items()) {
        Json masked = Json::array();
        for (const Json& cell : row.items()) {
            const bool is_last = &cell == &row.items().back();  // the payee
            masked.push_back(is_last && !cell.is_null() ? Json(masked_payee(cell.cell())) : cell);
        }
        rows.push_back(std::move(masked));
    }
    approval["fields"]["rows"] = std::move(rows);
}

}  // namespace sluice::serve
