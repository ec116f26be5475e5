#include "notify/sender.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/values/lookup.hpp"
#include "notify/courier.hpp"
#include "notify/served.hpp"
#include "notify/signing.hpp"
#include "os/clock/clock.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/output.hpp"
#include "program/system/crash_point.hpp"
#include "program/system/process.hpp"
#include "worker/access/chain_watch.hpp"

namespace sluice::notify {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kIdle{250};          ///< Commands are noticed after this.
constexpr milliseconds kOutcomePause{20};   ///< Outcomes wait for others.
constexpr milliseconds kPlacePause{1000};   ///< Cursors alone.
constexpr milliseconds kReadPause{30'000};  ///< Time of the last read, while nothing happens.
constexpr milliseconds kRetryStore{1000};

unsigned random_permille() {
    std::array<std::uint8_t, 2> bytes{};
    fill_random(bytes);
    return (static_cast<unsigned>(bytes[0]) << 8U | bytes[1]) % 1001;
}

void say(const std::string& destination, const std::string& sentence) {
    if (!sentence.empty()) {
        std::fprintf(stderr, "sluice: destination %s %s\n", destination.c_str(),
                     cli::printable(sentence).c_str());
    }
}

/// A request that has not ended.
struct UnderWay {
    std::string destination, uuid;
    std::uint32_t number = 1;
    Notice notice;
};

class SendLoop {
public:
    SendLoop(store::DestinationStore& store, const store::MasterKey& key, worker::LedgerOpener open,
             SenderOptions options)
        : store_(store),
          key_(key),
          options_(std::move(options)),
          client_(make_client(kUnderWayOfAllMax, options_.ca_file)),
          reader_(cli::OpenLedger(open, options_.store), [this] { client_->wake(); }),
          watch_(cli::OpenLedger(std::move(open), options_.store)) {}

    [[nodiscard]] Status run(const std::atomic<bool>& stop) {
        watch_.start(
            [this](const std::optional<cli::ChainEntries>& entries) { note_entries(entries); });
        watch_.watch(true);
        Status ok = Status::success();
        while (ok.ok() && (!stop || !under_way_.empty())) {
            stopping_ = stop;
            ok = refresh();
            take_batches();
            if (!stopping_ && ok.ok() && may_send() && unstored_.empty()) {
                read();
                start();
            }
            for (const cli::HttpResponse& response : client_->wait(wait_ms())) {
                end(response);
            }
            store_outcomes(false);
        }
        watch_.stop();
        reader_.stop();
        store_outcomes(true);
        return ok;
    }

private:
    /// Called on the watch's thread.
    void note_entries(const std::optional<cli::ChainEntries>& entries) {
        const std::lock_guard lock(mutex_);
        if (entries) {
            seen_ = *entries;
        }
        client_->wake();
    }

    [[nodiscard]] std::uint64_t entries_of(AccountNumber account) {
        const std::lock_guard lock(mutex_);
        const auto* const entries = find_value(seen_, account);
        return entries == nullptr ? 0 : *entries;
    }

    /// Reads the destinations again if a command has changed them.
    [[nodiscard]] Status refresh() {
        if (!store_.still_in_place()) {  // a restored store's; commands change that one
            return conflict("the folder of the destinations was replaced: start again");
        }
        if (options_.has_same_ledger && !options_.has_same_ledger()) {
            return conflict("the store has another ledger now: start again");
        }
        if (store_.version() == version_) {
            return Status::success();
        }
        version_ = store_.version();
        auto rows = store_.list();
        if (!rows.ok()) {
            return rows.error();
        }
        std::map<std::string, std::unique_ptr<Served>> served;
        for (store::StoredDestination& row : *rows) {
            const std::string id = row.destination.id;
            auto replays = store_.replays(id);
            if (!replays.ok()) {
                return replays.error();
            }
            if (Served* const known = find(id, row.destination.uuid)) {
                known->refresh(std::move(row), *std::move(replays));
                served.emplace(id, nullptr);
                continue;
            }
            const auto pending = store_.pending(id);
            if (!pending.ok()) {
                return pending.error();
            }
            served.emplace(id,
                           std::make_unique<Served>(std::move(row), *pending, *std::move(replays)));
        }
        // The known ones move last, because run() still uses them if a read above fails.
        for (auto& [id, one] : served) {
            if (!one) {
                one = std::move(served_.at(id));
            }
        }
        served_ = std::move(served);
        return Status::success();
    }

    [[nodiscard]] bool may_send() const { return !options_.may_send || options_.may_send(); }

    [[nodiscard]] Served* find(const std::string& id, const std::string& uuid) {
        const auto* const found = find_value(served_, id);
        return found != nullptr && (*found)->destination().uuid == uuid ? found->get() : nullptr;
    }

    void take_batches() {
        for (FeedBatch& batch : reader_.take()) {
            note_ledger(batch.error);
            Served* const served = find(batch.order.destination, batch.order.uuid);
            if (batch.order.replay == 0 && !batch.order.only.empty()) {
                take_body(served, batch);
            } else if (served != nullptr) {
                say(served->destination().id, served->took(std::move(batch), wall_ms()));
                worker::crash_point("read");
            }
        }
    }

    /// Says once that the ledger cannot be read, and once that it can.
    void note_ledger(const std::optional<Error>& error) {
        if (error && !ledger_failed_) {
            std::fprintf(stderr, "sluice: the ledger cannot be read: %s\n",
                         cli::printable(error->message).c_str());
        } else if (!error && ledger_failed_) {
            std::fprintf(stderr, "sluice: the ledger can be read again\n");
        }
        ledger_failed_ = error.has_value();
    }

    void take_body(Served* served, FeedBatch& batch) {
        const auto waiting = bodies_.extract({batch.order.uuid, batch.order.only.front()});
        if (served == nullptr || waiting.empty()) {
            return;
        }
        const store::PendingChange& change = waiting.mapped();
        if (batch.error || stopping_) {
            served->put_back(change.change);
            bodies_at_ = steady_now() + kRetryStore;
        } else if (batch.notices.empty()) {
            served->drop(change, wall_ms());
        } else {
            send(*served, std::move(batch.notices.front()), change.failures + 1);
        }
    }

    void read() {
        const std::uint64_t now = wall_ms();
        for (const auto& [id, served] : served_) {
            if (auto order = served->next_read(entries_of(served->destination().account), now)) {
                reader_.submit(*std::move(order));
            }
        }
    }

    /// Starts requests, one destination after the other, so that none takes all places.
    void start() {
        if (served_.empty() || steady_now() < bodies_at_) {
            return;
        }
        auto at = served_.upper_bound(started_last_);
        for (std::size_t idle = 0; idle < served_.size() && has_place(); ++at) {
            at = at == served_.end() ? served_.begin() : at;
            started_last_ = at->first;
            idle = start_one(*at->second) ? 0 : idle + 1;
        }
    }

    [[nodiscard]] bool has_place() const {
        return under_way_.size() + bodies_.size() < kUnderWayOfAllMax;
    }

    bool start_one(Served& served) {
        const auto change = served.take(wall_ms());
        if (!change) {
            return false;
        }
        if (const Notice* const notice = served.notice_of(change->change)) {
            send(served, *notice, change->failures + 1);
        } else {
            reader_.submit(served.body_order(change->change));
            bodies_.emplace(std::pair{served.destination().uuid, change->change}, *change);
        }
        return true;
    }

    void send(Served& served, Notice notice, std::uint32_t number) {
        const store::Destination& destination = served.destination();
        const std::uint64_t now = wall_ms();
        const auto secrets = open_secrets(key_, destination, now);
        if (!secrets.ok()) {
            cli::HttpResponse none;
            none.error = secrets.error().message;
            say(destination.id, served.ended(notice, number, none, now, random_permille()));
            return;
        }
        const auto [at, is_new] = under_way_.emplace(
            next_id_++, UnderWay{destination.id, destination.uuid, number, std::move(notice)});
        client_->start(at->first,
                       request_of(destination, *secrets, served.judge(), at->second.notice, now));
    }

    void end(const cli::HttpResponse& response) {
        const auto ended = under_way_.extract(response.id);
        const UnderWay& request = ended.mapped();
        if (Served* const served = find(request.destination, request.uuid)) {
            say(request.destination, served->ended(request.notice, request.number, response,
                                                   wall_ms(), random_permille()));
            worker::crash_point("sent");
        }
    }

    /// Stores outcomes soon, and cursors and times of reads later, for all destinations in one
    /// transaction.
    void store_outcomes(bool at_once) {
        const auto now = steady_now();
        const auto since = now - stored_at_;
        auto most = Served::Unstored::kNothing;
        for (const auto& [id, served] : served_) {
            if (since >= kReadPause) {
                served->note_read(entries_of(served->destination().account), wall_ms());
            }
            most = std::max(most, served->unstored());
        }
        const bool is_due =
            unstored_.empty()
                ? at_once ||
                      since >= (most == Served::Unstored::kOutcome ? kOutcomePause : kPlacePause)
                : at_once || now >= retry_store_at_;
        if (!is_due || (most == Served::Unstored::kNothing && unstored_.empty())) {
            return;
        }
        stored_at_ = now;
        for (const auto& [id, served] : served_) {
            if (served->unstored() != Served::Unstored::kNothing) {
                unstored_.push_back(served->take_step());
            }
        }
        const std::uint64_t before = store_.version();
        if (Status stored = store_.apply(unstored_, wall_ms()); !stored.ok()) {
            if (!store_failed_) {
                std::fprintf(stderr, "sluice: %s; nothing more is sent until it can be stored\n",
                             cli::printable(stored.error().message).c_str());
            }
            store_failed_ = true;
            retry_store_at_ = now + kRetryStore;
            return;
        }
        worker::crash_point("noted");
        store_failed_ = false;
        unstored_.clear();
        // The next refresh() reads the destinations unless this was the only change.
        version_ = before == version_ && store_.version() == before + 1 ? before + 1 : version_;
    }

    [[nodiscard]] int wait_ms() {
        const std::uint64_t now = wall_ms();
        std::uint64_t wait = static_cast<std::uint64_t>(kIdle.count());
        auto most = Served::Unstored::kNothing;
        for (const auto& [id, served] : served_) {
            most = std::max(most, served->unstored());
            if (const auto at = served->next_at(now);
                at && has_place() && unstored_.empty() && may_send()) {
                wait = std::min(wait, *at - now);
            }
        }
        if (most == Served::Unstored::kOutcome) {
            wait = std::min<std::uint64_t>(wait, kOutcomePause.count());
        }
        return static_cast<int>(wait);
    }

    store::DestinationStore& store_;
    const store::MasterKey& key_;
    SenderOptions options_;
    std::unique_ptr<cli::HttpClient> client_;
    FeedReader reader_;
    cli::ChainWatch watch_;
    std::mutex mutex_;
    cli::ChainEntries seen_;  ///< Guarded by mutex_.
    std::uint64_t version_ = 0;
    std::map<std::string, std::unique_ptr<Served>> served_;
    std::string started_last_;
    std::map<std::uint64_t, UnderWay> under_way_;
    std::uint64_t next_id_ = 1;
    /// Changes whose bodies are read again, by the destination's UUID.
    std::map<std::pair<std::string, store::ChangeId>, store::PendingChange> bodies_;
    Clock::time_point bodies_at_{}, stored_at_{}, retry_store_at_{};
    std::vector<store::DestinationStep> unstored_;  ///< Could not be stored.
    bool ledger_failed_ = false, store_failed_ = false, stopping_ = false;
};

}  // namespace

Status send_notifications(store::DestinationStore& store, const store::MasterKey& key,
                          worker::LedgerOpener open, SenderOptions options,
                          const std::atomic<bool>& stop) {
    SendLoop sender(store, key, std::move(open), std::move(options));
    cli::notify_service("READY=1");
    Status ended = sender.run(stop);
    cli::notify_service("STOPPING=1");
    return ended;
}

}  // namespace sluice::notify
