// Connecting: one address after the other, until a server answers and suits.
#include <poll.h>

#include "os/clock/clock.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/error.hpp"
#include "pg_store/connection/libpq.hpp"
#include "pg_store/connection/servers.hpp"

namespace sluice::pg {
namespace {

using std::chrono::milliseconds;

constexpr int kConnectPollMs = 100;

LedgerFailure silent(std::chrono::seconds patience) {
    const std::string text = "no answer within " + std::to_string(patience.count()) + " s";
    return no_connection(text.c_str());
}

/// Joins the errors of all attempts. A temporary error takes precedence, because another attempt
/// may succeed.
Error joined(const std::vector<Error>& failures) {
    constexpr std::string_view kBeginning = "PostgreSQL: ";
    Error all = failures.front();
    for (auto next = failures.begin() + 1; next != failures.end(); ++next) {
        if (next->code == ErrorCode::kIo) {
            all.code = next->code;
        }
        std::string_view words = next->message;
        if (words.starts_with(kBeginning)) {
            words.remove_prefix(kBeginning.size());
        }
        all.message.append("; ").append(words);
    }
    return all;
}

}  // namespace

/// One call of Connection::open().
class Search {
public:
    Search(const Servers& servers, const Waiting& waiting, const Connection::Suits& suits)
        : servers_(servers), waiting_(waiting), suits_(suits) {}

    /// Returns nullptr if no server answered and suited; failures() has the reasons.
    [[nodiscard]] std::unique_ptr<Connection> ask_all(const std::string& wanted);
    [[nodiscard]] const std::vector<Error>& failures() const noexcept { return failures_; }

private:
    [[nodiscard]] std::unique_ptr<Connection> ask(const Server& address, const std::string& wanted);
    void check_suits(Connection& made) const;

    const Servers& servers_;
    const Waiting& waiting_;
    const Connection::Suits& suits_;
    std::vector<Error> failures_;
};

std::unique_ptr<Connection> Search::ask_all(const std::string& wanted) {
    for (const Server& server : servers_.all) {
        const auto addresses = addresses_of(server);
        if (!addresses.ok()) {
            failures_.push_back(addresses.error());
            continue;
        }
        for (const Server& address : *addresses) {
            try {
                return ask(address, wanted);
            } catch (const LedgerFailure& failure) {
                if (failure.error().code == ErrorCode::kBusy) {
                    throw;  // the caller has stopped waiting
                }
                failures_.push_back(failure.error());
            }
        }
    }
    return nullptr;
}

std::unique_ptr<Connection> Search::ask(const Server& address, const std::string& wanted) {
    Parameters parameters = parameters_of(servers_, address);
    parameters.emplace_back("target_session_attrs", wanted);
    std::vector<const char*> keywords;
    std::vector<const char*> values;
    for (const auto& [keyword, value] : parameters) {
        keywords.push_back(keyword.c_str());
        values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    PGconn* const conn = PQconnectStartParams(keywords.data(), values.data(), 0);
    if (conn == nullptr) {
        throw std::bad_alloc();
    }
    std::unique_ptr<Connection> made(new Connection(conn, waiting_));
    try {
        made->connect(servers_.patience);
        if (suits_) {
            check_suits(*made);
        }
    } catch (const LedgerFailure& failure) {
        Error error = failure.error();
        // libpq's own words about a connection begin with its address.
        if (error.message.find("connection to ") == std::string::npos &&
            error.code != ErrorCode::kBusy) {
            error.message += " (" + shown(address) + ")";
        }
        throw LedgerFailure(error);
    }
    return made;
}

/// Applies one time limit to connecting and to the check, because a pooler accepts connections for
/// a server that does not answer.
void Search::check_suits(Connection& made) const {
    if (!made.within(servers_.patience, [&] { suits_(made, servers_.patience); })) {
        throw silent(servers_.patience);
    }
}

std::unique_ptr<Connection> Connection::open(const Url& url, const Waiting& waiting,
                                             const Suits& suits) {
    const auto servers = servers_of(url);
    if (!servers.ok()) {
        throw LedgerFailure(servers.error());
    }
    Search search(*servers, waiting, suits);
    // Each attempt has one address, so this code implements "prefer-standby" instead of libpq.
    const bool prefers = !suits && servers->wanted == "prefer-standby";
    std::unique_ptr<Connection> found;
    if (prefers) {
        found = search.ask_all("standby");
    }
    if (!found) {
        found = search.ask_all(suits || prefers ? "any" : servers->wanted);
    }
    if (!found) {
        throw LedgerFailure(joined(search.failures()));
    }
    return found;
}

void Connection::connect(std::chrono::seconds patience) {
    const Clock::time_point began = steady_now();
    PQsetErrorVerbosity(conn_, PQERRORS_VERBOSE);
    // libpq asks to be polled for writing first.
    for (PostgresPollingStatusType status = PGRES_POLLING_WRITING; status != PGRES_POLLING_OK;) {
        if (status == PGRES_POLLING_FAILED || PQstatus(conn_) == CONNECTION_BAD) {
            Error refused = refusal(PQerrorMessage(conn_));
            if (PQconnectionNeedsPassword(conn_) != 0) {
                refused.code = ErrorCode::kPermission;
            }
            throw LedgerFailure(refused);
        }
        pollfd ready{PQsocket(conn_),
                     static_cast<short>(status == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
        const bool moved = ::poll(&ready, 1, kConnectPollMs) > 0;
        const auto waited = std::chrono::duration_cast<milliseconds>(steady_now() - began);
        if (waited >= patience) {
            throw silent(patience);
        }
        if (!moved && waiting_ && !waiting_(waited)) {
            throw LedgerFailure(busy("connecting to PostgreSQL was interrupted"));
        }
        if (moved) {
            status = PQconnectPoll(conn_);
        }
    }
    PQsetErrorVerbosity(conn_, PQERRORS_DEFAULT);
    if (PQsetnonblocking(conn_, 1) != 0) {
        throw no_connection(PQerrorMessage(conn_));
    }
}

}  // namespace sluice::pg
