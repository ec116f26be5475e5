#include <chrono>

#include "pg_store/connection/session.hpp"

namespace sluice::pg {
namespace {

constexpr std::chrono::seconds kAnswerTimeout{5};
constexpr const char* kPid = "SELECT pg_backend_pid()::bigint";
constexpr const char* kMark = "SELECT set_config('sluice.session', 'left behind', false)";
constexpr const char* kUnmark = "SELECT set_config('sluice.session', '', false)";
constexpr const char* kLook = "SELECT coalesce(current_setting('sluice.session', true), '')";

LedgerFailure refused(const std::string& what) {
    return LedgerFailure(unsupported(
        "PostgreSQL: a pooler " + what +
        ": the ledger needs a session of its own. Give it a database of the pooler with pool_mode "
        "= session and server_reset_query = DISCARD ALL, or the server itself"));
}

std::int64_t number_of(Connection& session) {
    return session.query_text(kPid).row(0).i8();
}

/// Returns a session that holds a session of the server, or nullptr if the pooler has none left.
std::unique_ptr<Connection> neighbour(const Url& url) {
    auto other = Connection::open(url, {});
    try {
        return other->within(kAnswerTimeout, [&] { (void)other->query_text("BEGIN"); })
                   ? std::move(other)
                   : nullptr;
    } catch (const LedgerFailure& failure) {
        if (failure.error().message.find("pooling mode") != std::string::npos) {
            throw refused("gives each statement another session");
        }
        throw;
    }
}

/// Checks that the session is the program's own: while a neighbour holds the session that was used
/// last, it still answers under the same number.
void check_is_own(const Url& url, Connection& session) {
    const std::int64_t before = number_of(session);
    const auto other = neighbour(url);
    if (!other) {
        return;  // no other client gets the session that this one keeps
    }
    std::int64_t after = 0;
    const bool answered = session.within(kAnswerTimeout, [&] { after = number_of(session); });
    if (!answered || after != before) {
        throw refused("gives each transaction another session (pool_mode = transaction)");
    }
}

/// Checks that a client's settings are gone when the next client gets the session.
void check_is_clean(const Url& url) {
    for (const char* visit : {kMark, kUnmark}) {
        const auto guest = Connection::open(url, {});
        std::string left;
        (void)guest->within(kAnswerTimeout, [&] {
            left = guest->query_text(kLook).row(0).string();
            (void)guest->query_text(left.empty() ? visit : kUnmark);
        });
        if (!left.empty()) {
            throw refused("hands sessions on with what other programs set in them");
        }
    }
}

}  // namespace

void check_pooler(const Url& url, Connection& session) {
    if (number_of(session) == session.backend_pid()) {
        return;
    }
    check_is_own(url, session);
    check_is_clean(url);
}

}  // namespace sluice::pg
