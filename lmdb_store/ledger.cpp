#include "lmdb_store/ledger.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/assert.hpp"
#include "lmdb_store/ledger_tables.hpp"
#include "lmdb_store/ledger_txn.hpp"

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
        return env_->open_databases(kLedgerTables, handles_, false);
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

    LedgerFill fill() const override {
        MDB_envinfo info{};
        mdb_env_info(env_->get(), &info);
        return {(info.me_last_pgno + 1) * env_->page_bytes(), info.me_mapsize};
    }

    int clear_stale_readers() noexcept override { return env_->clear_stale_readers(); }
    bool still_in_place() const noexcept override { return env_->still_in_place(); }

    void dump(const RowVisitor& visit) override {
        const ReadTxn txn = begin_reading();
        const RowAccess rows(*env_, handles_, txn);
        bool more = true;
        for (const Table table : tables_by_name()) {
            visit_prefix(rows, table, {}, [&](std::string_view key, std::string_view value) {
                more = visit(name_of(table), key, value);
                return more;
            });
            if (!more) {
                return;
            }
        }
    }

private:
    ReadTxn begin_reading() {
        ReadTxn txn;
        if (const int rc = txn.begin(*env_); rc != 0) {
            throw LedgerFailure(env_->error(rc, "read"));
        }
        return txn;
    }

    static std::array<Table, kLedgerTables.size()> tables_by_name() {
        std::array<Table, kLedgerTables.size()> tables{};
        for (std::size_t i = 0; i < tables.size(); ++i) {
            tables[i] = static_cast<Table>(i);
        }
        std::sort(tables.begin(), tables.end(), [](Table a, Table b) {
            return std::string_view(name_of(a)) < std::string_view(name_of(b));
        });
        return tables;
    }

    void grow_if_needed() {
        const LedgerFill now = fill();
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

void hash_bytes(EVP_MD_CTX* context, std::string_view bytes) {
    const std::uint64_t size = bytes.size();
    SLUICE_ASSERT(EVP_DigestUpdate(context, &size, sizeof(size)) == 1);
    SLUICE_ASSERT(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

}  // namespace

Result<std::unique_ptr<EmbeddedLedger>> EmbeddedLedger::open(const std::filesystem::path& folder,
                                                             Mode mode,
                                                             std::uint64_t map_bytes_first) {
    EnvironmentOptions options;
    options.folder = folder;
    options.databases_max = kLedgerTables.size();
    options.read_only = mode == Mode::kReadOnly;
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

Digest256 ledger_digest(EmbeddedLedger& ledger) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    SLUICE_ASSERT(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
    ledger.dump([&](std::string_view table, std::string_view key, std::string_view value) {
        hash_bytes(context.get(), table);
        hash_bytes(context.get(), key);
        hash_bytes(context.get(), value);
        return true;
    });
    Digest256 digest{};
    SLUICE_ASSERT(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
    return digest;
}

}  // namespace sluice::store
