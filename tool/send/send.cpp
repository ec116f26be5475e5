// sluice send events|orders|products|clicks
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "core/protocol/order_event.hpp"
#include "os/files/file_io.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "program/system/process.hpp"
#include "tool/send/sender.hpp"
#include "tool/send/source.hpp"
#include "tool/shops/shop_settings.hpp"
#include "tool/shops/source_options.hpp"
#include "tool/shops/translated_orders.hpp"

namespace sluice::cli {
namespace {

enum class Records : std::uint8_t { kEvents, kProducts, kClicks };

struct SendCommand {
    std::string file;
    SendCredentials credentials;
    std::string token_file;
    SendLimits limits;
    std::string rejects_file;
    bool check = false;
    bool strict = false;
    Records records = Records::kEvents;
    OrderSource source;       ///< `send orders`: of the platform's file.
    StatedSettings settings;  ///< `send orders`.

    [[nodiscard]] bool translates() const noexcept { return source.platform != Platform::kNone; }
};

constexpr const char* kStateSuffix = ".sluice-send";

// ---- The orders of a platform's file ------------------------------------------------------------

/// A record's line is the number of its order in the file. Counts the orders that a webhook would
/// not store.
class PlatformRecords : public RecordFile {
public:
    PlatformRecords(TranslatedOrders orders, LeftOut& left_out)
        : orders_(std::move(orders)), left_out_(left_out) {}

