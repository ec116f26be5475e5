#include "worker/serve/notify_figures.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lmdb_store/destinations/destination_store.hpp"

namespace sluice::serve {
namespace {

using Rows = std::vector<store::StoredDestination>;

constexpr std::array<std::string_view, 4> kDestinationStates{"active", "failing", "paused",
                                                             "disabled"};

/// An id needs no escapes in a label (is_admin_id()).
std::string sample(std::string_view name, const store::Destination& of, std::string_view more,
                   std::uint64_t value) {
    return std::string(name) + "{destination=\"" + of.id + "\"" + std::string(more) + "} " +
           std::to_string(value) + "\n";
}

std::string head(std::string_view name, std::string_view type, std::string_view help) {
    return "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " +
           std::string(name) + " " + std::string(type) + "\n";
}

std::string deliveries(const Rows& rows) {
    constexpr std::string_view kName = "sluice_notify_deliveries_total";
    std::string text = head(kName, "counter", "Requests to a destination, and changes given up.");
    for (const store::StoredDestination& row : rows) {
        const store::DestinationProgress& progress = row.progress;
        for (const auto& [outcome, count] :
             {std::pair{"delivered", progress.delivered}, std::pair{"failed", progress.failed},
              std::pair{"expired", progress.expired}}) {
            text +=
                sample(kName, row.destination, ",outcome=\"" + std::string(outcome) + "\"", count);
        }
    }
    return text;
}

std::string states(const Rows& rows) {
    constexpr std::string_view kName = "sluice_notify_state";
    std::string text = head(kName, "gauge", "1 for the state of a destination.");
    for (const store::StoredDestination& row : rows) {
        for (const std::string_view state : kDestinationStates) {
            text += sample(kName, row.destination, ",state=\"" + std::string(state) + "\"",
                           store::state_of(row) == state ? 1 : 0);
        }
    }
    return text;
}

std::string lags(const Rows& rows) {
    constexpr std::string_view kLag = "sluice_notify_lag_changes";
    constexpr std::string_view kLooked = "sluice_notify_looked_timestamp_seconds";
    constexpr std::uint64_t kPerSecond = 1000;
    std::string text = head(kLag, "gauge", "Entries and changes that a destination waits for.");
    for (const store::StoredDestination& row : rows) {
        text += sample(kLag, row.destination, "", store::lag_of(row.progress));
    }
    text += head(kLooked, "gauge", "When the process that sends last read the ledger.");
    for (const store::StoredDestination& row : rows) {
        text += sample(kLooked, row.destination, "", row.progress.looked_at / kPerSecond);
    }
    return text;
}

}  // namespace

std::string notify_figures(const store::StorePaths& paths) {
    const auto opened = store::DestinationStore::open(paths, store::DestinationStore::Mode::kRead);
    if (!opened.ok()) {
        return {};
    }
    const auto rows = (*opened)->list();
    return rows.ok() && !rows->empty() ? deliveries(*rows) + states(*rows) + lags(*rows)
                                       : std::string();
}

}  // namespace sluice::serve
