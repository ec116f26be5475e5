// Links and their clicks as nginx stores them, for a store of apply_store.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/apply_store.hpp"
#include "core/protocol/click_record.hpp"

namespace sluice::bench {

/// Clicks of a full record of nginx (ClickBuffer::kRecordClicksMax).
inline constexpr std::uint64_t kRecordClicks = 150;
inline constexpr std::uint64_t kCreators = 40;  ///< Bench::programs() makes so many.

inline std::string link_name(std::uint64_t number) {
    return "link-" + std::to_string(number);
}

/// Links of the program's creators. Requires: Bench::programs() before.
inline void create_links(Bench& bench, std::uint64_t count) {
    constexpr std::uint64_t kRows = 1000;
    for (std::uint64_t first = 0; first < count; first += kRows) {
        LinkSet set;
        for (std::uint64_t i = first; i < std::min(first + kRows, count); ++i) {
            LinkSet::Row row{static_cast<std::uint32_t>(i - first + 2), LinkId(link_name(i))};
            row.program = ProgramId("spring");
            row.creator = CreatorId("creator-" + std::to_string(i % kCreators));
            row.destination = "https://shop.example/products/" + std::to_string(i);
            row.deep = false;
            set.rows.push_back(std::move(row));
        }
        bench.append(Topic::kLinkSet, {encode_request({{}, {}, set})});
    }
}

/// Evenly from `from` on. Each device clicks two links, one after the other.
struct ClickTimes {
    Timestamp from;
    std::uint64_t milliseconds = 10;  ///< From one click to the next.
    std::uint64_t links = 1000;       ///< As many as there are.
};

inline RecordedClick click_of(std::uint64_t number, const ClickTimes& times) {
    const std::uint64_t at = number * times.milliseconds;
    RecordedClick click;
    click.device = sha256("device-" + std::to_string(number / 2));
    click.occurred_at = {times.from.seconds + static_cast<std::int64_t>(at / 1000),
                         static_cast<std::uint32_t>(at % 1000) * 1'000'000U};
    click.link = LinkId(link_name(number % times.links));
    return click;
}

inline void append_clicks(Bench& bench, std::uint64_t first, std::uint64_t end,
                          const ClickTimes& times) {
    constexpr std::size_t kRecords = 100;  // of an append
    while (first < end) {
        std::vector<std::string> bodies;
        while (bodies.size() < kRecords && first < end) {
            ClickRecord record{ClickSource::kLink, {}};
            for (const std::uint64_t last = std::min(first + kRecordClicks, end); first < last;
                 ++first) {
                record.rows.push_back(click_of(first, times));
            }
            bodies.push_back(encode_clicks(record));
        }
        bench.append(Topic::kClick, bodies, 0);
    }
}

}  // namespace sluice::bench
