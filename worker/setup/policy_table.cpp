#include "worker/setup/policy_table.hpp"

#include <algorithm>

#include "core/journal/journal.hpp"

namespace sluice::cli {
namespace {

void read_amounts(const TomlTable& table, std::string_view key, std::vector<Money>& amounts) {
    if (const toml::node* const node = table.find(key)) {
        amounts = amounts_of(*node, key);
    }
}

void read_amounts(const TomlTable& table, std::string_view key,
                  std::optional<std::vector<Money>>& amounts) {
    if (const toml::node* const node = table.find(key)) {
        amounts = amounts_of(*node, key);
    }
}

void read_percent(const TomlTable& table, std::string_view key, Decimal& percent) {
    if (const toml::node* const node = table.find(key)) {
        percent = percent_of(*node, key);
    }
}

std::vector<std::string> approvers_of(const toml::node& node) {
    std::vector<std::string> names;
    for (const toml::node& item : list_of(node, "approvers", R"(["frank", "gina"])")) {
        names.push_back(word_of(item, "approvers", R"("frank")"));
        if (std::count(names.begin(), names.end(), names.back()) > 1) {
            fail(item, "approvers: expected each name once");
        }
    }
    return names;
}

std::vector<std::string> blocking_of(const toml::node& node) {
    std::vector<std::string> kinds;
    for (const toml::node& item : list_of(node, "blocking", R"(["CANCEL_NOT_LATER"])")) {
        kinds.push_back(word_of(item, "blocking", R"("CANCEL_NOT_LATER")"));
        if (!parse_anomaly_kind(kinds.back())) {
            fail(item, "blocking: expected kinds of anomalies, such as \"CANCEL_NOT_LATER\"");
        }
        if (std::count(kinds.begin(), kinds.end(), kinds.back()) > 1) {
            fail(item, "blocking: expected each kind once");
        }
    }
    return kinds;
}

}  // namespace

FiledPolicy policy_of(const toml::node& node) {
    const TomlTable table(
        node, "policy",
        {"account", "min_payout", "approve_payout_above", "approve_adjust_above", "approvers",
         "require_payee", "max_rate", "lines_over", "max_share", "amount_limit", "blocking"});
    FiledPolicy filed;
    filed.line = line_of(node);
    const toml::node& account = table.require("account", R"("acme")");
    filed.policy.account_id = AccountId(id_of(account, "account", R"("acme")"));
    filed.account_line = line_of(account);
    read_amounts(table, "min_payout", filed.policy.min_payout);
    read_amounts(table, "approve_payout_above", filed.policy.approve_payout_above);
    read_amounts(table, "approve_adjust_above", filed.policy.approve_adjust_above);
    if (const toml::node* const approvers = table.find("approvers")) {
        filed.policy.approvers = approvers_of(*approvers);
    }
    if (const toml::node* const payee = table.find("require_payee")) {
        filed.policy.require_payee = flag_of(*payee, "require_payee");
    }
    read_percent(table, "max_rate", filed.policy.max_rate);
    read_percent(table, "lines_over", filed.policy.lines_over);
    read_percent(table, "max_share", filed.policy.max_share);
    read_amounts(table, "amount_limit", filed.policy.amount_limit);
    if (const toml::node* const blocking = table.find("blocking")) {
        filed.policy.blocking = blocking_of(*blocking);
    }
    if (const Status checked = validate(filed.policy); !checked.ok()) {
        fail(node, checked.error().message);
    }
    return filed;
}

}  // namespace sluice::cli
