// Connection: one session of libpq, driven without blocking, always in pipeline mode. Internal to
// pg_store.
//
// Statements are queued and sent on; results come with the next sync(), in order. So a transaction
// costs a handful of round trips however many rows it writes, and a statement sees what those
// before it wrote. After a failure the session's transaction is lost: call reset(), or destroy the
// connection.
//
// Errors:  LedgerFailure. A connection that is gone is kIo, see broken(). Waiting calls `waiting`
//          a few times a second; if that returns false, the wait ends with kBusy and the connection
//          is broken, since an answer may still be under way.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "os/clock/clock.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/connection/url.hpp"

struct pg_conn;

namespace sluice::pg {

/// Called during a wait for an answer, with its duration so far. Returns false to give up.
using Waiting = std::function<bool(std::chrono::milliseconds)>;

/// A statement, which each session prepares once, under the address of its text. The text must
/// outlive the connection, so it is a constant or is kept for ever.
struct Statement {
    const char* sql;
};

/// The result of one statement.
class Rows {
public:
    explicit Rows(pg_result* result) noexcept : result_(result) {}
    [[nodiscard]] int count() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return count() == 0; }
    [[nodiscard]] RowReader row(int at) const noexcept { return {result_.get(), at}; }
    /// A place among the rows, for a loop over them.
    struct Place {
        const Rows* rows;
        int at;
        RowReader operator*() const noexcept { return rows->row(at); }
        Place& operator++() noexcept { return ++at, *this; }
        friend bool operator==(const Place&, const Place&) = default;
    };
    [[nodiscard]] Place begin() const noexcept { return {this, 0}; }
    [[nodiscard]] Place end() const noexcept { return {this, count()}; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(count()); }
    /// Rows that a writing statement changed.
    [[nodiscard]] std::uint64_t affected() const noexcept;
    [[nodiscard]] std::string_view tag() const noexcept;

private:
    struct Free {
        void operator()(pg_result* result) const noexcept;
    };
    std::unique_ptr<pg_result, Free> result_;
};

class Connection {
public:
    using Handler = std::function<void(Rows)>;

    /// Throws LedgerFailure if the server is unsuitable. `patience` is the URL's time limit.
    using Suits = std::function<void(Connection&, std::chrono::seconds patience)>;

    /// Connects to the first server of the URL that answers and suits; each address has its own
    /// limit of time (connect_timeout, 5 s by default). Throws kIo if no server answers and suits
    /// now, for example because it starts up or has too many connections. Throws kPermission,
    /// kNotFound, kUnsupported or kInvalid for a permanent error.
    /// @param suits  May be empty: then `target_session_attrs` of the URL decides.
    [[nodiscard]] static std::unique_ptr<Connection> open(const Url& url, const Waiting& waiting,
                                                          const Suits& suits = {});
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Queues a statement. The sync() that follows calls `handler` with its result.
    void send(const Statement& statement, const RowWriter& parameters, Handler handler = {});
    void send(const Statement& statement) { send(statement, RowWriter{}); }
    /// Queues a statement without preparing it, because its text was composed for this call.
    void send_text(const std::string& sql, const RowWriter& parameters = {}, Handler handler = {});
    /// Sends all that is queued and takes all results.
    void sync();
    /// Calls send() and sync(). Returns the statement's result.
    [[nodiscard]] Rows query(const Statement& statement, const RowWriter& parameters = {});
    [[nodiscard]] Rows query_text(const std::string& sql, const RowWriter& parameters = {});
    /// Copies rows that begin_copy_row() began, by `COPY ... FROM STDIN (FORMAT binary)`. Where the
    /// ledger is distributed, a Citus node's refusal has no SQLSTATE. It is kBusy, and the next
    /// time the same rows are inserted one by one, so that the error has one. Throws LedgerFailure.
    void copy_in(const std::string& sql, std::string_view rows);
    /// Copies rows as copy_in() does, while the caller does other things: pump() sends them piece
    /// by piece. Whatever asks the server next waits until they are copied, and throws their
    /// failure. Requires: the ledger is not distributed.
    void copy_behind(std::string sql, std::string rows);
    /// Sends what the server takes without a wait. Throws the failure of rows that were copied.
    void pump();
    /// Returns whether copy_behind() failed since trust_copies(), so that rows which cannot exist
    /// may exist after all.
    [[nodiscard]] bool doubts_new_rows() const noexcept { return doubts_new_rows_; }
    /// Resumes COPY, because rows rejected without an SQLSTATE are now stored or dead-lettered.
    void trust_copies() noexcept { inserts_ = doubts_new_rows_ = false; }
    /// Executes several statements of one string, outside of pipelines (migrations).
    void script(const std::string& sql);

