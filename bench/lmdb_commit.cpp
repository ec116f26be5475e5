// What a plain LMDB commit takes on this disk: the least that an answer has to wait for.
//
//   lmdb_commit FOLDER RECORDS [SECONDS]    RECORDS of 1.3 KB are put at the right edge and
//   committed,
//                                           two syncs, one commit after the other; prints JSON
#include <lmdb.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/load/histogram.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRecordBytes = 1300;  ///< An order of five lines, with its head.
constexpr std::size_t kMapBytes = std::size_t{16} << 30;

void need(int rc) {
    if (rc != 0) {
        std::fprintf(stderr, "lmdb_commit: %s\n", mdb_strerror(rc));
        std::exit(1);
    }
}

std::array<unsigned char, 8> key_of(std::uint64_t number) {
    std::array<unsigned char, 8> key{};
    for (std::size_t at = key.size(); at-- > 0; number >>= 8) {
        key[at] = static_cast<unsigned char>(number);
    }
    return key;
}

/// Ends with the next number.
std::uint64_t commit(MDB_env* env, std::uint64_t number, std::uint64_t records) {
    static std::string record(kRecordBytes, 'r');
    MDB_txn* txn = nullptr;
    MDB_dbi table = 0;
    need(mdb_txn_begin(env, nullptr, 0, &txn));
    need(mdb_dbi_open(txn, nullptr, 0, &table));
    for (const std::uint64_t end = number + records; number < end; ++number) {
        std::array<unsigned char, 8> bytes = key_of(number);
        MDB_val key{bytes.size(), bytes.data()};
        MDB_val value{record.size(), record.data()};
        need(mdb_put(txn, table, &key, &value, MDB_APPEND));
    }
    need(mdb_txn_commit(txn));
    return number;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: lmdb_commit FOLDER RECORDS [SECONDS]\n");
        return 2;
    }
    const std::uint64_t records = std::strtoull(argv[2], nullptr, 10);
    const double seconds = argc > 3 ? std::strtod(argv[3], nullptr) : 2;
    std::filesystem::create_directories(argv[1]);
    MDB_env* env = nullptr;
    need(mdb_env_create(&env));
    need(mdb_env_set_mapsize(env, kMapBytes));
    need(mdb_env_open(env, argv[1], MDB_NORDAHEAD, 0600));
    sluice::bench::Histogram took;
    std::uint64_t number = 0;
    for (const auto end = Clock::now() + std::chrono::duration<double>(seconds);
         Clock::now() < end;) {
        const auto began = Clock::now();
        number = commit(env, number, records);
        took.add(static_cast<std::uint64_t>((Clock::now() - began).count()));
    }
    mdb_env_close(env);
    std::printf(
        "{\"records\": %lu, \"commits\": %lu, \"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f}\n",
        static_cast<unsigned long>(records), static_cast<unsigned long>(took.count()),
        static_cast<double>(took.quantile(0.5)) / 1e3,
        static_cast<double>(took.quantile(0.99)) / 1e3,
        static_cast<double>(took.quantile(0.999)) / 1e3);
    return 0;
}
