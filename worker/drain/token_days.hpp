// Token days: the day on which each token last proved a sender, so that people see which one is in
// use before they revoke it.
//
// The worker keeps them in the file `<store>/token.days`, a line for each token: its id, a space,
// and the day (UTC). It writes the file when a token is used for the first time on a day, at most
// every ten seconds. No rule depends on the file, because nginx can write any number into a record.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::worker {

/// Days by the token's number. A day is counted from 1970-01-01.
using DaysOfTokens = std::map<std::uint64_t, std::int64_t>;

/// Returns what the file says. A file that is missing has no token; lines of another form are left
/// out.
[[nodiscard]] Result<DaysOfTokens> read_token_days(const store::StorePaths& paths);
/// Returns `2026-11-28`.
[[nodiscard]] std::string day_text(std::int64_t day);

class TokenDays {
public:
    /// Tokens of which a day is kept; of more, those that were used longest ago are forgotten.
    static constexpr std::size_t kTokensMax = 65'536;

    explicit TokenDays(const store::StorePaths& paths);
    /// @param token  Its number; 0 is ignored.
    void note(std::uint64_t token, Timestamp received_at);
    /// Writes the file if a day changed. An error leaves the change for the next call.
    [[nodiscard]] Status save();

private:
    void forget_oldest();

    store::StorePaths paths_;
    DaysOfTokens days_;
    bool is_changed_ = false;
};

}  // namespace sluice::worker
