#include "lmdb_store/ledger/ledger.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/ledger/txn.hpp"

namespace sluice::store {
namespace {

/// A batch needs pages before it frees any, so the map grows before it is full.
constexpr std::uint64_t kGrowAtPercent = 75;

class LedgerEnvironment final : public EmbeddedLedger {
public:
    LedgerEnvironment(std::shared_ptr<Environment> env, std::uint64_t map_bytes_first)
        : env_(std::move(env)), map_bytes_first_(map_bytes_first) {}

    [[nodiscard]] Status open_tables() {
        if (Status known = check_ledger_format(*env_); !known) {
            return known;
        }
        return env_->open_databases(ledger_tables(), handles_, false);
    }

    std::unique_ptr<LedgerTxn> begin(std::string_view node) override {
        grow_if_needed();
        WriteTxn txn;
        if (const int rc = txn.begin(*env_); rc != 0) {
            throw LedgerFailure(env_->error(rc, "write"));
        }
        return std::make_unique<EmbeddedTxn>(*env_, handles_, std::move(txn), node,
                                             [this] { map_was_full_ = true; });
    }

    std::unique_ptr<LedgerReader> snapshot(std::string_view node) override {
        return std::make_unique<EmbeddedSnapshot>(*env_, handles_, begin_reading(), node);
    }

    LedgerSize size() const override {
        const MDB_envinfo info = env_->info();
        return {(info.me_last_pgno + 1) * env_->page_bytes(), info.me_mapsize};
    }

    int clear_stale_readers() noexcept override { return env_->clear_stale_readers(); }
    bool still_in_place() const noexcept override { return env_->still_in_place(); }

    std::unique_ptr<WholeReader> whole_snapshot() override {
        return std::make_unique<EmbeddedWhole>(*env_, handles_, begin_reading());
    }
    std::unique_ptr<LedgerRows> rows(std::string_view node) override {
        return make_rows(*env_, handles_, begin_reading(), node);
    }
    WholeState whole_state() override {
        for (;;) {
            ReadTxn first = begin_reading();
            ReadTxn second = begin_reading();
            if (first.id() == second.id()) {  // no commit came between the two
                return {std::make_unique<EmbeddedWhole>(*env_, handles_, std::move(first)),
                        make_rows(*env_, handles_, std::move(second), {})};
            }
        }
    }
    std::vector<std::string> verify(std::string_view node, std::size_t problems_max) override {
        return verify_ledger(*env_, handles_, begin_reading(), node, problems_max);
    }

private:
    ReadTxn begin_reading() {
        ReadTxn txn;
        if (const int rc = txn.begin(*env_); rc != 0) {
            throw LedgerFailure(env_->error(rc, "read"));
        }
        return txn;
    }

    void grow_if_needed() {
        const LedgerSize now = size();
        const bool crowded = now.bytes_map < map_bytes_first_ ||
                             now.bytes_used >= now.bytes_map / 100 * kGrowAtPercent;
        if (!crowded && !map_was_full_) {
            return;
        }
        const std::uint64_t wanted = std::max(now.bytes_map * 2, map_bytes_first_);
        if (const int rc = env_->set_map_bytes(wanted); rc != 0) {
            throw LedgerFailure(env_->error(rc, "enlarge the map of"));
        }
        map_was_full_ = false;
    }

    std::shared_ptr<Environment> env_;
    std::uint64_t map_bytes_first_;
    LedgerHandles handles_{};
    std::atomic<bool> map_was_full_ = false;
};

}  // namespace

Result<std::unique_ptr<EmbeddedLedger>> EmbeddedLedger::open(const std::filesystem::path& folder,
                                                             Mode mode,
                                                             std::uint64_t map_bytes_first) {
    EnvironmentOptions options;
    options.folder = folder;
    options.databases_max = kLedgerTables;
    options.read_only = mode == Mode::kReadOnly;
    options.sync = mode != Mode::kTemporary;
    auto env = Environment::open(options);
    if (!env) {
        return env.error();
    }
    auto ledger = std::make_unique<LedgerEnvironment>(*env, map_bytes_first);
    if (Status opened = ledger->open_tables(); !opened) {
        return opened.error();
    }
    return std::unique_ptr<EmbeddedLedger>(std::move(ledger));
}

Status EmbeddedLedger::create(const std::filesystem::path& folder) {
    const FileOwner owner{};
    return Environment::create(folder, owner, owner,
                               [](MDB_txn* txn) { return create_ledger_tables(txn); });
}

}  // namespace sluice::store
