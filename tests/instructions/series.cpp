// A fixed series of requests through core and lmdb_store, for counting instructions: the steps are
// functions with C names, which callgrind reports one by one. No clock, no disk, no randomness.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/micro/samples.hpp"
#include "bench/need.hpp"
#include "core/intake/intake.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/registry/registry.hpp"

namespace {

using namespace sluice;
using bench::need;

constexpr Timestamp kNow{1'700'000'000, 0};
constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::size_t kBatch = 64;

class Gate final : public RateGate {
public:
    std::optional<RateVerdict> count(const AccountView&) override {
        return RateVerdict{true, 600, 599, 1'700'000'060, 60};
    }
    void recognize(const AccountView&) override {}
};

HeaderValue header(std::string_view value) {
    return {value, 1};
}

struct Series {
    std::unique_ptr<store::RegistryReader> registry;
    std::unique_ptr<store::Queue> queue;
    HeaderNames names{"X-SVC-"};
    Gate gate;
    IntakeScratch scratch;
    std::vector<RecordEnvelope> envelopes{kBatch};
    std::vector<store::AppendItem> items{kBatch};
    std::string order = bench::order(5);
    std::string order_signature = to_hex(SigningKey(kSecret).sign(order));
    std::string catalog = bench::batch(20, 3);
    std::string catalog_signature = to_hex(sha256(catalog));
};

void check(const Accepting& accepting) {
    if (accepting.answer) {
        std::fprintf(stderr, "series: refused: %s\n",
                     std::string(accepting.answer->text()).c_str());
        std::exit(1);
    }
}

}  // namespace

extern "C" {

/// One order event, from its head to the typed value that is stored.
[[gnu::noinline]] void series_check_order(Series* series, RecordMeta* meta) {
    RequestHead head;
    head.shop = header("shop-1");
    head.topic = header("ORDER_CREATE");
    head.signature = header(series->order_signature);
    head.content_type = header("application/json");
    const Opened opened = open_event(head, *series->registry);
    WholeBody body(series->order);
    const Accepting accepting =
        accept_event(head, series->names, opened.sender, body, series->gate, kNow, series->scratch);
    check(accepting);
    *meta = accepting.accepted.meta;
}

/// Its record's head, checksum included.
[[gnu::noinline]] void series_encode(Series* series, const RecordMeta* meta, std::size_t at) {
    series->envelopes[at].encode(*meta, series->order);
}

/// 64 orders become durable, but for the syncs.
[[gnu::noinline]] void series_append(Series* series) {
    series->queue->append(series->items, kNow);
}

/// One batch of 20 products.
[[gnu::noinline]] void series_check_catalog(Series* series) {
    RequestHead head;
    head.shop = header("shop-1");
    head.topic = header("PRODUCT_UPSERT");
    head.signature = header(series->catalog_signature);
    head.content_type = header("application/json");
    head.idempotency_key = header("key");
    const std::string bearer = std::string("Bearer ") + kSecret;
    head.authorization = header(bearer);
    const Opened opened = open_catalog(head, series->names, *series->registry, kNow);
    if (opened.answer) {
        std::exit(1);
    }
    WholeBody body(series->catalog);
    check(accept_catalog(head, opened.sender, body, series->gate, series->scratch));
}
}

namespace {

void run_batch(Series& series, std::uint64_t& last) {
    for (std::size_t at = 0; at < kBatch; ++at) {
        RecordMeta meta;
        series_check_order(&series, &meta);
        meta.received_at = kNow;
        meta.request_id = "0123456789abcdef0123456789abcdef";
        series_encode(&series, &meta, at);
        series.items[at] = {};
        series.items[at].prefix = series.envelopes[at].prefix();
        series.items[at].body = series.order;
        series.items[at].received_at = kNow;
    }
    series_append(&series);
    for (const store::AppendItem& item : series.items) {
        if (item.outcome != store::AppendOutcome::kStored) {
            std::exit(1);
        }
        last = item.seq.value;
    }
    series.queue->control().publish_applied({last - last / 8});  // each append deletes, too
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: instruction_series NEW_FOLDER BATCHES\n");
        return 2;
    }
    const store::StorePaths paths{std::filesystem::path(argv[1])};
    need(store::init_store(paths, {}));
    const store::MasterKey key = need(store::MasterKey::load(paths.master_key));
    {
        auto registry = need(store::Registry::open(paths, store::Registry::Mode::kReadWrite));
        need(registry->create_account(AccountId("acme"), std::nullopt, kNow));
        need(registry->create_shop(ShopId("shop-1"), AccountId("acme"), kNow));
        need(registry->create_token(
            {AccountId("acme"), kWriteOrders | kWriteProducts, std::nullopt, kSecret}, key, kNow));
    }
    Series series;
    series.registry = need(store::RegistryReader::open(paths, key));
    series.queue = need(store::Queue::open(paths, {.map_bytes = 1U << 30, .sync = false}));
    std::uint64_t last = 0;
    for (int batch = 0; batch < std::atoi(argv[2]); ++batch) {
        run_batch(series, last);
        series_check_catalog(&series);
    }
    return 0;
}
