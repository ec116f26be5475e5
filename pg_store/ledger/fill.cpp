#include "pg_store/ledger/fill.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "os/clock/clock.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/ledger/snapshot.hpp"
#include "pg_store/rows/described.hpp"
#include "pg_store/rows/order_row.hpp"
#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

constexpr std::size_t kBytesMax = 16U << 20;  ///< Rows of one transaction.
/// A lock of its own, next to those of migrations and writers.
constexpr const char* kCopyLock = "SELECT pg_try_advisory_lock(1397511491, 3)";

/// Every table that holds rows of a ledger. The registry is published apart from it.
std::vector<std::string> tables_of(Connection& session) {
    const Rows rows = session.query_text(
        "SELECT tablename::text FROM pg_tables WHERE schemaname = 'sluice_ledger' AND tablename "
        "NOT IN ('migrations', 'registry', 'state') ORDER BY tablename");
    return mapped(rows, [](RowReader row) { return "sluice_ledger." + row.string(); });
}

bool has_rows(Connection& session) {
    for (const std::string& table : tables_of(session)) {
        if (session.query_text("SELECT EXISTS (SELECT 1 FROM " + table + ")").row(0).boolean()) {
            return true;
        }
    }
    return false;
}

// ---- Rows -------------------------------------------------------------------------------------

class Filling final : public PostgresFill {
public:
    Filling(Url url, std::unique_ptr<Connection> session, FillOptions options)
        : url_(std::move(url)), session_(std::move(session)), options_(std::move(options)) {}

    void add(const LedgerHead& head) override {
        static const std::string kCopy = copy_into("heads", kHeadColumns);
        numbers_.emplace(head.node, head.number);
        programs_revision_ = std::max(programs_revision_, head.programs_revision);
        RowWriter& rows = begin_row(kCopy, 22);
        rows.text(head.node);
        write_head(head, rows);
        end_row(rows);
    }
    void turn_to(std::string_view node) override { node_ = number_of(std::string(node)); }
    void add_row(RowView row) override {
        if (row.table().index_in_sql) {
            return;
        }
        RowWriter& rows = rows_[sql_of(row.table()).copy_in()];
        bytes_before_ = rows.view().size();
        copy_row(row, node_, rows);
        end_row(rows);
    }
    void add(const NodeChain& chain) override {
        static const std::string kCopy =
            copy_into("chains", "account, node, hash, entries, last_group");
        RowWriter& rows = begin_row(kCopy, 5);
        rows.u4(chain.account.value).u4(number_of(chain.node));
        rows.digest(chain.head.hash).u8(chain.head.entries).u8(chain.head.last_group);
        end_row(rows);
    }
    void add(const NodeBalance& balance) override {
        static const std::string kCopy = copy_into(
            "balances", "account, program, creator, currency, node, owed, in_payout, paid");
        const Balance& part = balance.part;
        RowWriter& rows = begin_row(kCopy, 8);
        rows.u4(part.key.account.value).text(part.key.program.view());
        rows.text(part.key.creator.view()).text(part.key.currency.code());
        rows.u4(number_of(balance.node));
        rows.numeric(part.owed).numeric(part.in_payout).numeric(part.paid);
        end_row(rows);
    }
    void add(const JournalGroup& group) override {
        static const std::string kCopy = copy_into("journal", kJournalColumns);
        RowWriter& rows = begin_row(kCopy, kJournalColumnsCount);
        write_journal(group, number_of(group.node), rows);
        end_row(rows);
    }
    void add(const OrderState& order) override {
        static const std::string kCopy =
            copy_into("orders", "account, shop, order_id, revision, " + order_columns());
        RowWriter& rows = begin_row(kCopy, order_columns_count() + 4);
        rows.u4(order.key.account.value).u4(order.key.shop.value);
        rows.text(order.key.order_id.view()).u8(1);
        encode_order(order, rows);
        end_row(rows);
    }
    void add(const OrderKey& order, const EventTrace& event) override {
        static const std::string kCopy = copy_into(
            "events",
            "account, shop, order_id, seq, received_s, received_ns, topic, digest, event");
        RowWriter& rows = begin_row(kCopy, 9);
        rows.u4(order.account.value).u4(order.shop.value).text(order.order_id.view());
        rows.u8(event.seq.value).instant(event.received_at);
        rows.i2(static_cast<std::int16_t>(event.topic)).digest(event.digest);
        rows.bytes(pack_events(&event, 1));
        end_row(rows);
    }
    void add(const CatalogRecord& record) override {
        static const std::string kCopy = copy_into("catalog", kCatalogColumns);
        RowWriter& rows = begin_row(kCopy, 11);
        write_catalog(record, rows);
        end_row(rows);
        for (const std::string& sku : record.variant_skus) {
            add_variant(record.key, sku);
        }
    }

