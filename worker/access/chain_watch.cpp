#include "worker/access/chain_watch.hpp"

#include <exception>
#include <utility>

namespace sluice::cli {
namespace {

constexpr std::chrono::milliseconds kEmbeddedPace{50}, kServerPace{250};

}  // namespace

void ChainWatch::start(Notice notice) {
    notice_ = std::move(notice);
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void ChainWatch::watch(bool wanted) {
    {
        const std::lock_guard lock(mutex_);
        is_new_ = is_new_ || wanted;
        wanted_ = wanted;
    }
    changed_.notify_all();
}

void ChainWatch::stop() {
    thread_ = {};  // joins it
}

void ChainWatch::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, stop, [this] { return wanted_; });
        if (stop.stop_requested()) {
            return;
        }
        if (std::exchange(is_new_, false)) {
            seen_ = 0;
        }
        lock.unlock();
        try {
            if (std::optional<ChainEntries> entries = changed()) {
                notice_(std::move(entries));
            }
        } catch (const std::exception&) {  // the requests that it wakes report the failure
            ledger_.close();
            notice_(std::nullopt);
        }
        lock.lock();
        changed_.wait_for(lock, stop, ledger_.is_embedded() ? kEmbeddedPace : kServerPace,
                          [this] { return wanted_ && is_new_; });
    }
}

std::optional<ChainEntries> ChainWatch::changed() {
    if (ledger_.refresh()) {
        seen_ = 0;
    }
    const auto snapshot = ledger_->snapshot({});
    std::uint64_t now = 1;  // so that an empty ledger is noticed as well
    snapshot->scan_heads([&now](const LedgerHead& head) { now += head.next_entry; });
    if (std::exchange(seen_, now) == now) {
        return std::nullopt;
    }
    ChainEntries entries;
    snapshot->scan_chains(
        [&entries](const NodeChain& chain) { entries[chain.account] += chain.head.entries; });
    return entries;
}

}  // namespace sluice::cli
