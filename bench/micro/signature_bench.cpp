// HMAC of a body with a prepared key, against the plain SHA-256 that bounds it.
#include <benchmark/benchmark.h>

#include <string>

#include "core/protocol/signature.hpp"

namespace {

void verify(benchmark::State& state) {
    const sluice::SigningKey key("a secret of thirty-two characters");
    const std::string body(static_cast<std::size_t>(state.range(0)), 'x');
    const sluice::Digest256 digest = key.sign(body);
    for (auto _ : state) {
        benchmark::DoNotOptimize(key.verify(body, digest));
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

void plain_sha256(benchmark::State& state) {
    const std::string body(static_cast<std::size_t>(state.range(0)), 'x');
    for (auto _ : state) {
        benchmark::DoNotOptimize(sluice::sha256(body));
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

void parse_signature_header(benchmark::State& state) {
    const std::string text = sluice::to_hex(sluice::sha256("x"));
    for (auto _ : state) {
        benchmark::DoNotOptimize(sluice::parse_hex_digest(text, sluice::HexCase::kLowerOnly));
    }
}

BENCHMARK(verify)->Arg(300)->Arg(1100)->Arg(8192)->Arg(1 << 20);
BENCHMARK(plain_sha256)->Arg(300)->Arg(1100)->Arg(8192)->Arg(1 << 20);
BENCHMARK(parse_signature_header);

}  // namespace
