// Queue append by batch size, against a plain LMDB put of the same bytes in the same run.
//
// Syncs are off: this is the processor's part of a commit, which the writer lock is held for. Each
// append also trims what was applied, as in service; `plain_put` only puts.
#include <benchmark/benchmark.h>
#include <lmdb.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/protocol/record.hpp"
#include "lmdb_store/queue/queue.hpp"

namespace {

using namespace sluice;

constexpr std::size_t kBodyBytes = 1100;
constexpr std::uint64_t kMapBytes = 4ULL << 30;
constexpr Timestamp kNow{1'700'000'000, 0};

class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "queue-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Records as nginx makes them.
class Records {
public:
    explicit Records(std::size_t count) : body_(kBodyBytes, 'b'), envelopes_(count), items_(count) {
        RecordMeta meta;
        meta.account_number = {1};
        meta.shop_number = {1};
        meta.account_id = "account-1";
        meta.shop_id = "shop-1";
        meta.received_at = kNow;
        meta.request_id = "0123456789abcdef0123456789abcdef";
        for (RecordEnvelope& envelope : envelopes_) {
            envelope.encode(meta, body_);
        }
    }
    std::vector<store::AppendItem>& fresh() {
        for (std::size_t i = 0; i < items_.size(); ++i) {
            items_[i] = {};
            items_[i].prefix = envelopes_[i].prefix();
            items_[i].body = body_;
            items_[i].received_at = kNow;
        }
        return items_;
    }

private:
    std::string body_;
    std::vector<RecordEnvelope> envelopes_;
    std::vector<store::AppendItem> items_;
};

void report(benchmark::State& state, std::size_t count) {
    state.counters["per_record"] =
        benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(count),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// @param trims  Applied records are trimmed with each append, `backlog` of them stay.
void append(benchmark::State& state, bool trims, std::uint64_t backlog, bool sync) {
    const auto count = static_cast<std::size_t>(state.range(0));
    const Folder folder;
    const store::StorePaths paths(folder.path() / "store");
    if (!store::init_store(paths, {}).ok()) {
        state.SkipWithError("init");
        return;
    }
    auto queue = store::Queue::open(paths, {.map_bytes = kMapBytes, .sync = sync});
    Records records(count);
    std::uint64_t last = 0;
    const auto once = [&] {
        std::vector<store::AppendItem>& items = records.fresh();
        if (trims && last > backlog) {
            (*queue)->control().publish_applied({last - backlog});
        }
        (*queue)->append(items, kNow);
        last = items.back().seq.value;
        return items.back().outcome == store::AppendOutcome::kStored;
    };
    while (last < backlog + 10 * count && once()) {
    }
    for (auto _ : state) {
        if (!once()) {
            state.SkipWithError("not stored");
            break;
        }
    }
    report(state, count);
}

void plain_put(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    const Folder folder;
    MDB_env* env = nullptr;
    mdb_env_create(&env);
    mdb_env_set_mapsize(env, kMapBytes);
    mdb_env_open(env, folder.path().c_str(), MDB_NOTLS | MDB_NOSYNC, 0600);
    Records records(count);
    std::string value;
    value.append(records.fresh()[0].prefix).append(records.fresh()[0].body);
    std::uint64_t seq = 0;
    MDB_txn* txn = nullptr;
    MDB_dbi table = 0;
    mdb_txn_begin(env, nullptr, 0, &txn);
    mdb_dbi_open(txn, nullptr, 0, &table);
    mdb_txn_commit(txn);
    for (auto _ : state) {
        mdb_txn_begin(env, nullptr, 0, &txn);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t big_endian = __builtin_bswap64(++seq);
            MDB_val key{sizeof(big_endian), &big_endian};
            MDB_val data{value.size(), value.data()};
            if (mdb_put(txn, table, &key, &data, MDB_APPEND) != 0) {
                state.SkipWithError("map full");
                break;
            }
        }
        mdb_txn_commit(txn);
    }
    mdb_env_close(env);
    report(state, count);
}

void append_and_trim(benchmark::State& state) {
    append(state, true, 0, false);
}
void append_with_backlog(benchmark::State& state) {
    append(state, true, 20'000, false);
}
void append_only(benchmark::State& state) {
    append(state, false, 0, false);
}
void append_synced(benchmark::State& state) {
    append(state, true, 0, true);
}

BENCHMARK(plain_put)->Arg(1)->Arg(8)->Arg(64)->Arg(256);
BENCHMARK(append_only)->Arg(1)->Arg(8)->Arg(64)->Arg(256);
BENCHMARK(append_and_trim)->Arg(1)->Arg(8)->Arg(64)->Arg(256);
BENCHMARK(append_with_backlog)->Arg(1)->Arg(8)->Arg(64)->Arg(256);
BENCHMARK(append_synced)->Arg(1)->Arg(64)->UseRealTime();

}  // namespace
