// Measures a plain LMDB commit on this disk: the least that an answer must wait for.
//
//   lmdb_commit FOLDER RECORDS [SECONDS [RATE [CONNECTIONS]]]
//
// RECORDS of 1.3 KB are put at the right edge and committed, two syncs, one commit after the other;
// prints JSON. With RATE, also the latency of an ideal server that has only these commits to wait
// for, at RATE requests a second over CONNECTIONS (64). Times in microseconds.
#include <lmdb.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/ideal_server.hpp"
#include "bench/load/histogram.hpp"

namespace {

using sluice::bench::Histogram;
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

void print(const char* name, const Histogram& took) {
    const auto us = [&](double quantile) {
        return static_cast<double>(took.quantile(quantile)) / 1e3;
    };
    std::printf("\"%s\": {\"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f}", name, us(0.5), us(0.99),
                us(0.999));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: lmdb_commit FOLDER RECORDS [SECONDS [RATE [CONNECTIONS]]]\n");
        return 2;
    }
    const std::uint64_t records = std::strtoull(argv[2], nullptr, 10);
    const double seconds = argc > 3 ? std::strtod(argv[3], nullptr) : 2;
    const double rate = argc > 4 ? std::strtod(argv[4], nullptr) : 0;
    const std::size_t connections = argc > 5 ? std::strtoull(argv[5], nullptr, 10) : 64;
    std::filesystem::create_directories(argv[1]);
    MDB_env* env = nullptr;
    need(mdb_env_create(&env));
    need(mdb_env_set_mapsize(env, kMapBytes));
    need(mdb_env_open(env, argv[1], MDB_NORDAHEAD, 0600));
    Histogram took;
    std::vector<std::uint64_t> commits;
    std::uint64_t number = 0;
    for (const auto end = Clock::now() + std::chrono::duration<double>(seconds);
         Clock::now() < end;) {
        const auto began = Clock::now();
        number = commit(env, number, records);
        commits.push_back(static_cast<std::uint64_t>((Clock::now() - began).count()));
        took.add(commits.back());
    }
    mdb_env_close(env);
    std::printf("{\"records\": %lu, \"commits\": %lu, ", static_cast<unsigned long>(records),
                static_cast<unsigned long>(commits.size()));
    print("commit", took);
    if (rate > 0) {
        std::printf(", ");
        print("ideal", sluice::bench::ideal_latency(commits, rate, connections));
    }
    std::printf("}\n");
    return 0;
}
