#include "worker/drain/token_days.hpp"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "core/values/lookup.hpp"
#include "core/values/token_number.hpp"
#include "lmdb_store/store/leftovers.hpp"
#include "os/files/file_io.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t kBytesMax = 8U << 20;
constexpr std::size_t kDateBytes = 10;

std::filesystem::path file_of(const store::StorePaths& paths) {
    return paths.root / "token.days";
}

}  // namespace

std::string day_text(std::int64_t day) {
    return Timestamp{day * kSecondsPerDay, 0}.to_string().substr(0, kDateBytes);
}

Result<DaysOfTokens> read_token_days(const store::StorePaths& paths) {
    const Result<std::string> text = read_plain_file(file_of(paths), kBytesMax);
    if (!text) {
        return text.error().code == ErrorCode::kNotFound ? Result<DaysOfTokens>(DaysOfTokens())
                                                         : text.error();
    }
    DaysOfTokens days;
    std::istringstream lines(*text);
    for (std::string id, date; lines >> id >> date;) {
        const std::uint64_t token = token_number(id);
        const std::optional<Timestamp> at = Timestamp::parse(date + "T00:00:00Z");
        if (token != 0 && at) {
            days[token] = at->seconds / kSecondsPerDay;
        }
    }
    return days;
}

TokenDays::TokenDays(const store::StorePaths& paths) : paths_(paths) {
    if (Result<DaysOfTokens> days = read_token_days(paths)) {
        days_ = *std::move(days);
    }
}

void TokenDays::note(std::uint64_t token, Timestamp received_at) {
    const std::int64_t day = received_at.seconds / kSecondsPerDay;
    if (token == 0) {
        return;
    }
    const auto [known, added] = days_.try_emplace(token, day);
    if (!added && known->second >= day) {
        return;
    }
    known->second = day;
    is_changed_ = true;
    if (days_.size() > kTokensMax) {
        forget_oldest();
    }
}

/// Forgets a quarter, so that numbers which nginx makes up cost little each.
void TokenDays::forget_oldest() {
    auto by_day = mapped(days_, [](const auto& one) { return std::pair(one.second, one.first); });
    const auto kept = by_day.begin() + static_cast<std::ptrdiff_t>(by_day.size() / 4);
    std::nth_element(by_day.begin(), kept, by_day.end());
    for (auto oldest = by_day.begin(); oldest != kept; ++oldest) {
        days_.erase(oldest->second);
    }
}

Status TokenDays::save() {
    if (!is_changed_) {
        return Status::success();
    }
    std::string text;
    for (const auto& [token, day] : days_) {
        text += token_id_of(token) + " " + day_text(day) + "\n";
    }
    Status saved = store::replace_store_file(paths_, file_of(paths_), text);
    is_changed_ = !saved;
    return saved;
}

}  // namespace sluice::worker
