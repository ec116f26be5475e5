// A valid product batch validated, against simdjson's parse of the same bytes.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <string>

#include "core/protocol/product_batch.hpp"
#include "samples.hpp"

namespace {

std::string sample(const benchmark::State& state) {
    return sluice::bench::batch(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
}

void validate(benchmark::State& state) {
    const std::string body = sample(state);
    sluice::ProductBatchParser parser;
    for (auto _ : state) {
        if (parser.validate(body, sluice::Topic::kProductUpsert) != sluice::BatchVerdict::kValid) {
            state.SkipWithError("the sample is invalid");
        }
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
    state.counters["bytes"] = static_cast<double>(body.size());
}

void simdjson_parse(benchmark::State& state) {
    const simdjson::padded_string body(sample(state));
    simdjson::dom::parser parser;
    for (auto _ : state) {
        benchmark::DoNotOptimize(parser.parse(body).error());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

// Products, variants of each. The last one is above the buffers that a parser keeps.
BENCHMARK(validate)->Args({100, 3})->Args({1000, 1})->Args({1000, 3})->Args({1000, 30});
BENCHMARK(simdjson_parse)->Args({100, 3})->Args({1000, 1})->Args({1000, 3})->Args({1000, 30});

}  // namespace
