// An order parsed and validated, against simdjson's parse of the same bytes.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <string>

#include "core/intake/intake.hpp"
#include "core/protocol/order_event.hpp"
#include "samples.hpp"

namespace {

void parse_and_validate(benchmark::State& state) {
    const std::string body = sluice::bench::order(static_cast<int>(state.range(0)));
    sluice::OrderEventParser parser;
    for (auto _ : state) {
        benchmark::DoNotOptimize(parser.parse(body, sluice::Topic::kOrderUpdate, "svc_anon_id") !=
                                 nullptr);
    }
    if (parser.parse(body, sluice::Topic::kOrderUpdate, "svc_anon_id") == nullptr) {
        state.SkipWithError("the sample is invalid");
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
    state.counters["bytes"] = static_cast<double>(body.size());
}

void simdjson_parse(benchmark::State& state) {
    const simdjson::padded_string body(sluice::bench::order(static_cast<int>(state.range(0))));
    simdjson::dom::parser parser;
    for (auto _ : state) {
        benchmark::DoNotOptimize(parser.parse(body).error());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

/// Like parse_and_validate, with every decimal of the order wrong: the cost of an answer of 400.
void parse_with_errors(benchmark::State& state) {
    std::string body = sluice::bench::order(static_cast<int>(state.range(0)));
    for (std::size_t at = 0; (at = body.find("\"24.95\"", at)) != std::string::npos; ++at) {
        body.replace(at, 7, "\"24,95\"");
    }
    sluice::OrderEventParser parser;
    for (auto _ : state) {
        benchmark::DoNotOptimize(parser.parse(body, sluice::Topic::kOrderUpdate, "svc_anon_id") ==
                                 nullptr);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

BENCHMARK(parse_and_validate)->Arg(1)->Arg(5)->Arg(50);
BENCHMARK(simdjson_parse)->Arg(1)->Arg(5)->Arg(50);
BENCHMARK(parse_with_errors)->Arg(5)->Arg(50);

}  // namespace