    /// No transaction is open between two of them, so the source may be slow.
    void flush() override {
        if (txn_rows_ == 0) {
            return;
        }
        session_->script("BEGIN");
        if (copy_mark(*session_).empty()) {
            throw LedgerFailure(
                conflict("the database lost the mark of this copy: start the copy again"));
        }
        for (auto& [copy, rows] : rows_) {
            if (!rows.empty()) {
                session_->copy_in(copy, rows.view());
                rows.clear();
            }
        }
        RowWriter shared;
        shared.u8(programs_revision_);
        session_->send_text("UPDATE sluice_ledger.state SET programs_revision = $1", shared);
        session_->sync();
        session_->script("COMMIT");
        check_replicated(*session_);
        txn_rows_ = bytes_ = 0;
        if (options_.committed) {
            options_.committed(rows_count_);
        }
    }
    std::unique_ptr<WholeReader> written() override {
        return std::make_unique<WholeSnapshot>(open_session(url_, Access::kReadPrimary, {}));
    }
    void finish() override {
        try {
            session_->script("BEGIN");
            put_copy_mark(*session_, {});
            session_->script("COMMIT");
            check_replicated(*session_);
        } catch (const LedgerFailure& failure) {
            if (failure.error().code != ErrorCode::kIo || !is_finished_after_all()) {
                throw;
            }
        }
        if (options_.committed) {
            options_.committed(rows_count_);
        }
    }
    std::string as_stored(const std::string& text) const override { return as_stored_there(text); }
    /// Deletes everything but the mark.
    void clear(const std::string& from) {
        session_->script("BEGIN");
        lock_out_writers(*session_);
        if (copy_mark(*session_).empty() && has_rows(*session_)) {
            throw LedgerFailure(
                conflict("the database holds a ledger already: name another one, or drop "
                         "it (DROP SCHEMA sluice_ledger CASCADE) and migrate again"));
        }
        session_->script("TRUNCATE " + joined(tables_of(*session_), ", "));
        session_->script("UPDATE sluice_ledger.state SET programs_revision = 0");
        put_copy_mark(*session_, from);
        session_->script("COMMIT");
        check_replicated(*session_);
        if (options_.committed) {
            options_.committed(0);
        }
    }

private:
    RowWriter& begin_row(const std::string& copy, std::size_t fields) {
        RowWriter& rows = rows_[copy];
        bytes_before_ = rows.view().size();
        rows.begin_copy_row(static_cast<std::int16_t>(fields));
        return rows;
    }
    void end_row(const RowWriter& rows) {
        bytes_ += rows.view().size() - bytes_before_;
        ++rows_count_;
        if (++txn_rows_ >= options_.rows_max || bytes_ >= kBytesMax) {
            flush();
        }
    }
    [[nodiscard]] std::uint32_t number_of(const std::string& node) const {
        const auto found = numbers_.find(node);
        if (found == numbers_.end()) {
            throw DamagedRow("table heads, node " + node, "it is missing", std::nullopt);
        }
        return found->second;
    }

    void add_variant(const CatalogKey& key, const std::string& sku) {
        static const std::string kCopy =
            copy_into("variants", "account, shop, variant_sku, language, country, product_id");
        RowWriter& rows = begin_row(kCopy, 6);
        rows.u4(key.account.value).u4(key.shop.value).text(key_text(sku));
        rows.text(key.language).text(key.country).text(key_text(key.product_id.view()));
        end_row(rows);
    }
    /// Called if the connection was lost during the last commit. The mark shows its outcome.
    bool is_finished_after_all() {
        constexpr std::chrono::seconds kPatience{30};
        constexpr std::chrono::milliseconds kBetween{500};
        for (const auto end = steady_now() + kPatience; steady_now() < end;) {
            try {
                const std::unique_ptr<Connection> session =
                    open_session(url_, Access::kReadWrite, {});
                session->script("BEGIN");
                lock_out_writers(*session);  // waits for the rest of the old session
                return copy_mark(*session).empty();
            } catch (const LedgerFailure& failure) {
                if (failure.error().code != ErrorCode::kIo) {
                    throw;
                }
            }
            std::this_thread::sleep_for(kBetween);
        }
        return false;
    }

    Url url_;
    std::unique_ptr<Connection> session_;
    FillOptions options_;
    std::map<std::string, std::uint32_t> numbers_;
    std::uint32_t node_ = 0;
    std::uint64_t programs_revision_ = 0;
    std::map<std::string, RowWriter> rows_;  ///< By the statement that takes them.
    std::size_t bytes_before_ = 0;
    std::uint64_t rows_count_ = 0, txn_rows_ = 0, bytes_ = 0;
};

}  // namespace

std::string PostgresFill::as_stored_there(const std::string& text) {
    return clean_text(text);
}

Result<bool> PostgresFill::holds_ledger(const Url& url) {
    return in_session(
        url, Access::kReadWrite, {},
        [](std::unique_ptr<Connection> session) -> Result<bool> {
            return copy_mark(*session).empty() && has_rows(*session);
        },
        true);
}

Result<std::unique_ptr<PostgresFill>> PostgresFill::begin(const Url& url, const std::string& from,
                                                          const FillOptions& options) {
    return in_session(
        url, Access::kReadWrite, {},
        [&](std::unique_ptr<Connection> session) -> Result<std::unique_ptr<PostgresFill>> {
            if (!session->query_text(kCopyLock).row(0).boolean()) {
                return busy("another copy to this database is running");
            }
            auto filling = std::make_unique<Filling>(url, std::move(session), options);
            filling->clear(from);
            return std::unique_ptr<PostgresFill>(std::move(filling));
        },
        true);
}

}  // namespace sluice::pg
