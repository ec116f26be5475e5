// sluice explain ORDER
#include "core/explain/explain.hpp"

#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/raw_json.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

struct ExplainCommand {
    OrderId order;
    ShopId shop;
    std::string ledger;
    Format format = Format::kTable;
};

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
        ReportFilter filter;
        filter.shop = command.shop;
        const std::vector<ShopRow> shops = shops_of(ledger, filter);
        if (shops.empty()) {
            return Error{ErrorCode::kNotFound,
                         "shop " + command.shop.str() + " has no applied input yet"};
        }
        const ShopRow& shop = shops.front();
        const auto explained = explain_order(ledger, {shop.account, shop.shop, command.order});
        if (!explained.ok()) {
            return explained.error();
        }
        if (command.format == Format::kJson) {
            std::printf("%s\n", indented(explanation_json(explained.value()), 0).c_str());
        } else {
            write_lines_printable(explanation_text(explained.value()));
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

void declare_explain(CLI::App& app, Frame& frame) {
    CLI::App& explain = add_command(app, "explain", "One order, from its events to its journal");
    ExplainCommand& command = on_run(explain, frame, run_explain);
    add_value(explain, "ORDER", "ORDER", command.order, parse_order_id, "platform_order_id")
        .required();
    add_id(explain, "--shop", "S", command.shop, "Its shop").required();
    add_ledger(explain, command.ledger);
    add_value(explain, "--format", "table|json", command.format, parse_text_or_json,
              "How to write it (default table: text)");
}

}  // namespace sluice::cli
