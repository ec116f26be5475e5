// URL: where a PostgreSQL ledger is, and who asks. The password never leaves this value: not in
// messages, not in what is shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::pg {

/// A ledger's address:
/// postgres://[USER[:PASSWORD]@][HOST[:PORT]][,...][/DATABASE][?PARAMETER=VALUE&...], as libpq
/// reads it. PGPASSFILE, `service=` and the PG* variables set what it omits.
class Url {
public:
    /// Returns kInvalid if the text is no URL of a ledger. The message repeats nothing of the text.
    [[nodiscard]] static Result<Url> parse(std::string_view text);
    [[nodiscard]] static bool is_one(std::string_view text) noexcept;

    /// Returns the URL without the password, for people, logs and files.
    [[nodiscard]] const std::string& shown() const noexcept { return shown_; }
    /// Returns keywords and values for libpq, the password included.
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& parameters() const {
        return parameters_;
    }

private:
    std::string shown_;
    std::vector<std::pair<std::string, std::string>> parameters_;
};

enum class Access : std::uint8_t {
    kReadOnly,  ///< The first server that answers, or the kind that the URL requires.
    /// The server that accepts writes, and whose standbys have all its commits. A standby, or a
    /// server that was cut off from its standbys, is kIo.
    kReadPrimary,
    /// As kReadPrimary. Commits are durable when they are acknowledged, on the standbys too if the
    /// server is set up so.
    kReadWrite,
};

/// Overwrites passwords of ledger URLs among a program's arguments with `*`, so that they do not
/// appear in the list of processes. Call it when nothing reads the arguments any more.
void hide_passwords(int argc, char** argv);

}  // namespace sluice::pg
