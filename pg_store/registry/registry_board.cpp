#include "pg_store/registry/registry_board.hpp"

#include <chrono>

#include "pg_store/connection/session.hpp"
#include "pg_store/schema/migrate.hpp"

namespace sluice::pg {
namespace {

constexpr std::chrono::seconds kPatience{30};

constexpr const char* kPublish =
    "INSERT INTO sluice_ledger.registry AS r (one, source, revision, file) "
    "VALUES (true, $1, $2, $3) ON CONFLICT (one) DO UPDATE "
    "SET source = excluded.source, revision = excluded.revision, file = excluded.file, "
    "published_at = now() "
    "WHERE $4 OR (r.source = excluded.source AND r.revision <= excluded.revision)";
constexpr const char* kMark = "SELECT source, revision FROM sluice_ledger.registry";
constexpr const char* kFetch =
    "SELECT source, revision, "
    "CASE WHEN source = $1 AND revision = $2 THEN ''::bytea ELSE file END "
    "FROM sluice_ledger.registry";

/// Runs `use` in a session of its own. What it throws becomes an error.
template <class Use>
auto in_session(const Url& url, bool writes, Use&& use)
    -> decltype(use(*open_session(url, writes, {}))) {
    try {
        const auto session = open_session(
            url, writes, [](std::chrono::milliseconds waited) { return waited < kPatience; });
        if (Status fits = check_schema(*session); !fits) {
            return fits.error();
        }
        return use(*session);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

RegistryMark read_mark(RowReader& row) {
    RegistryMark mark;
    mark.source = row.string();
    mark.revision = row.u8();
    return mark;
}

}  // namespace

Status publish_registry(const Url& url, const PublishedRegistry& registry, bool force) {
    return in_session(url, true, [&](Connection& session) -> Status {
        RowWriter row;
        row.text(registry.mark.source)
            .u8(registry.mark.revision)
            .bytes(registry.text)
            .boolean(force);
        if (session.query_text(kPublish, row).affected() != 0) {
            return Status::success();
        }
        const Rows there = session.query_text(kMark);
        RowReader first = there.row(0);
        const RegistryMark mark = read_mark(first);
        return Error{ErrorCode::kConflict, "revision " + std::to_string(mark.revision) +
                                               " of store " + mark.source +
                                               " is published there already: --force replaces it"};
    });
}

Result<PublishedRegistry> fetch_registry(const Url& url, const std::optional<RegistryMark>& known) {
    return in_session(url, false, [&](Connection& session) -> Result<PublishedRegistry> {
        RowWriter row;
        row.text(known ? known->source : "").u8(known ? known->revision : 0);
        const Rows there = session.query_text(kFetch, row);
        if (there.empty()) {
            return Error{ErrorCode::kNotFound,
                         "no registry is published there: run \"sluice registry export --to URL\" "
                         "on the source"};
        }
        RowReader first = there.row(0);
        PublishedRegistry registry;
        registry.mark = read_mark(first);
        registry.text = first.string();
        return registry;
    });
}

}  // namespace sluice::pg