    Result<bool> next(SendRecord& record) override {
        Translation found;
        const std::uint64_t begin = orders_.bytes_read();
        do {
            if (!orders_.next(found)) {
                return false;
            }
        } while (left_out_.add(found));
        record = {orders_.number(), 0, orders_.bytes_read() - begin, std::string(found.body), {}};
        if (found.kind != TranslationKind::kOrder) {
            record.problem = problem_of(found);
        }
        return true;
    }
    std::uint64_t bytes_total() const noexcept override { return orders_.bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return orders_.bytes_read(); }

private:
    TranslatedOrders orders_;
    LeftOut& left_out_;
};

// ---- What is sent, and how ----------------------------------------------------------------------

/// @param left_out  Counts the orders of a platform's file that are not sent.
Result<std::unique_ptr<RecordFile>> open_source(const SendCommand& command, LeftOut& left_out) {
    if (command.translates()) {
        return TranslatedOrders::open(command.file, command.source,
                                      anon_field_name(command.credentials.header_prefix))
            .and_then([&left_out](TranslatedOrders orders) {
                return Result(std::make_unique<PlatformRecords>(std::move(orders), left_out));
            });
    }
    const bool is_csv = command.file.ends_with(".csv");
    return is_csv && command.records == Records::kProducts ? open_product_csv(command.file)
           : is_csv && command.records == Records::kClicks
               ? open_click_csv(command.file, anon_field_name(command.credentials.header_prefix))
               : open_ndjson(command.file);
}

/// Watches catalog records for unknown fields that resemble known ones, which are usually misspelt.
std::unique_ptr<RecordFile> watched(const SendCommand& command, std::unique_ptr<RecordFile> source,
                                    Rejects& doubts) {
    return command.records == Records::kProducts
               ? watched_for_misspellings(std::move(source), command.strict ? nullptr : &doubts)
               : std::move(source);
}

std::unique_ptr<SendProtocol> protocol_of(const SendCommand& command, std::string secret) {
    SendCredentials credentials = command.credentials;
    credentials.secret = std::move(secret);
    switch (command.records) {
        case Records::kProducts:
            return product_protocol(std::move(credentials));
        case Records::kClicks:
            return click_protocol(std::move(credentials));
        case Records::kEvents:
            break;
    }
    return event_protocol(std::move(credentials));
}

Result<Rejects> open_rejects(const SendCommand& command, bool append) {
    Rejects rejects(command.file);
    if (!command.rejects_file.empty()) {
        if (Status opened = rejects.write_to(command.rejects_file, append); !opened.ok()) {
            return opened.error();
        }
    }
    return rejects;
}

Status check_records(const SendCommand& command) {
    LeftOut left_out;
    auto source = open_source(command, left_out);
    auto rejects = source.ok() ? open_rejects(command, false) : source.error();
    if (!rejects.ok()) {
        return rejects.error();
    }
    Rejects doubts(command.file);
    const auto records_source = watched(command, std::move(source).value(), doubts);
    const auto protocol = protocol_of(command, {});
    std::uint64_t records = 0;
    std::uint64_t wrong = 0;
    SendRecord record;
    while (true) {
        auto got = records_source->next(record);
        if (!got.ok()) {
            return got.error();
        }
        if (!got.value()) {
            break;
        }
        (void)protocol->examine(record);
        const std::vector<std::string> problems = record.problem.empty()
                                                      ? protocol->check(record)
                                                      : std::vector<std::string>{record.problem};
        for (const std::string& problem : problems) {
            rejects->add(record.line, records_source->placed(record, problem));
        }
        ++records;
        wrong += problems.empty() ? 0u : 1u;
    }
    doubts.print_summary(stderr);
    rejects->print_summary(stdout);
    left_out.print();
    if (Status written = rejects->flush(); !written.ok()) {
        return written;
    }
    if (wrong > 0) {
        return invalid(std::to_string(wrong) + " of " + std::to_string(records) +
                       " records would be rejected");
    }
    std::printf("%llu records are valid\n", static_cast<unsigned long long>(records));
    return Status::success();
}

/// Locks the file, because two runs would send its records twice.
Result<Fd> lock_input(const std::string& file) {
    Fd fd(open_retrying(file.c_str(), O_RDONLY));
    if (!fd.ok()) {
        return system_error(errno, "read", file);
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        return Error{ErrorCode::kBusy, file + ": another run is sending this file"};
    }
    return fd;
}

Result<SendState> load_state(const SendCommand& command, const SendProtocol& protocol) {
    const auto& credentials = command.credentials;
    const std::string topic =
        credentials.topic ? std::string(to_string(*credentials.topic)) : std::string();
    auto state =
        SendState::load(command.file + kStateSuffix, {protocol.url(), credentials.shop, topic});
    if (!state.ok() || state->is_new()) {
        return state;
    }
    LeftOut left_out;
    auto source = open_source(command, left_out);
    if (Status same = source.ok() ? state->verify(*source.value()) : source.error(); !same.ok()) {
        return same.error();
    }
    return state;
}

void print_summary(const SendSummary& summary) {
    const auto number = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
    std::printf("%llu sent, %llu rejected", number(summary.sent), number(summary.rejected));
    if (summary.skipped > 0) {
        std::printf(", %llu settled by an earlier run", number(summary.skipped));
    }
    std::printf("\n");
}

Status send_file(const SendCommand& command) {
    auto secret = read_secret(command.token_file);
    const auto lock = secret.ok() ? lock_input(command.file) : secret.error();
    if (!lock.ok()) {
        return lock.error();
    }
    const auto protocol = protocol_of(command, std::move(secret).value());
    auto state = load_state(command, *protocol);
    if (!state.ok()) {
        return state.error();
    }
    LeftOut left_out;
    auto source = open_source(command, left_out);
    auto rejects = source.ok() ? open_rejects(command, !state->is_new()) : source.error();
    if (!rejects.ok()) {
        return rejects.error();
    }
    Rejects doubts(command.file);
    const auto records = watched(command, std::move(source).value(), doubts);
    const auto ended = send_records(*records, *protocol, state.value(), command.limits,
                                    rejects.value(), catch_stop_signals());
    doubts.print_summary(stderr);
    rejects->print_summary(stdout);
    left_out.print();
    if (!ended.ok()) {
        return ended.error();
    }
    print_summary(*ended);
    return ended->rejected == 0
               ? Status::success()
               : invalid(std::to_string(ended->rejected) + " records were rejected");
}

Status run_send(const Frame& /*frame*/, const SendCommand& command) {
    return command.check ? check_records(command) : send_file(command);
}

Status run_send_orders(const Frame& frame, const SendCommand& given) {
    SendCommand command = given;
    Status known = assign(
        command.source.settings,
        shop_settings(frame, command.credentials.shop, command.source.platform, command.settings));
    return known.ok() ? run_send(frame, command) : known;
}

Result<std::string> parse_url(std::string_view text) {
    if (!text.starts_with("http://") && !text.starts_with("https://")) {
        return invalid("expected an address such as https://shop.example.com");
    }
    for (const std::string_view path : {"/event/ecomm", "/product-data", "/event/click"}) {
        const std::string_view trimmed = text.substr(0, text.find_last_not_of('/') + 1);
        if (trimmed.ends_with(path)) {
            return invalid("expected the base address, without " + std::string(path) + ": " +
                           std::string(trimmed.substr(0, trimmed.size() - path.size())));
        }
    }
    return std::string(text);
}

template <bool products>
Result<Topic> parse_topic_of(std::string_view text) {
    const auto topic = parse_name<Topic>(text);
    if (!topic || (products ? !is_catalog(*topic) : !is_order(*topic))) {
        return invalid(products ? "expected PRODUCT_UPSERT or PRODUCT_DELETE"
                                : "expected ORDER_CREATE, ORDER_UPDATE or ORDER_CANCEL");
    }
    return *topic;
}

void declare_target(Subcommand app, SendCommand& command) {
    const Option check = add_flag(app, "--check", command.check,
                                  "Only report the records that the server would reject");
    const Option url = add_value(app, "--url", "BASE", command.credentials.url, parse_url,
                                 "Base URL in front of the endpoint's path");
    const Option shop = add_id(app, "--shop", "S", command.credentials.shop, "Shop of the records");
    add_text(app, "--rejects", "FILE", command.rejects_file,
             "File for the line and problem of every rejected record");
    add_count(
        app, "--share", "PERCENT", command.limits.share_percent, 1, 100,
        "Maximum share of the account's rate limit, in percent (default: 50; 100 leaves none to "
        "others)");
    const Option token_file = add_text(app, "--token-file", "F", command.token_file,
                                       "File with the token's secret; - means standard input");
    add_header_prefix(app, command.credentials.header_prefix);
    app.require([check, url, shop, token_file] {
        return check.is_given() || (url.is_given() && shop.is_given() && token_file.is_given()) ? ""
               : !url.is_given()  ? "--url"
               : !shop.is_given() ? "--shop"
                                  : "--token-file";
    });
}

void add_rate(Subcommand app, SendCommand& command) {
    add_count(app, "--rate", "N", command.limits.requests_per_second, 1, 1'000'000,
              "Maximum number of requests per second (default: unlimited)");
}

void declare_orders(Subcommand group) {
    auto [orders, command] = add_command(
        group, "orders", "Translate orders of a platform's API, and send them as events",
        run_send_orders);
    orders.keeps_user();
    command.credentials.topic = Topic::kOrderUpdate;
    add_text(orders, "FILE", "", command.file,
             "Orders of the platform's API: an array, an object with orders, or one on each line")
        .required();
    add_source(orders, command.source).required();
    add_value(orders, "--from", "TIME", command.settings.from, parse_time,
              "Leave out orders placed before this time");
    add_shopify_settings(orders, command.settings, "the shop's");
    declare_target(orders, command);
    add_rate(orders, command);
}

}  // namespace

void declare_send(Subcommand app) {
    const Subcommand group =
        app.add_group("send", "Sign records of a file and post them to a server");
    auto [events, orders] =
        add_command(group, "events", "Send order events, one JSON payload on each line", run_send);
    events.keeps_user();
    add_text(events, "FILE", "", orders.file, "NDJSON file").required();
    declare_target(events, orders);
    add_value(
        events, "--topic", "T", orders.credentials.topic, parse_topic_of<false>,
        "Topic of all records (default: ORDER_CANCEL for a cancelled order, else ORDER_CREATE)");
    add_rate(events, orders);

    declare_orders(group);
    auto [products, batch] =
        add_command(group, "products", "Send products, in batches of 1000", run_send);
    products.keeps_user();
    batch.records = Records::kProducts;
    batch.credentials.topic = Topic::kProductUpsert;
    add_text(products, "FILE", "", batch.file,
             "NDJSON file, or a CSV file (*.csv) whose first line has the field names")
        .required();
    declare_target(products, batch);
    add_value(products, "--topic", "T", batch.credentials.topic, parse_topic_of<true>,
              "Topic: PRODUCT_UPSERT (default) or PRODUCT_DELETE");
    add_flag(products, "--strict", batch.strict,
             "Reject a record with a field that looks misspelt (default: warn)");

    auto [clicks, clicked] =
        add_command(group, "clicks", "Send clicks, in batches of 1000", run_send);
    clicks.keeps_user();
    clicked.records = Records::kClicks;
    add_text(clicks, "FILE", "", clicked.file,
             "NDJSON file, or a CSV file (*.csv) whose first line has the field names")
        .required();
    declare_target(clicks, clicked);
}

}  // namespace sluice::cli
