#include "lmdb_store/registry/tables.hpp"

#include <array>

#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

constexpr std::array<const char*, 6> kTables = {"accounts", "account_ids",    "shops",
                                                "tokens",   "account_tokens", "bearers"};
constexpr std::string_view kFormat("\2\0\0\0", 4);
constexpr std::string_view kFormatOfPreReleases("\1\0\0\0", 4);
constexpr unsigned kDatabasesMax = 16;
constexpr std::string_view kRetiredMark("\xff\xff\xff\xff", 4);  ///< No account has this number.

}  // namespace

Result<RegistryTables> RegistryTables::open(const StorePaths& paths) {
    return attempt([&] {
        return of(paths,
                  checked(Environment::open({paths.registry, kRegistryMapBytes, kDatabasesMax})));
    });
}

Result<RegistryTables> RegistryTables::open_published(const StorePaths& paths,
                                                      std::uint64_t generation) {
    constexpr int kTriesMax = 10;
    const EnvironmentOptions options{.folder = published_file(paths),
                                     .map_bytes = kRegistryMapBytes,
                                     .databases_max = kDatabasesMax,
                                     .read_only = true,
                                     .is_copy = true};
    return attempt([&] {
        for (int tries = 0; tries < kTriesMax; ++tries) {
            const SealedCopy sealed = checked(open_sealed_copy(paths, generation));
            std::shared_ptr<Environment> copy = checked(Environment::open(options));
            if (copy->is_file(sealed.file.get())) {  // not one that replaced it meanwhile
                RegistryTables tables = of(paths, std::move(copy));
                tables.signing_tokens_max = sealed.seal.signing_tokens_max;
                return tables;
            }
        }
        throw StoreFailure(busy("\"" + options.folder.string() + "\" is replaced all the time"));
    });
}

Result<RegistryTables> RegistryTables::open_copy(const StorePaths& copy) {
    return attempt([&] {
        return of(copy, checked(Environment::open({.folder = copy.registry / "data.mdb",
                                                   .map_bytes = kRegistryMapBytes,
                                                   .databases_max = kDatabasesMax,
                                                   .read_only = true,
                                                   .is_copy = true})));
    });
}

Status CurrentRegistry::refresh() {
    constexpr std::int64_t kRetryAfterMs = 1000;
    const std::uint64_t generation = generation_.current();
    const std::int64_t now = coarse_ms();
    if (damage_ && generation == damaged_generation_ && now - damage_seen_ms_ < kRetryAfterMs) {
        return *damage_;
    }
    damage_.reset();
    Result<RegistryTables> tables = RegistryTables::open_published(paths_, generation);
    if (tables) {
        tables_ = std::move(*tables);
        opened_ = generation;
        return Status::success();
    }
    if (tables.error().code == ErrorCode::kCorrupt) {
        damage_ = tables.error();
        damaged_generation_ = generation;
        damage_seen_ms_ = now;
    }
    return tables.error();
}

RegistryTables RegistryTables::of(const StorePaths& paths,
                                  std::shared_ptr<Environment> environment) {
    RegistryTables tables;
    tables.environment = std::move(environment);
    tables.main = kMainTable;
    std::array<MDB_dbi, kTables.size()> handles{};
    check(tables.environment->open_databases(kTables, handles, false));
    tables.accounts = handles[0];
    tables.account_ids = handles[1];
    tables.shops = handles[2];
    tables.tokens = handles[3];
    tables.account_tokens = handles[4];
    tables.bearers = handles[5];
    ProbeTxn txn;
    check(txn.begin(*tables.environment), *tables.environment, "read");
    const auto format = find(txn, tables.main, kFormatKey);
    if (!format || format->size() != kFormat.size()) {
        throw StoreFailure(tables.damaged("format"));
    }
    if (*format != kFormat) {
        throw StoreFailure(
            unsupported("\"" + paths.registry.string() +
                        (*format == kFormatOfPreReleases
                             ? "\" has format 1, which only a pre-release of sluice read: "
                               "create a new store with \"sluice init\""
                             : "\" has another format: use a newer release of sluice")));
    }
    return tables;
}

Result<MasterKey> RegistryTables::key_in_force(const Txn& txn, const MasterKey& file) const {
    const auto sealed = find(txn, main, kKeyCheckKey);
    if (!sealed) {
        return damaged("key check");
    }
    const auto opens = [&](const MasterKey& key) {
        const Result<std::string> text = key.open(*sealed, kKeyCheckKey);
        return text && *text == kKeyCheckText;
    };
    const std::optional<MasterKey> next = file.next();
    if (opens(file)) {
        return file.first();
    }
    if (next && opens(*next)) {
        return *next;
    }
    return corrupt("the master key is not the one of \"" + environment->folder().string() +
                   "\": a restored store needs its own master.key; if the file was "
                   "replaced, reload nginx");
}

RegistrySize RegistryTables::size(const Txn& txn, std::uint64_t generation) const {
    MDB_stat stat{};
    const auto rows = [&](MDB_dbi table) {
        check(mdb_stat(txn.get(), table, &stat), *environment, "read");
        return std::uint64_t{stat.ms_entries};
    };
    RegistrySize size{rows(accounts), rows(shops), rows(tokens), 0, generation};
    size.bytes = (environment->info().me_last_pgno + 1) * stat.ms_psize;
    return size;
}

std::uint64_t RegistryTables::slots_used(const Txn& txn) const {
    const auto next = find(txn, main, kNextAccountKey);
    if (!next || next->size() != sizeof(std::uint32_t)) {
        throw StoreFailure(damaged("counter of accounts"));
    }
    return get_big_endian<std::uint32_t>(next->data()) - 1;
}

Error RegistryTables::damaged(std::string_view row_kind) const {
    return {ErrorCode::kCorrupt, "\"" + environment->folder().string() +
                                     "\" is damaged (unreadable " + std::string(row_kind) +
                                     "): restore it from a backup"};
}

std::string domain_key(Platform platform, std::string_view domain) {
    return std::string(kDomainKey).append(to_string(platform)).append("/").append(domain);
}

std::string retired_tokens_key(AccountNumber number) {
    return std::string(kRetiredMark) + account_number_key(number);
}

std::string retired_token_key(AccountNumber number, std::int64_t seconds,
                              std::string_view token_id) {
    return retired_tokens_key(number) + big_endian(~static_cast<std::uint64_t>(seconds)) +
           std::string(token_id);
}

std::string_view token_of_retired_key(std::string_view key) {
    constexpr std::size_t kFixed =
        kRetiredMark.size() + sizeof(AccountNumber::value) + sizeof(std::uint64_t);
    return key.size() > kFixed ? key.substr(kFixed) : std::string_view();
}

int create_registry_tables(MDB_txn* txn, const MasterKey& key) {
    constexpr std::string_view kOne("\0\0\0\1", 4);  // numbers start at 1; 0 means none
    int rc = create_tables(txn, kTables);
    rc = rc == 0 ? put_main(txn, kFormatKey, kFormat) : rc;
    rc = rc == 0 ? put_main(txn, kNextAccountKey, kOne) : rc;
    rc = rc == 0 ? put_main(txn, kNextShopKey, kOne) : rc;
    rc = rc == 0 ? put_main(txn, kNextChangeKey, kOne) : rc;
    return rc == 0 ? put_main(txn, kKeyCheckKey, key.seal(kKeyCheckText, kKeyCheckKey)) : rc;
}

}  // namespace sluice::store
