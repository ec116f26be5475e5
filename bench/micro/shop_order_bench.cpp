// A webhook translated, against what nginx does with it anyway: the HMAC and a parse of its body.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <string>

#include "bench/shopify_order.hpp"
#include "core/protocol/signature.hpp"
#include "core/shops/translator.hpp"

namespace {

std::string sample(const benchmark::State& state) {
    return sluice::bench::shopify_order(1, 5, static_cast<std::size_t>(state.range(0)));
}

void translate(benchmark::State& state) {
    const std::string body = sample(state);
    sluice::Translator translator;
    sluice::SourceRequest request;
    request.topic = "orders/updated";
    request.body = body;
    request.anon_field = "svc_anon_id";
    std::size_t stored = 0;
    for (auto _ : state) {
        stored = translator.translate(request, {}).body.size();
    }
    if (translator.translate(request, {}).kind != sluice::TranslationKind::kOrder) {
        state.SkipWithError("the sample is invalid");
    }
    state.counters["bytes"] = static_cast<double>(body.size());
    state.counters["stored"] = static_cast<double>(stored);
}

void hmac_and_parse(benchmark::State& state) {
    const std::string body = sample(state);
    const simdjson::padded_string padded(body);
    const sluice::SigningKey key("a secret of thirty-two characters");
    const sluice::Digest256 digest = key.sign(body);
    simdjson::dom::parser parser;
    for (auto _ : state) {
        benchmark::DoNotOptimize(key.verify(body, digest));
        benchmark::DoNotOptimize(parser.parse(padded).error());
    }
}

void parse(benchmark::State& state) {
    const std::string body = sample(state);
    const simdjson::padded_string padded(body);
    simdjson::dom::parser parser;
    for (auto _ : state) {
        benchmark::DoNotOptimize(parser.parse(padded).error());
    }
}

BENCHMARK(parse)->Arg(11'000)->Arg(44'000);
BENCHMARK(translate)->Arg(11'000)->Arg(44'000);
BENCHMARK(hmac_and_parse)->Arg(11'000)->Arg(44'000);

}  // namespace
