// The envelope of a stored record: made at the edge, checked by the worker; and the rate word.
#include <benchmark/benchmark.h>

#include <atomic>
#include <string>

#include "core/intake/rate_window.hpp"
#include "core/protocol/record.hpp"
#include "samples.hpp"

namespace {

sluice::RecordMeta order_meta() {
    sluice::RecordMeta meta;
    meta.topic = sluice::Topic::kOrderUpdate;
    meta.account_number = {7};
    meta.shop_number = {12};
    meta.account_id = "acme";
    meta.shop_id = "shop-1";
    meta.received_at = {1'700'000'000, 123'456'789};
    meta.request_id = "0123456789abcdef0123456789abcdef";
    meta.anon_id = "0b9c6ef2-7f65-4c2c-8f3b-1f7c8a4f9d10";
    return meta;
}

void encode_envelope(benchmark::State& state) {
    const std::string body = sluice::bench::order(static_cast<int>(state.range(0)));
    sluice::RecordEnvelope envelope;
    const sluice::RecordMeta meta = order_meta();
    for (auto _ : state) {
        envelope.encode(meta, body);
        benchmark::DoNotOptimize(envelope.prefix().data());
    }
    state.counters["prefix_bytes"] = static_cast<double>(envelope.prefix().size());
}

void decode_record(benchmark::State& state) {
    const std::string body = sluice::bench::order(static_cast<int>(state.range(0)));
    sluice::RecordEnvelope envelope;
    envelope.encode(order_meta(), body);
    const std::string record = std::string(envelope.prefix()) + body;
    for (auto _ : state) {
        benchmark::DoNotOptimize(sluice::decode_record(record).ok());
    }
}

void count_request(benchmark::State& state) {
    std::atomic<std::uint64_t> word = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(sluice::count_request(word, {600, 60}, 1'700'000'000));
    }
}

BENCHMARK(encode_envelope)->Arg(5)->Arg(50);
BENCHMARK(decode_record)->Arg(5)->Arg(50);
BENCHMARK(count_request);

}  // namespace
