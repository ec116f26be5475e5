#include "worker/ledger_access.hpp"

#include "worker/cli_values.hpp"
#include "worker/command_client.hpp"

namespace sluice::cli {
namespace {

Result<std::string> parse_ledger_url(std::string_view text) {
    if (!text.starts_with("postgres://") && !text.starts_with("postgresql://")) {
        return Error{ErrorCode::kInvalid, "expected postgres://USER@HOST/DATABASE"};
    }
    return std::string(text);
}

Error no_postgres() {
    return {ErrorCode::kUnsupported, "this build has no PostgreSQL ledger"};
}

}  // namespace

void add_ledger(CLI::App& app, std::string& target) {
    add_value(app, "--ledger", "URL", target, parse_ledger_url,
              "postgres://... (default: the store's own ledger)");
}

store::QueueOptions queue_options() {
    store::QueueOptions options;
    options.idempotency_ttl_seconds = 0;
    return options;
}

Result<worker::LedgerOpener> ledger_for_reading(const Frame& frame, const std::string& ledger_url) {
    if (!ledger_url.empty()) {
        return no_postgres();
    }
    return worker::embedded_commands(frame.paths()).open_for_reading;
}

Result<worker::LedgerOpener> ledger_for_writing(const Frame& frame, const std::string& ledger_url) {
    if (!ledger_url.empty()) {
        return no_postgres();
    }
    return worker::embedded_ledger(frame.paths());
}

Status with_snapshot(const Frame& frame, const std::string& ledger_url,
                     const std::function<Status(LedgerReader&)>& read) {
    auto opener = ledger_for_reading(frame, ledger_url);
    if (!opener.ok()) {
        return opener.error();
    }
    std::string node;
    {
        auto queue = store::Queue::open(frame.paths(), queue_options());
        if (!queue.ok()) {
            return queue.error();
        }
        node = queue.value()->uuid();
    }
    try {
        auto ledger = opener.value()();
        if (!ledger.ok()) {
            return ledger.error();
        }
        const auto snapshot = ledger.value()->snapshot(node);
        return read(*snapshot);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::cli
