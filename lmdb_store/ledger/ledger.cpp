#include "lmdb_store/ledger/ledger.hpp"

#include <atomic>
#include <utility>

#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/ledger/txn.hpp"

namespace sluice::store {
namespace {

class LedgerEnvironment final : public EmbeddedLedger {
public:
    LedgerEnvironment(LedgerTables tables, std::uint64_t map_bytes_first)
        : tables_(std::move(tables)), map_bytes_first_(map_bytes_first) {}

    std::unique_ptr<LedgerTxn> begin(std::string_view node) override {
        tables_.make_room(map_bytes_first_, map_was_full_);
        map_was_full_ = false;
        WriteTxn txn;
        tables_.check(txn.begin(*tables_.env), "write");
        return std::make_unique<EmbeddedTxn>(tables_, std::move(txn), node,
                                             [this] { map_was_full_ = true; });
    }

    std::unique_ptr<LedgerReader> snapshot(std::string_view node) override {
        return std::make_unique<EmbeddedSnapshot>(tables_, tables_.begin_reading(), node);
    }

    LedgerSize size() const override {
        const MDB_envinfo info = tables_.env->info();
        return {(info.me_last_pgno + 1) * tables_.env->page_bytes(), info.me_mapsize};
    }

    int clear_stale_readers() noexcept override { return tables_.env->clear_stale_readers(); }
    bool still_in_place() const noexcept override { return tables_.env->still_in_place(); }

    std::unique_ptr<WholeReader> whole_snapshot() override {
        return std::make_unique<EmbeddedWhole>(tables_, tables_.begin_reading());
    }
    std::unique_ptr<LedgerRows> rows(std::string_view node) override {
        return make_rows(tables_, tables_.begin_reading(), node);
    }
    WholeState whole_state() override {
        for (;;) {
            ReadTxn first = tables_.begin_reading();
            ReadTxn second = tables_.begin_reading();
            if (first.id() == second.id()) {  // no commit came between the two
                return {std::make_unique<EmbeddedWhole>(tables_, std::move(first)),
                        make_rows(tables_, std::move(second), {})};
            }
        }
    }
    void finish() override {
        tables_.check(tables_.env->sync_from_now_on(), "sync");
        WriteTxn txn;
        tables_.check(txn.begin(*tables_.env), "write");
        tables_.check(put_mark(txn.get(), Mark::kRebuild, {}), "write");
        tables_.check(txn.commit(), "write");
    }
    std::vector<std::string> verify(std::string_view node, std::size_t problems_max) override {
        return verify_ledger(tables_, tables_.begin_reading(), node, problems_max);
    }

private:
    LedgerTables tables_;
    std::uint64_t map_bytes_first_;
    std::atomic<bool> map_was_full_ = false;
};

}  // namespace

Result<std::unique_ptr<EmbeddedLedger>> EmbeddedLedger::open(const std::filesystem::path& folder,
                                                             Mode mode,
                                                             std::uint64_t map_bytes_first) {
    EnvironmentOptions options;
    options.folder = folder;
    options.read_only = mode == Mode::kReadOnly;
    options.sync = mode != Mode::kTemporary && mode != Mode::kUnfinished;
    auto tables = open_ledger(options, mode == Mode::kUnfinished);
    if (!tables) {
        return tables.error();
    }
    return std::unique_ptr<EmbeddedLedger>(
        std::make_unique<LedgerEnvironment>(std::move(*tables), map_bytes_first));
}

Status EmbeddedLedger::create(const std::filesystem::path& folder, std::string_view unfinished) {
    const FileOwner owner{};
    return Environment::create(folder, owner, owner, [unfinished](MDB_txn* txn) {
        const int rc = create_ledger_tables(txn);
        return rc == 0 ? put_mark(txn, Mark::kRebuild, unfinished) : rc;
    });
}

}  // namespace sluice::store
