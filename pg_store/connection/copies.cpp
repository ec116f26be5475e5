// COPY, at once or behind the caller's back, outside of pipelines: libpq has no COPY in one.
#include <algorithm>
#include <utility>

#include "os/clock/clock.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/error.hpp"
#include "pg_store/connection/libpq.hpp"
#include "pg_store/connection/packed.hpp"

namespace sluice::pg {
namespace {

/// How Citus reports rows of a COPY that a Citus node refused: in words only.
constexpr std::string_view kNoReason("(SQLSTATE XX000)");

constexpr std::string_view kHead("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
constexpr std::string_view kEnd("\377\377", 2);

}  // namespace

void Connection::put_copy_data(std::string_view bytes) {
    wait_began_ = steady_now();
    for (;;) {
        const int put = PQputCopyData(conn_, bytes.data(), static_cast<int>(bytes.size()));
        if (put == 1) {
            return;
        }
        if (put < 0) {
            throw_gone();
        }
        wait(true);
    }
}

void Connection::put_copy_end() {
    put_copy_data(kEnd);
    if (PQputCopyEnd(conn_, nullptr) < 0) {
        throw_gone();
    }
}

// ---- At once ------------------------------------------------------------------------------------

void Connection::copy_in(const std::string& sql, std::string_view rows) {
    if (inserts_) {
        insert_each(sql, rows);
        return;
    }
    try {
        copy_all(sql, rows);
    } catch (const LedgerFailure& failure) {
        if (!is_distributed_ || failure.error().message.find(kNoReason) == std::string::npos) {
            throw;
        }
        inserts_ = true;
        throw LedgerFailure(busy(failure.error().message));
    }
}

/// Executes `COPY table (columns) FROM ...` as one `INSERT INTO table (columns) VALUES ...` per
/// row.
void Connection::insert_each(const std::string& copy, std::string_view rows) {
    constexpr std::string_view kCopy("COPY ");
    const std::string into =
        "INSERT INTO " + copy.substr(kCopy.size(), copy.find(" FROM STDIN") - kCopy.size());
    while (!rows.empty()) {
        Unpacker in(rows);
        const std::size_t fields = in.number<std::uint16_t>();
        std::string values;
        std::size_t end = 2;
        for (std::size_t i = 1; i <= fields; ++i) {
            values += (i == 1 ? "$" : ", $") + std::to_string(i);
            const auto size = static_cast<std::size_t>(std::max(in.number<std::int32_t>(), 0));
            end += 4 + in.bytes(size).size();
        }
        send_row(into + " VALUES (" + values + ")", rows.substr(2, end - 2));
        rows.remove_prefix(end);
    }
    sync();
}

void Connection::copy_all(const std::string& sql, std::string_view rows) {
    constexpr std::size_t kPiece = 1U << 20;
    script(sql);
    put_copy_data(kHead);
    for (std::size_t at = 0; at < rows.size(); at += kPiece) {
        put_copy_data(rows.substr(at, kPiece));
        flush_some();
    }
    put_copy_end();
    take_simple();
}

// ---- Behind the caller's back -------------------------------------------------------------------

void Connection::copy_behind(std::string sql, std::string rows) {
    if (behind_.empty()) {
        leave_pipeline();
    }
    behind_.push_back({std::move(sql), std::move(rows)});
    pump();
}

void Connection::pump() {
    while (!behind_.empty() && go_on(behind_.front())) {
    }
}

/// Takes the next step, unless the server must do something first: then it returns false.
bool Connection::go_on(CopyBehind& copy) {
    const int unsent = PQflush(conn_);
    if (unsent < 0) {
        throw_gone();
    }
    if (unsent == 1) {
        return false;
    }
    switch (copy.step) {
        case CopyBehind::Step::kStatement:
            if (PQsendQuery(conn_, copy.sql.c_str()) != 1) {
                throw_gone();
            }
            copy.step = CopyBehind::Step::kBegun;
            return true;
        case CopyBehind::Step::kRows:
            put_piece(copy);
            return true;
        case CopyBehind::Step::kBegun:
        case CopyBehind::Step::kEnded:
            return take_answer(copy);
    }
    return false;
}

bool Connection::take_answer(CopyBehind& copy) {
    if (PQconsumeInput(conn_) != 1) {
        throw_gone();
    }
    if (PQisBusy(conn_) != 0) {
        return false;
    }
    const bool is_done = copy.step == CopyBehind::Step::kEnded;
    copy.step = CopyBehind::Step::kRows;
    try {
        take_simple();
    } catch (...) {
        behind_.clear();
        doubts_new_rows_ = true;
        throw;
    }
    if (is_done) {
        behind_.pop_front();
    }
    return true;
}

/// Small pieces, because libpq moves all that a server has not taken yet.
void Connection::put_piece(CopyBehind& copy) {
    constexpr std::size_t kPiece = 64U << 10;
    if (copy.sent == 0) {
        put_copy_data(kHead);
    }
    const std::string_view piece = std::string_view(copy.rows).substr(copy.sent, kPiece);
    put_copy_data(piece);
    copy.sent += piece.size();
    if (copy.sent == copy.rows.size()) {
        put_copy_end();
        copy.step = CopyBehind::Step::kEnded;
    }
}

void Connection::end_copies() {
    for (wait_began_ = steady_now(); !behind_.empty();) {
        if (go_on(behind_.front())) {
            wait_began_ = steady_now();
        } else {
            wait(PQflush(conn_) == 1);
        }
    }
}

/// Ends a COPY that is under way, for a transaction that is rolled back.
void Connection::drop_copies() {
    if (!behind_.empty() && behind_.front().step == CopyBehind::Step::kStatement) {
        behind_.clear();
    }
    if (behind_.empty()) {
        return;
    }
    behind_.resize(1);
    behind_.front().rows.resize(behind_.front().sent);
    try {
        end_copies();
    } catch (const LedgerFailure&) {  // the rows end too early
    }
}

}  // namespace sluice::pg
