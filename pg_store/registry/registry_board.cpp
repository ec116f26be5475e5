#include "pg_store/registry/registry_board.hpp"

#include <chrono>

#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

constexpr std::chrono::seconds kPatience{30};

constexpr const char* kPublish =
    "INSERT INTO sluice_ledger.registry AS r (one, source, revision, digest, file) "
    "VALUES (true, $1, $2, $3, $4) ON CONFLICT (one) DO UPDATE "
    "SET source = excluded.source, revision = excluded.revision, digest = excluded.digest, "
    "file = excluded.file, published_at = now() "
    "WHERE r.source = $5 AND r.revision = $6 AND r.digest = $7";
constexpr const char* kRevision = "SELECT source, revision, digest FROM sluice_ledger.registry";
constexpr const char* kFetch =
    "SELECT source, revision, digest, "
    "CASE WHEN source = $1 AND revision = $2 AND digest = $3 THEN ''::bytea ELSE file END "
    "FROM sluice_ledger.registry";

bool is_patient(std::chrono::milliseconds waited) {
    return waited < kPatience;
}

RegistryMark read_mark(RowReader& row) {
    return RegistryMark{.source = row.string(), .revision = row.u8(), .digest = row.string()};
}

void write_mark(const RegistryMark& mark, RowWriter& row) {
    row.text(mark.source).u8(mark.revision).bytes(mark.digest);
}

}  // namespace

Status publish_registry(const Url& url, const PublishedRegistry& registry,
                        const GivesWay& gives_way) {
    return in_session(
        url, Access::kReadWrite, is_patient, [&](std::unique_ptr<Connection> session) -> Status {
            RegistryMark seen;
            if (const Rows there = session->query_text(kRevision); !there.empty()) {
                RowReader first = there.row(0);
                seen = read_mark(first);
                if (Status gives = gives_way(seen); !gives) {
                    return gives;
                }
            }
            RowWriter row;
            write_mark(registry.mark, row);
            row.bytes(registry.text);
            write_mark(seen, row);
            if (session->query_text(kPublish, row).affected() == 0) {
                return Error{
                    ErrorCode::kConflict,
                    "another program published meanwhile: check its registry, then try again"};
            }
            return Status::success();
        });
}

Result<PublishedRegistry> fetch_registry(const Url& url, const std::optional<RegistryMark>& known) {
    return in_session(
        url, Access::kReadOnly, is_patient,
        [&](std::unique_ptr<Connection> session) -> Result<PublishedRegistry> {
            RowWriter row;
            write_mark(known.value_or(RegistryMark()), row);
            const Rows there = session->query_text(kFetch, row);
            if (there.empty()) {
                return Error{
                    ErrorCode::kNotFound,
                    "no registry is published there: run \"sluice registry export --to URL\" "
                    "on the source"};
            }
            RowReader first = there.row(0);
            return PublishedRegistry{.mark = read_mark(first), .text = first.string()};
        });
}

}  // namespace sluice::pg
