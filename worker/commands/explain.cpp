// sluice explain ORDER|RECEIPT
#include "core/explain/explain.hpp"

#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/json.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/commands/explain_receipt.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

struct ExplainCommand {
    std::string subject;  ///< An order with --shop, a receipt without.
    std::optional<ShopId> shop;
    std::string ledger;
    Format format = Format::kTable;
};

Result<std::string> explained_order(LedgerReader& ledger, const ExplainCommand& command,
                                    const OrderId& order) {
    ReportFilter filter;
    filter.shop = command.shop;
    const std::vector<ShopRow> shops = shops_of(ledger, filter);
    if (shops.empty()) {
        return Error{ErrorCode::kNotFound,
                     "shop " + command.shop->str() + " has no applied input yet"};
    }
    const auto explained =
        explain_order(ledger, {shops.front().account, shops.front().shop, order});
    if (!explained.ok()) {
        return explained.error();
    }
    return command.format == Format::kJson ? explanation_json(*explained)
                                           : explanation_text(*explained);
}

Result<std::string> explanation_of(const Frame& frame, LedgerReader& ledger,
                                   const ExplainCommand& command) {
    if (!command.shop) {
        const auto name = parse_record_name(command.subject);
        return name.ok() ? explain_receipt(frame, ledger, *name, command.format)
                         : Result<std::string>(Error{name.error().code,
                                                     command.subject + ": " + name.error().message +
                                                         "; for an order, add --shop S"});
    }
    const auto order = parse_order_id(command.subject);
    return order.ok() ? explained_order(ledger, command, *order)
                      : Result<std::string>(order.error());
}

void write_lines_printable(const std::string& text) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = printable(std::string_view(text).substr(begin, end - begin));
        std::printf("%s\n", line.c_str());
        begin = end + 1;
    }
}

Status run_explain(const Frame& frame, const ExplainCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        const auto explanation = explanation_of(frame, ledger, command);
        if (!explanation.ok()) {
            return explanation.error();
        }
        if (command.format == Format::kJson) {
            std::printf("%s\n", indented(*explanation, 0).c_str());
        } else {
            write_lines_printable(*explanation);
        }
        return Status::success();
    });
}

Result<Format> parse_text_or_json(std::string_view text) {
    auto format = parse_format(text);
    if (!format.ok() || format.value() == Format::kCsv) {
        return Error{ErrorCode::kInvalid, "expected table or json"};
    }
    return format;
}

}  // namespace

void declare_explain(Subcommand app) {
    auto [explain, command] =
        add_command(app, "explain", "One order, from its events to its journal", run_explain);
    add_text(explain, "ORDER", "", command.subject,
             "platform_order_id; without --shop: a receipt, as $sluice_receipt shows it")
        .required();
    add_id(explain, "--shop", "S", command.shop, "The order's shop");
    add_ledger(explain, command.ledger);
    add_value(explain, "--format", "table|json", command.format, parse_text_or_json,
              "How to write it (default table: text)");
}

}  // namespace sluice::cli
