#include "tool/finance/code_orders.hpp"

#include <vector>

#include "core/lists/names.hpp"
#include "core/lists/places.hpp"
#include "core/rules/attribution.hpp"
#include "core/values/texts.hpp"
#include "program/cli/cli_values.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

bool has_order(LedgerReader& ledger, AccountNumber account, const CodeOptions& options) {
    bool found = false;
    visit_code_orders(ledger, account, options, [&found](const OrderState& /*order*/) {
        found = true;
        return false;
    });
    return found;
}

/// Sets the account, unless one is named. The number is that of the account.
Result<AccountNumber> find_account_of_code(LedgerReader& ledger, const CodeOptions& options,
                                           SubmitOptions& submit) {
    std::vector<std::pair<AccountNumber, AccountId>> found;
    for (const auto& [number, id] : lists::account_ids(ledger)) {
        if (submit.account ? *submit.account == id : has_order(ledger, number, options)) {
            found.emplace_back(number, id);
        }
    }
    if (found.empty()) {
        return not_found("no order carries code " + options.code + " in this time");
    }
    if (found.size() > 1) {
        const std::string names =
            joined(found, ", ", [](const auto& account) { return account.second.str(); });
        return conflict("orders of accounts " + names + " carry code " + options.code +
                        ": name one with --account");
    }
    submit.account = found.front().second;
    return found.front().first;
}

}  // namespace

Result<std::string> parse_code(std::string_view text) {
    auto code = parse_typed(text);
    return code.ok() && code->empty() ? invalid("expected a code that is not empty") : code;
}

Option add_code_options(Subcommand app, CodeOptions& target) {
    const Option code = add_value(app, "--code", "K", target.code, parse_code,
                                  "Every order that carries this discount code");
    const Option from = add_value(app, "--from", "T", target.from, parse_time,
                                  "Orders of --code placed from this time on (RFC 3339)");
    add_value(app, "--until", "T", target.until, parse_time,
              "Orders of --code placed before this time (RFC 3339; default: all later ones)")
        .needs(code);
    code.needs(from);
    from.needs(code);
    return code;
}

void visit_code_orders(LedgerReader& ledger, AccountNumber account, const CodeOptions& options,
                       const Visitor<OrderState>& visit) {
    constexpr std::size_t kAtOnce = 256;
    const Digest256 digest = code_digest(options.code);
    lists::OrderListing listing{
        .account = account, .code = options.code, .from = options.from, .to = options.until};
    listing.newest_first = false;
    bool goes_on = true;
    while (goes_on) {
        const auto places = lists::order_places(ledger, listing, kAtOnce);
        lists::visit_places(ledger, account, places, [&](const OrderState& order) {
            goes_on = !carries_code(order, digest) || visit(order);
            return goes_on;
        });
        if (places.size() < kAtOnce) {
            return;
        }
        listing.after = places.back();
    }
}

Result<CodeOrders> find_code_orders(const Frame& frame, const CodeOptions& options,
                                    SubmitOptions& submit,
                                    const std::function<bool(const OrderState&)>& filter) {
    CodeOrders found;
    found.code = options.code;
    found.from = options.from;
    found.until = options.until;
    const Status read = with_snapshot(
        frame, submit.ledger_url, ReadFrom::kPrimary, [&](LedgerReader& ledger) -> Status {
            const auto account = find_account_of_code(ledger, options, submit);
            if (!account.ok()) {
                return account.error();
            }
            visit_code_orders(ledger, *account, options, [&](const OrderState& order) {
                if (filter(order)) {
                    found.orders.push_back({order.key.shop, order.key.order_id});
                }
                return found.orders.size() <= kCodeOrdersMax;
            });
            return Status::success();
        });
    if (!read.ok()) {
        return read.error();
    }
    if (found.orders.size() > kCodeOrdersMax) {
        return Error{ErrorCode::kLimit, "more than " + std::to_string(kCodeOrdersMax) +
                                            " orders of code " + options.code +
                                            ": take a shorter time with --until, then the next"};
    }
    return found;
}

}  // namespace sluice::cli
