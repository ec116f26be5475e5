#include "serve/http/silence_watch.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "core/commands/seal.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/silence.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "os/clock/clock.hpp"

namespace sluice::serve {
namespace {

constexpr std::chrono::minutes kPace{1};

/// Returns the names of the shops that may send, by number.
std::map<ShopNumber, store::RegisteredShop> active_shops(const store::StorePaths& paths) {
    auto registry = store::Registry::open(paths, store::Registry::Mode::kPublished);
    auto rows = registry.ok() ? (*registry)->shops({}) : registry.error();
    std::map<ShopNumber, store::RegisteredShop> shops;
    for (store::RegisteredShop& row : std::move(rows).value_or({})) {
        if (!row.suspended) {
            shops.emplace(row.number, std::move(row));
        }
    }
    return shops;
}

}  // namespace

std::vector<ShopActivity> SilenceWatch::shops() {
    const std::lock_guard lock(mutex_);
    return found_.shops;
}

std::vector<ShopLack> SilenceWatch::shops_without_devices() {
    const std::lock_guard lock(mutex_);
    return found_.lacks;
}

std::optional<std::uint64_t> SilenceWatch::unsealed_commands() {
    const std::lock_guard lock(mutex_);
    return found_.unsealed;
}

void SilenceWatch::start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void SilenceWatch::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        Found found;
        try {
            found = read();
        } catch (const std::exception&) {  // /ready and the requests report the failure
        }
        std::unique_lock lock(mutex_);
        found_ = std::move(found);
        stopped_.wait_for(lock, stop, kPace, [] { return false; });
    }
}

/// Opens the ledger for each reading, so that a restored one is found, and none is held for long.
SilenceWatch::Found SilenceWatch::read() {
    Found found;
    const std::map<ShopNumber, store::RegisteredShop> shops = active_shops(paths_);
    auto opened = open_();
    if (!opened.ok()) {
        return found;
    }
    const std::unique_ptr<Ledger> ledger = std::move(opened).value();
    const auto snapshot = ledger->snapshot({});
    lists::scan_silences(*snapshot, [&](ShopNumber number, const lists::Silence& silence) {
        const auto shop = shops.find(number);
        if (shop != shops.end()) {
            found.shops.push_back(
                {shop->second.account_id.str(), shop->second.shop_id.str(), silence.last_event,
                 silence.usual ? std::optional<std::chrono::seconds>(silence_limit(*silence.usual))
                               : std::nullopt});
        }
    });
    std::ranges::sort(found.shops, {}, &ShopActivity::last_event);
    found.shops.resize(std::min(found.shops.size(), kShopsMax));
    for (const lists::ShopWithoutDevices& one :
         lists::shops_without_devices(*snapshot, std::nullopt, day_of(now().plus_days(-1)))) {
        const auto shop = shops.find(one.shop);
        if (shop != shops.end() && found.lacks.size() < kShopsMax) {
            found.lacks.push_back(
                {shop->second.account_id.str(), shop->second.shop_id.str(), one.devices});
        }
    }
    found.unsealed = count_unsealed(*ledger);
    return found;
}

std::uint64_t SilenceWatch::count_unsealed(Ledger& ledger) {
    std::map<std::string, Totals> nodes;
    ledger.snapshot({})->scan_heads(
        [&nodes](const LedgerHead& head) { nodes.emplace(head.node, head.totals); });
    std::uint64_t unsealed = 0;
    for (const auto& [node, totals] : nodes) {
        Counted& counted = counted_[node];
        if (counted.dead != totals.dead || counted.commands != totals.commands) {
            Counted now{totals.dead, totals.commands, 0};
            ledger.snapshot(node)->scan_dead([&now](const DeadLetter& letter) {
                now.unsealed += is_not_sealed(letter.reason) ? 1U : 0U;
            });
            counted = now;
        }
        unsealed += counted.unsealed;
    }
    return unsealed;
}

}  // namespace sluice::serve
