#include "worker/ledger_access.hpp"

#include "lmdb_store/ledger.hpp"
#include "lmdb_store/queue.hpp"
#include "worker/cli_values.hpp"

namespace sluice::cli {
namespace {

Result<std::string> parse_ledger_url(std::string_view text) {
    if (!text.starts_with("postgres://") && !text.starts_with("postgresql://")) {
        return Error{ErrorCode::kInvalid, "expected postgres://USER@HOST/DATABASE"};
    }
    return std::string(text);
}

}  // namespace

void add_ledger(CLI::App& app, std::string& target) {
    add_value(app, "--ledger", "URL", target, parse_ledger_url,
              "postgres://... (default: the store's own ledger)");
}

Status with_snapshot(const Frame& frame, const std::string& ledger_url,
                     const std::function<Status(LedgerReader&)>& read) {
    if (!ledger_url.empty()) {
        return Error{ErrorCode::kUnsupported, "this build has no PostgreSQL ledger"};
    }
    auto queue = store::Queue::open(frame.paths(), {});
    if (!queue.ok()) {
        return queue.error();
    }
    auto ledger =
        store::EmbeddedLedger::open(frame.paths().ledger, store::EmbeddedLedger::Mode::kReadOnly);
    if (!ledger.ok()) {
        return ledger.error();
    }
    try {
        const auto snapshot = ledger.value()->snapshot(queue.value()->uuid());
        return read(*snapshot);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::cli