    /// Runs `use`, with at most `limit` for each answer. Returns false if an answer was late; the
    /// session is then broken.
    [[nodiscard]] bool within(std::chrono::milliseconds limit, const std::function<void()>& use);
    /// Asks the server to cancel the statement for which within() did not wait.
    void cancel() noexcept;
    /// Returns how often this process has waited for an answer so far, in all its sessions.
    [[nodiscard]] static std::uint64_t round_trips() noexcept;
    /// Returns the server's warning during the last sync() or script(), or an empty text.
    [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
    /// Returns whether the ledger's tables are distributed over Citus nodes, as session.hpp found
    /// out.
    [[nodiscard]] bool is_distributed() const noexcept { return is_distributed_; }
    void set_distributed(bool is_distributed) noexcept { is_distributed_ = is_distributed; }
    /// Returns the server's number of this session, from the start of the session.
    [[nodiscard]] int backend_pid() const noexcept;
    /// Returns whether the session is unusable.
    [[nodiscard]] bool broken() const noexcept;
    /// Makes reset() refuse the session, because it may hold a lock.
    void give_up() noexcept { given_up_ = true; }
    /// Aborts an open transaction. Returns false if the session is unusable.
    [[nodiscard]] bool reset() noexcept;

private:
    friend class Search;
    Connection(pg_conn* conn, Waiting waiting);
    struct Pending {
        Handler handler;
        const char* prepares = nullptr;  ///< The statement, if this only prepares it.
    };
    /// A COPY that pump() sends while the caller does other things. The server answers the
    /// statement, and again the last row.
    struct CopyBehind {
        enum class Step : std::uint8_t { kStatement, kBegun, kRows, kEnded };
        std::string sql, rows;
        std::size_t sent = 0;  ///< Bytes of `rows`.
        Step step = Step::kStatement;
    };

    void connect(std::chrono::seconds patience);
    void queue(int sent, Pending pending);
    void flush_some();
    void enter_pipeline();
    void leave_pipeline();
    void take_one(const Pending& pending);
    /// Returns the next result, or nullptr if the statement has no more.
    [[nodiscard]] pg_result* next_result();
    void wait(bool for_writing);
    [[noreturn]] void throw_gone();
    void copy_all(const std::string& sql, std::string_view rows);
    [[nodiscard]] bool go_on(CopyBehind& copy);
    [[nodiscard]] bool take_answer(CopyBehind& copy);
    void put_piece(CopyBehind& copy);
    void end_copies();
    void drop_copies();
    void send_row(const std::string& sql, std::string_view row, Handler handler = {});
    void insert_each(const std::string& copy, std::string_view rows);
    void put_copy_data(std::string_view bytes);
    void put_copy_end();
    void remember(std::exception_ptr failure);
    void throw_remembered();
    void take_simple();
    void notice(const pg_result* result);

    pg_conn* conn_;
    Waiting waiting_;
    std::deque<Pending> pending_;
    std::deque<CopyBehind> behind_;
    std::set<const char*> prepared_;
    Clock::time_point wait_began_{};
    std::string warning_;
    std::exception_ptr failure_;  ///< The first failure of the results that sync() takes.
    std::size_t queued_ = 0;
    bool given_up_ = false;
    bool is_distributed_ = false;
    bool inserts_ = false;  ///< Insert row by row instead of COPY.
    bool doubts_new_rows_ = false;
    bool in_pipeline_ = false;
};

}  // namespace sluice::pg
