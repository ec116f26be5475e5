#include "serve/http/metrics.hpp"

#include <algorithm>
#include <string_view>

#include "core/values/lookup.hpp"
#include "lmdb_store/destinations/destination_store.hpp"
#include "os/clock/clock.hpp"

namespace sluice::serve {

void add_head(std::string& text, const std::string& name, const char* type, const char* help) {
    text += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

std::string sample_name(std::string_view name, SampleLabels labels) {
    std::string text(name);
    const char* separator = "{";
    for (const auto& [label, said] : labels) {
        text += std::exchange(separator, ",") + std::string(label) + "=\"";
        for (const char c : said) {
            text += c == '\\' || c == '"' ? "\\" : "";
            text += c;
        }
        text += '"';
    }
    return text + (labels.size() == 0 ? " " : "} ");
}

namespace {

template <class Number>
void add_gauge(std::string& text, const char* name, const char* help, Number value) {
    add_head(text, name, "gauge", help);
    add_sample(text, name, {}, value);
}

void add_requests(std::string& text, const Figures& figures) {
    constexpr const char* kRequests = "sluice_read_requests_total";
    constexpr const char* kDuration = "sluice_read_duration_seconds";
    add_head(text, kRequests, "counter", "Requests to the API and the page.");
    for (const auto& [key, count] : figures.requests) {
        add_sample(text, kRequests, {{"path", key.first}, {"status", std::to_string(key.second)}},
                   count);
    }
    const std::uint64_t* const links =
        find_value(figures.requests, std::pair(std::string("/v1/creator-link"), 200U));
    add_head(text, "sluice_creator_links_total", "counter",
             "Links to creators' pages that were made.");
    add_sample(text, "sluice_creator_links_total", {}, links == nullptr ? 0 : *links);
    add_head(text, kDuration, "summary", "Time from a request's head to its answer.");
    for (const auto& [path, microseconds] : figures.microseconds) {
        constexpr double kPerSecond = 1e6;
        add_sample(text, std::string(kDuration) + "_sum", {{"path", path}},
                   static_cast<double>(microseconds) / kPerSecond);
        add_sample(text, std::string(kDuration) + "_count", {{"path", path}},
                   figures.answered.at(path));
    }
}

void add_destinations(std::string& text, const store::StorePaths& paths) {
    const auto opened = store::DestinationStore::open(paths, store::DestinationStore::Mode::kRead);
    const auto rows = opened.ok() ? (*opened)->list() : opened.error();
    if (!rows.ok() || rows->empty()) {
        return;
    }
    constexpr const char* kDeliveries = "sluice_notify_deliveries_total";
    constexpr const char* kState = "sluice_notify_state";
    constexpr const char* kLag = "sluice_notify_lag_changes";
    constexpr const char* kLooked = "sluice_notify_looked_timestamp_seconds";
    constexpr std::uint64_t kPerSecond = 1000;
    add_head(text, kDeliveries, "counter", "Requests to a destination, and changes given up.");
    for (const auto& [row, progress] : *rows) {
        for (const auto& [outcome, count] :
             {std::pair{"delivered", progress.delivered}, std::pair{"failed", progress.failed},
              std::pair{"expired", progress.expired}}) {
            add_sample(text, kDeliveries, {{"destination", row.id}, {"outcome", outcome}}, count);
        }
    }
    add_head(text, kState, "gauge", "1 for the state of a destination.");
    for (const store::StoredDestination& row : *rows) {
        for (const std::string_view state : {"active", "failing", "paused", "disabled"}) {
            add_sample(text, kState, {{"destination", row.destination.id}, {"state", state}},
                       store::state_of(row) == state ? 1 : 0);
        }
    }
    add_head(text, kLag, "gauge", "Entries and changes that a destination waits for.");
    for (const auto& [row, progress] : *rows) {
        add_sample(text, kLag, {{"destination", row.id}}, store::lag_of(progress));
    }
    add_head(text, kLooked, "gauge", "When the process that sends last read the ledger.");
    for (const auto& [row, progress] : *rows) {
        add_sample(text, kLooked, {{"destination", row.id}}, progress.looked_at / kPerSecond);
    }
}

void add_shops(std::string& text, const std::vector<ShopActivity>& shops) {
    constexpr const char* kSilence = "sluice_shop_silence_seconds";
    constexpr const char* kLimit = "sluice_shop_silence_limit_seconds";
    const Timestamp at = now();
    add_head(text, kSilence, "gauge", "Time since the shop's last event, to the minute.");
    for (const ShopActivity& shop : shops) {
        add_sample(text, kSilence, {{"account", shop.account_id}, {"shop", shop.shop_id}},
                   std::max<std::int64_t>(0, at.seconds - shop.last_event.seconds));
    }
    add_head(text, kLimit, "gauge", "Silence beyond which the shop is silent.");
    for (const ShopActivity& shop : shops) {
        if (shop.limit) {
            add_sample(text, kLimit, {{"account", shop.account_id}, {"shop", shop.shop_id}},
                       shop.limit->count());
        }
    }
}

void add_lacks(std::string& text, const std::vector<ShopLack>& shops) {
    constexpr const char* kName = "sluice_shop_lacks_device_ids";
    add_head(text, kName, "gauge",
             "Devices that clicked yesterday, of shops whose orders carried no device id.");
    for (const ShopLack& shop : shops) {
        add_sample(text, kName, {{"account", shop.account_id}, {"shop", shop.shop_id}},
                   shop.devices);
    }
}

}  // namespace

std::string metrics_text(const Figures& figures, SilenceWatch& watch,
                         const store::StorePaths& paths) {
    std::string text;
    add_requests(text, figures);
    add_gauge(text, "sluice_read_connections", "Open connections.", figures.connections);
    add_gauge(text, "sluice_feed_waiters", "Requests that wait for a change.",
              figures.feed_waiters);
    add_gauge(text, "sluice_snapshot_age_seconds", "Age of the oldest snapshot that is read.",
              std::chrono::duration<double>(figures.snapshot_age).count());
    add_destinations(text, paths);
    add_shops(text, watch.shops());
    add_lacks(text, watch.shops_without_devices());
    if (const auto unsealed = watch.unsealed_commands()) {
        add_gauge(text, "sluice_unsealed_commands",
                  "Commands without a valid seal among the ledger's dead letters.", *unsealed);
    }
    return text;
}

}  // namespace sluice::serve
