#include "worker/ledger_access.hpp"

#include "pg_store/url.hpp"
#include "worker/cli_values.hpp"
#include "worker/command_client.hpp"

namespace sluice::cli {
namespace {

Result<std::string> parse_ledger_url(std::string_view text) {
    const auto url = pg::Url::parse(text);
    if (!url.ok()) {
        return url.error();
    }
    return std::string(text);
}

Result<worker::LedgerOpener> postgres_ledger(const std::string& ledger_url,
                                             pg::PostgresLedger::Mode mode,
                                             const pg::LedgerOptions& options) {
    auto url = pg::Url::parse(ledger_url);
    if (!url.ok()) {
        return url.error();
    }
    return worker::LedgerOpener(
        [url = *url, mode, options,
         doubt = std::make_shared<pg::InDoubt>()]() -> Result<std::unique_ptr<Ledger>> {
            auto opened = pg::PostgresLedger::open(url, mode, options, doubt);
            if (!opened.ok()) {
                return opened.error();
            }
            return std::unique_ptr<Ledger>(std::move(opened).value());
        });
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
        return postgres_ledger(ledger_url, pg::PostgresLedger::Mode::kReadOnly, {});
    }
    return worker::embedded_commands(frame.paths()).open_for_reading;
}

Result<worker::LedgerOpener> ledger_for_writing(const Frame& frame, const std::string& ledger_url,
                                                const pg::LedgerOptions& options) {
    if (!ledger_url.empty()) {
        return postgres_ledger(ledger_url, pg::PostgresLedger::Mode::kReadWrite, options);
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
