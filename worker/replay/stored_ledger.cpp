#include "worker/replay/stored_ledger.hpp"

#include <algorithm>
#include <future>
#include <set>
#include <utility>

#include "lmdb_store/ledger/fill.hpp"
#include "pg_store/ledger/fill.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "worker/drain/side_thread.hpp"

namespace sluice::worker {
namespace {

using store::EmbeddedLedger;
using store::RowDifference;
using Form = std::function<std::string(const std::string&)>;

/// Walks the rows of the tables that differ.
void walk_tables(const std::vector<ComparedTable>& tables, store::LedgerRows& stored,
                 store::LedgerRows& right, const Form& form,
                 const store::DifferenceVisitor& visit) {
    for (const ComparedTable& table : tables) {
        if (!table.is_equal() && !visit_differences(table.table, stored, right, form, visit)) {
            return;
        }
    }
}

// ---- A folder: both ledgers are the same kind of rows -------------------------------------------

/// Reads both ledgers at once.
std::vector<ComparedTable> both_digests(store::LedgerRows& stored, store::LedgerRows& right) {
    std::packaged_task<std::vector<store::TableDigest>()> of_right(
        [&right] { return table_digests(right); });
    SideThread thread;  // ends before the task
    thread.start([&of_right] { of_right(); });
    std::vector<store::TableDigest> of_stored = table_digests(stored);
    thread.wait();
    return side_by_side(std::move(of_stored), of_right.get_future().get());
}

class StoredFolder final : public StoredLedger {
public:
    explicit StoredFolder(std::unique_ptr<EmbeddedLedger> ledger) : ledger_(std::move(ledger)) {}

    bool is_embedded() const override { return true; }
    Status take_snapshot() override {
        drop_snapshot();
        store::WholeState state = ledger_->whole_state();
        reader_ = std::move(state.reader);
        rows_ = std::move(state.rows);
        return {};
    }
    void drop_snapshot() override {
        rows_.reset();
        reader_.reset();
    }
    WholeReader& reader() override { return *reader_; }

    Status compare(EmbeddedLedger& right, const std::filesystem::path& /*temporary*/,
                   std::vector<ComparedTable>& tables,
                   const store::DifferenceVisitor& visit) override {
        const auto right_rows = right.rows({});
        const bool is_fast = restart_without_changes(*rows_, *right_rows);
        tables = both_digests(*rows_, *right_rows);
        const bool are_equal = std::ranges::all_of(
            tables, [](const ComparedTable& table) { return table.is_equal(); });
        if (is_fast && !are_equal) {
            rows_->restart(false);
            right_rows->restart(false);
            tables = both_digests(*rows_, *right_rows);
        }
        walk_tables(tables, *rows_, *right_rows, {}, visit);
        return {};
    }

private:
    std::unique_ptr<EmbeddedLedger> ledger_;
    std::unique_ptr<WholeReader> reader_;
    std::unique_ptr<store::LedgerRows> rows_;
};

// ---- A database ---------------------------------------------------------------------------------

/// Takes apart the words of DamagedRow: `... damaged row: table t, key: column: what`.
RowDifference difference_of(const std::string& table, const Error& error) {
    const std::string front = "damaged row: table " + table + ", ";
    const std::size_t at = error.message.find(front);
    std::string rest =
        at == std::string::npos ? error.message : error.message.substr(at + front.size());
    const auto take_last = [&rest] {
        const std::size_t mark = rest.rfind(": ");
        std::string last = mark == std::string::npos ? std::string() : rest.substr(mark + 2);
        rest.resize(mark == std::string::npos ? rest.size() : mark);
        return last;
    };
    RowDifference found{table, {}, {}, "damaged: " + take_last(), std::nullopt};
    const std::string whole = rest;
    found.column = take_last();
    if (found.column.find(' ') != std::string::npos) {
        found.column.clear();
        rest = whole;
    }
    found.key = rest;
    return found;
}

class StoredDatabase final : public StoredLedger {
public:
    explicit StoredDatabase(pg::Url url) : url_(std::move(url)) {}

    bool is_embedded() const override { return false; }
    Status take_snapshot() override {
        drop_snapshot();
        auto reader = pg::whole_snapshot(url_);
        if (!reader) {
            return reader.error();
        }
        reader_ = std::move(*reader);
        return {};
    }
    void drop_snapshot() override { reader_.reset(); }
    WholeReader& reader() override { return *reader_; }

    Status compare(EmbeddedLedger& right, const std::filesystem::path& temporary,
                   std::vector<ComparedTable>& tables,
                   const store::DifferenceVisitor& visit) override {
        share_revision(right);
        const Form form = [](const std::string& text) {
            return pg::PostgresFill::as_stored_there(text);
        };
        std::set<std::string> damaged;
        bool more = true;
        const auto stored_digests = store::RowDigests::make(form);
        walk_damaged_ledger(*reader_, *stored_digests,
                            [&](const std::string& table, const Error& error) {
                                more = more && visit(difference_of(table, error));
                                damaged.insert(table);
                            });
        pg::visit_contradicted_columns(*reader_, [&](const pg::ContradictedColumn& found) {
            more = more && visit({found.table, found.key, found.column, found.stored, found.right});
            return more;
        });
        const auto right_digests = store::RowDigests::make(form);
        walk_ledger(*right.whole_snapshot(), *right_digests);
        tables = side_by_side(stored_digests->take(), right_digests->take());
        // The rest of a damaged table was not read.
        std::vector<ComparedTable> differ = tables;
        std::erase_if(differ, [&damaged](const ComparedTable& table) {
            return table.is_equal() || damaged.contains(table.table);
        });
        return differ.empty() || !more ? Status()
                                       : walk_copy(right, temporary, differ, form, visit);
    }

private:
    /// All nodes share the programs' revision; the embedded ledger brings a head up to it when that
    /// node writes next.
    static void share_revision(EmbeddedLedger& right) {
        for (const LedgerHead& head : heads_of(*right.snapshot({}))) {
            right.begin(head.node)->commit();
        }
    }
    /// Copies the database into a folder, so that both ledgers are the same kind of rows.
    Status walk_copy(EmbeddedLedger& right, const std::filesystem::path& temporary,
                     const std::vector<ComparedTable>& tables, const Form& form,
                     const store::DifferenceVisitor& visit) {
        const std::filesystem::path folder = temporary / "copy";
        {
            auto fill = store::EmbeddedFill::begin(folder, url_.shown(), {});
            if (!fill) {
                return fill.error();
            }
            walk_damaged_ledger(*reader_, **fill, [](const std::string&, const Error&) {});
            (*fill)->flush();
            (*fill)->finish();
        }
        const auto copy = EmbeddedLedger::open(folder, EmbeddedLedger::Mode::kReadOnly);
        if (!copy) {
            return copy.error();
        }
        const auto stored_rows = (*copy)->rows({});
        const auto right_rows = right.rows({});
        walk_tables(tables, *stored_rows, *right_rows, form, visit);
        return {};
    }

    pg::Url url_;
    std::unique_ptr<WholeReader> reader_;
};

}  // namespace

Result<std::unique_ptr<StoredLedger>> open_stored(const LedgerPlace& place) {
    if (place.url) {
        return std::unique_ptr<StoredLedger>(std::make_unique<StoredDatabase>(*place.url));
    }
    auto ledger = EmbeddedLedger::open(place.folder, EmbeddedLedger::Mode::kReadOnly);
    if (!ledger) {
        return ledger.error();
    }
    return std::unique_ptr<StoredLedger>(std::make_unique<StoredFolder>(std::move(*ledger)));
}

}  // namespace sluice::worker
