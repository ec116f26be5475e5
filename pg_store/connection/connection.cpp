#include "pg_store/connection/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "pg_store/connection/error.hpp"
#include "pg_store/connection/libpq.hpp"
#include "pg_store/connection/packed.hpp"

namespace sluice::pg {
namespace {

constexpr int kPollMs = 100;
/// Statements that are queued between two checks for answers of the server.
constexpr std::size_t kSendStride = 64;

std::atomic<std::uint64_t> all_round_trips{0};

Error error_of(const pg_result* result) {
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* const words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == nullptr) {
        return no_connection(PQresultErrorMessage(result)).error();
    }
    return {code_of(state),
            "PostgreSQL: " + one_line(words) + " (SQLSTATE " + std::string(state) + ")"};
}

/// Views of the fields of a row, as libpq wants parameters.
struct BoundFields {
    explicit BoundFields(std::string_view bytes) {
        for (Unpacker in(bytes); !in.empty();) {
            const auto size = in.number<std::int32_t>();
            lengths.push_back(std::max(size, 0));
            const std::string_view value = in.bytes(static_cast<std::size_t>(lengths.back()));
            values.push_back(size < 0 ? nullptr : value.data());
            formats.push_back(1);
        }
    }
    [[nodiscard]] int count() const { return static_cast<int>(values.size()); }

    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
};

std::string name_of(const Statement& statement) {
    return "s" + std::to_string(reinterpret_cast<std::uintptr_t>(statement.sql));
}

}  // namespace

// ---- Results ------------------------------------------------------------------------------------

void Rows::Free::operator()(pg_result* result) const noexcept {
    PQclear(result);
}

int Rows::count() const noexcept {
    return PQntuples(result_.get());
}

std::uint64_t Rows::affected() const noexcept {
    return std::strtoull(PQcmdTuples(result_.get()), nullptr, 10);
}

std::string_view Rows::tag() const noexcept {
    return PQcmdStatus(result_.get());
}

Connection::Connection(pg_conn* conn, Waiting waiting) : conn_(conn), waiting_(std::move(waiting)) {
    PQsetNoticeReceiver(
        conn_,
        [](void* self, const PGresult* result) { static_cast<Connection*>(self)->notice(result); },
        this);
}

/// libpq would write it to stderr.
void Connection::notice(const pg_result* result) {
    const char* const severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char* const words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (severity != nullptr && std::string_view(severity) == "WARNING") {
        warning_ = one_line(words == nullptr ? "a warning without words" : words);
    }
}

Connection::~Connection() {
    PQfinish(conn_);
}

bool Connection::within(std::chrono::milliseconds limit, const std::function<void()>& use) {
    const Waiting kept = waiting_;
    bool late = false;
    waiting_ = [&](std::chrono::milliseconds waited) {
        late = waited >= limit;
        return !late && (!kept || kept(waited));
    };
    try {
        use();
    } catch (const LedgerFailure&) {
        waiting_ = kept;
        if (late) {
            return false;
        }
        throw;
    }
    waiting_ = kept;
    return true;
}

void Connection::cancel() noexcept {
    PGcancel* const request = PQgetCancel(conn_);
    if (request != nullptr) {
        std::array<char, 256> why{};
        (void)PQcancel(request, why.data(), static_cast<int>(why.size()));
        PQfreeCancel(request);
    }
}

int Connection::backend_pid() const noexcept {
    return PQbackendPID(conn_);
}

bool Connection::broken() const noexcept {
    return given_up_ || PQstatus(conn_) != CONNECTION_OK;
}

bool Connection::reset() noexcept {
    try {
        if (broken()) {
            return false;
        }
        drop_copies();
        if (!pending_.empty()) {
            sync();
        }
        if (PQtransactionStatus(conn_) != PQTRANS_IDLE) {
            (void)query_text("ROLLBACK");
        }
        return PQtransactionStatus(conn_) == PQTRANS_IDLE;
    } catch (const std::exception&) {
        return false;
    }
}

// ---- Statements ---------------------------------------------------------------------------------

void Connection::enter_pipeline() {
    end_copies();
    if (in_pipeline_) {
        return;
    }
    if (PQenterPipelineMode(conn_) != 1) {
        throw no_connection(PQerrorMessage(conn_));
    }
    in_pipeline_ = true;
}

void Connection::leave_pipeline() {
    end_copies();
    if (!pending_.empty()) {
        sync();
    }
    if (in_pipeline_ && PQexitPipelineMode(conn_) != 1) {
        throw_gone();
    }
    in_pipeline_ = false;
}

void Connection::queue(int sent, Pending pending) {
    if (sent != 1) {
        throw no_connection(PQerrorMessage(conn_));
    }
    pending_.push_back(std::move(pending));
    if (++queued_ % kSendStride == 0) {
        flush_some();
    }
}

/// Sends what is queued, so that the server works while further statements are prepared.
void Connection::flush_some() {
    if (PQflush(conn_) < 0 || PQconsumeInput(conn_) != 1) {
        throw no_connection(PQerrorMessage(conn_));
    }
}

