#include "core/lists/silence.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/ledger/overview_rows.hpp"

namespace sluice::lists {
namespace {

constexpr std::int64_t kMinutesPerDay = 24 * 60;
constexpr std::int64_t kSecondsPerMinute = 60;

/// The rows of one shop, of which the parts of all nodes are joined.
class ShopDays {
public:
    void add(const ShopMinutes& row) {
        Hours& hours = days_[row.day];
        for (std::size_t i = 0; i < hours.size(); ++i) {
            hours[i] |= row.hours[i];
        }
    }

    /// Returns nothing without an event.
    [[nodiscard]] std::optional<Silence> silence() const {
        const std::vector<std::int64_t> minutes = event_minutes();
        if (minutes.empty()) {
            return std::nullopt;
        }
        return Silence{{minutes.back() * kSecondsPerMinute, 0}, usual_gap(minutes)};
    }

private:
    using Hours = std::array<std::uint64_t, 24>;

    /// A node that the shop left may hold days that are older than the others' last ones.
    [[nodiscard]] std::vector<std::int64_t> event_minutes() const {
        std::vector<std::int64_t> minutes;
        if (days_.empty()) {
            return minutes;
        }
        const Timestamp oldest = start_of_day(days_.rbegin()->first).plus_days(1 - kShopDays);
        for (const auto& [day, hours] : days_) {
            const Timestamp start = start_of_day(day);
            if (start >= oldest) {
                add_minutes(start.seconds / kSecondsPerMinute, hours, minutes);
            }
        }
        return minutes;
    }

    static void add_minutes(std::int64_t midnight, const Hours& hours,
                            std::vector<std::int64_t>& minutes) {
        for (std::int64_t of_day = 0; of_day < kMinutesPerDay; ++of_day) {
            const std::uint64_t hour = hours[static_cast<std::size_t>(of_day / 60)];
            if ((hour >> static_cast<unsigned>(of_day % 60) & 1U) != 0) {
                minutes.push_back(midnight + of_day);
            }
        }
    }

    std::map<std::uint32_t, Hours> days_;
};

}  // namespace

std::optional<Silence> silence_of(LedgerReader& ledger, AccountNumber account, ShopNumber shop) {
    ShopDays days;
    const ShopMinutes first{.account = account, .shop = shop};
    ledger.scan(first, {2, 2}, [&days](const ShopMinutes& row) { days.add(row); });
    return days.silence();
}

namespace {

void scan_silences(LedgerReader& ledger, const std::optional<AccountNumber>& account,
                   const std::function<void(ShopNumber shop, const Silence& silence)>& visit) {
    ShopNumber shop;
    ShopDays days;
    const auto end = [&] {
        if (const auto silence = days.silence()) {
            visit(shop, *silence);
        }
        days = {};
    };
    const ShopMinutes first{.account = account.value_or(AccountNumber())};
    const unsigned same = account ? 1 : 0;
    ledger.scan(first, {same, same}, [&](const ShopMinutes& row) {
        if (row.shop != shop) {
            end();
            shop = row.shop;
        }
        days.add(row);
    });
    end();
}

}  // namespace

void scan_silences(LedgerReader& ledger,
                   const std::function<void(ShopNumber shop, const Silence& silence)>& visit) {
    scan_silences(ledger, std::nullopt, visit);
}

std::map<ShopNumber, Silence> silences_of(LedgerReader& ledger, AccountNumber account) {
    std::map<ShopNumber, Silence> silences;
    scan_silences(ledger, account, [&silences](ShopNumber shop, const Silence& silence) {
        silences.emplace(shop, silence);
    });
    return silences;
}

Json silence_json(const ShopId& shop, const std::optional<Silence>& silence, Timestamp now) {
    if (!silence) {
        return {{"state", to_string(ShopSilence::kLearning)},
                {"sentence", shop.str() + ": no event yet."},
                {"silent", Json()},
                {"usual", Json()},
                {"limit", Json()}};
    }
    const auto& [last_event, usual] = *silence;
    const auto seconds = [](std::chrono::minutes length) {
        return std::chrono::seconds(length).count();
    };
    constexpr std::int64_t kSecondsOfMinute = 60;  // events are known to the minute
    const std::int64_t silent_minutes =
        std::max<std::int64_t>(0, now.seconds - last_event.seconds) / kSecondsOfMinute;
    return {{"state", to_string(shop_silence(last_event, usual, now))},
            {"sentence", silence_sentence(shop, last_event, usual, now)},
            {"silent", silent_minutes * kSecondsOfMinute},
            {"usual", usual ? Json(seconds(*usual)) : Json()},
            {"limit", usual ? Json(seconds(silence_limit(*usual))) : Json()}};
}

}  // namespace sluice::lists