void Connection::send(const Statement& statement, const RowWriter& parameters, Handler handler) {
    enter_pipeline();
    const std::string name = name_of(statement);
    if (prepared_.insert(statement.sql).second) {
        queue(PQsendPrepare(conn_, name.c_str(), statement.sql, 0, nullptr), {{}, statement.sql});
    }
    const BoundFields fields(parameters.view());
    queue(PQsendQueryPrepared(conn_, name.c_str(), fields.count(), fields.values.data(),
                              fields.lengths.data(), fields.formats.data(), 1),
          {std::move(handler), nullptr});
}

void Connection::send_text(const std::string& sql, const RowWriter& parameters, Handler handler) {
    send_row(sql, parameters.view(), std::move(handler));
}

void Connection::send_row(const std::string& sql, std::string_view row, Handler handler) {
    enter_pipeline();
    const BoundFields fields(row);
    queue(PQsendQueryParams(conn_, sql.c_str(), fields.count(), nullptr, fields.values.data(),
                            fields.lengths.data(), fields.formats.data(), 1),
          {std::move(handler), nullptr});
}

Rows Connection::query(const Statement& statement, const RowWriter& parameters) {
    std::optional<Rows> rows;
    send(statement, parameters, [&rows](Rows result) { rows = std::move(result); });
    sync();
    return std::move(*rows);
}

Rows Connection::query_text(const std::string& sql, const RowWriter& parameters) {
    std::optional<Rows> rows;
    send_text(sql, parameters, [&rows](Rows result) { rows = std::move(result); });
    sync();
    return std::move(*rows);
}

std::uint64_t Connection::round_trips() noexcept {
    return all_round_trips.load(std::memory_order_relaxed);
}

void Connection::sync() {
    warning_.clear();
    all_round_trips.fetch_add(1, std::memory_order_relaxed);
    enter_pipeline();
    if (PQpipelineSync(conn_) != 1) {
        throw no_connection(PQerrorMessage(conn_));
    }
    while (!pending_.empty()) {
        const Pending pending = std::move(pending_.front());
        pending_.pop_front();
        take_one(pending);
    }
    const std::unique_ptr<PGresult, decltype(PQclear)&> end(next_result(), PQclear);
    if (PQresultStatus(end.get()) != PGRES_PIPELINE_SYNC) {
        given_up_ = true;
        throw no_connection("it sent an answer to nothing that was asked");
    }
    throw_remembered();
}

/// After the first failure the server skips what follows, up to the sync.
void Connection::take_one(const Pending& pending) {
    for (PGresult* result = next_result(); result != nullptr; result = next_result()) {
        Rows rows(result);
        switch (PQresultStatus(result)) {
            case PGRES_COMMAND_OK:
            case PGRES_TUPLES_OK:
                try {
                    if (pending.handler && !failure_) {
                        pending.handler(std::move(rows));
                    }
                } catch (...) {
                    remember(std::current_exception());
                }
                break;
            case PGRES_PIPELINE_ABORTED:
                prepared_.erase(pending.prepares);
                break;
            default:
                prepared_.erase(pending.prepares);
                remember(std::make_exception_ptr(LedgerFailure(error_of(result))));
        }
    }
}

void Connection::remember(std::exception_ptr failure) {
    if (!failure_) {
        failure_ = std::move(failure);
    }
}

void Connection::throw_remembered() {
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

// ---- Waiting ------------------------------------------------------------------------------------

PGresult* Connection::next_result() {
    for (wait_began_ = steady_now();;) {
        const int unsent = PQflush(conn_);
        if (unsent < 0) {
            throw_gone();
        }
        if (PQisBusy(conn_) == 0) {
            PGresult* const result = PQgetResult(conn_);
            if (result != nullptr && PQstatus(conn_) == CONNECTION_BAD) {
                const std::string words = PQresultErrorMessage(result);
                PQclear(result);
                throw no_connection(words.c_str());
            }
            return result;
        }
        wait(unsent == 1);
    }
}

void Connection::wait(bool for_writing) {
    pollfd ready{PQsocket(conn_), static_cast<short>(POLLIN | (for_writing ? POLLOUT : 0)), 0};
    if (::poll(&ready, 1, kPollMs) > 0) {
        if (PQconsumeInput(conn_) != 1) {
            throw_gone();
        }
        return;
    }
    const auto waited =
        std::chrono::duration_cast<std::chrono::milliseconds>(steady_now() - wait_began_);
    if (waiting_ && !waiting_(waited)) {
        given_up_ = true;
        throw LedgerFailure(busy("waiting for PostgreSQL was interrupted"));
    }
}

/// Prefers the server's last words to the fact that it closed the connection.
void Connection::throw_gone() {
    given_up_ = true;
    if (failure_) {
        throw_remembered();
    }
    throw no_connection(PQerrorMessage(conn_));
}

// ---- Outside of pipelines -----------------------------------------------------------------------

void Connection::take_simple() {
    all_round_trips.fetch_add(1, std::memory_order_relaxed);
    for (PGresult* result = next_result(); result != nullptr; result = next_result()) {
        const Rows rows(result);
        const ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_COPY_IN) {
            return;
        }
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            remember(std::make_exception_ptr(LedgerFailure(error_of(result))));
        }
    }
    throw_remembered();
}

void Connection::script(const std::string& sql) {
    leave_pipeline();
    warning_.clear();
    if (PQsendQuery(conn_, sql.c_str()) != 1) {
        throw_gone();
    }
    take_simple();
}

}  // namespace sluice::pg
