// Sessions: one connection each, from a head to its answer.
#include "serve/http/session.hpp"

#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>

#include "os/clock/clock.hpp"

namespace sluice::serve {
namespace {

constexpr std::size_t kTargetBytesMax = std::size_t{8} << 10;
constexpr std::chrono::seconds kIdle{75};     ///< For the next head.
constexpr std::chrono::seconds kWriting{60};  ///< For a client that takes its answer slowly.
constexpr std::chrono::seconds kLinger{1};    ///< For the rest of a request that was refused.
constexpr unsigned kClientGone = 499;         ///< As nginx logs it; no client sees it.

/// Returns a header's value; nothing without it; an empty value if it was sent twice.
std::optional<std::string> header_of(const http::fields& fields, beast::string_view name) {
    const auto range = fields.equal_range(name);
    if (range.first == range.second) {
        return std::nullopt;
    }
    const auto value = range.first->value();
    return std::next(range.first) == range.second ? std::string(value.data(), value.size()) : "";
}

enum class Peer : std::uint8_t { kSilent, kSends, kGone };

/// Looks at the other end without reading.
Peer look_at_peer(int socket) {
    char byte = 0;
    const ssize_t got = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) {
        return Peer::kSends;
    }
    const bool is_open = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return is_open ? Peer::kSilent : Peer::kGone;
}

}  // namespace

Session::Session(Protocol::socket socket, Door door, Server& server)
    : stream_(std::move(socket)), door_(door), server_(server) {
    ++server_.sessions_;
}

Session::~Session() {
    SLUICE_ASSERT(std::this_thread::get_id() == server_.thread_);  // that of its socket
    leave_idle();
    end_wait();
    forget_unsent();
    server_.session_ended();
}

void Session::fail(const std::exception& failure) noexcept {
    note_failure(outcome_.path, failure);
    if (!std::exchange(has_failed_, true) && !response_) {
        keeps_alive_ = false;
        return guarded([this] { write(problem("internal")); });
    }
    beast::error_code ignored;
    stream_.socket().close(ignored);
}

void Session::read() {
    idle_ = server_.idle_.insert(server_.idle_.end(), this);
    parser_.emplace();
    parser_->header_limit(kHeadBytesMax);
    stream_.expires_after(kIdle);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](beast::error_code error, std::size_t) {
                                self->guarded([&] { self->on_head(error); });
                            });
    if (!server_.has_room()) {
        server_.accept_all();  // another connection may wait for the place of one that is idle
    }
}

bool Session::end_if_silent() {
    const bool is_silent = !parser_->got_some() && buffer_.size() == 0 &&
                           look_at_peer(stream_.socket().native_handle()) != Peer::kSends;
    if (is_silent) {
        end();
    }
    return is_silent;
}

void Session::leave_idle() {
    if (idle_) {
        server_.idle_.erase(*idle_);
        idle_.reset();
    }
}

void Session::on_head(beast::error_code error) {
    leave_idle();
    began_ = steady_now();
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        return reject("head_too_large");
    }
    const bool is_bad =
        error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message;
    if (is_bad) {
        return reject("bad_request");
    }
    if (error) {
        return;  // the client is gone, or sent nothing for too long
    }
    const auto& head = parser_->get();
    is_head_ = head.method() == http::verb::head;
    is_old_ = head.version() < 11;
    keeps_alive_ = head.keep_alive() && !server_.stopping_;
    if (head.target().size() > kTargetBytesMax) {
        return reject("uri_too_long");
    }
    // Behind another transfer coding than `chunked` is a body of unknown length.
    const bool has_body = head.count(http::field::transfer_encoding) != 0 ||
                          parser_->content_length().value_or(0) != 0;
    if (has_body || head.version() > 11 || head.version() < 10) {
        return reject("bad_request");
    }
    request_ = {door_,
                std::string(head.method_string().data(), head.method_string().size()),
                std::string(head.target().data(), head.target().size()),
                header_of(head, "Authorization"),
                header_of(head, "X-Sluice-User"),
                header_of(head, "If-None-Match"),
                header_of(head, "Sec-Fetch-Site")};
    answer_request();
}

void Session::answer_request() {
    server_.front_.figures().snapshot_age = server_.readers_.snapshot_age();
    server_.front_.figures().feed_waiters = server_.waiters_.count();
    outcome_ = server_.front_.admit(request_, server_.readers_.is_ready());
    if (Answer* const answer = std::get_if<Answer>(&outcome_.result)) {
        return write(std::move(*answer));
    }
    stream_.expires_never();
    read_ledger();
}

void Session::read_ledger() {
    const Admitted& admitted = std::get<Admitted>(outcome_.result);
    const bool taken = server_.readers_.submit(
        // Moves the session on, so that no reader holds the last reference to it.
        admitted.job, [self = shared_from_this(), &io = server_.io_](Answer answer) mutable {
            net::post(io, [self = std::move(self), answer = std::move(answer)]() mutable {
                self->guarded([&] { self->on_answer(std::move(answer)); });
            });
        });
    if (!taken && is_counted_ && !server_.stopping_) {
        park(admitted, 0, steady_now());  // until the next check, if many waits end
    } else if (!taken) {
        write(server_.front_.finish(request_, admitted, problem("busy")));
    }
}

void Session::on_answer(Answer answer) {
    const Admitted& asked = std::get<Admitted>(outcome_.result);
    const std::chrono::seconds wait(asked.job.arguments.number("wait", 0));
    if (answer.waits_behind && began_ + wait > steady_now() && !server_.stopping_ &&
        !server_.front_.refusal(request_, asked)) {
        if (is_counted_ || server_.waiters_.begin(asked.job.grant.account)) {
            is_counted_ = true;
            return park(asked, *answer.waits_behind, began_ + wait);
        }
        answer = problem("busy");
        keeps_alive_ = false;  // its connection would be one of those that waits leave free
    }
    write(server_.front_.finish(request_, asked, std::move(answer)));
}

/// Waits for a change, the end of the time, a revoked caller or a client that leaves, and reads
/// again, unless the client is gone.
void Session::park(const Admitted& asked, std::uint64_t entries, Clock::time_point until) {
    if (!server_.waiters_.has_parked()) {
        server_.expire_waits();
    }
    const auto is_revoked = [this, &asked] {
        try {
            return server_.front_.refusal(request_, asked).has_value();
        } catch (const std::exception&) {
            return true;  // wakes it, and its answer reports the failure
        }
    };
    server_.waiters_.park({this, asked.job.grant.account, entries, until,
                           [self = shared_from_this()] { self->wake(); }, is_revoked,
                           steady_now()});
    server_.watch_.watch(true);
    watch_client();
}

void Session::wake() {
    guarded([this] {
        stream_.cancel();  // watch_client()
        read_ledger();
    });
}

/// Ends the wait of a client that closes its side. One that sends its next request meanwhile is not
/// watched any more, because the end of a connection is not seen behind unread bytes.
void Session::watch_client() {
    stream_.socket().async_wait(
        net::socket_base::wait_read, [self = shared_from_this()](beast::error_code error) {
            if (error) {
                return;  // the wait is over
            }
            self->guarded([&] {
                const Peer peer = look_at_peer(self->stream_.socket().native_handle());
                if (peer == Peer::kSilent && self->server_.waiters_.is_parked(self.get())) {
                    self->watch_client();
                } else if (peer == Peer::kGone && self->server_.waiters_.leave(self.get())) {
                    self->end_wait();
                    self->note(kClientGone);
                }
            });
        });
}

void Session::end_wait() {
    if (std::exchange(is_counted_, false)) {
        server_.waiters_.end(std::get<Admitted>(outcome_.result).job.grant.account);
    }
}

/// Answers a request that cannot be read to its end, and closes the connection.
void Session::reject(std::string_view code) {
    keeps_alive_ = false;
    outcome_ = {"other", {}, {}, Answer{}};
    write(problem(code));
}

void Session::forget_unsent() {
    if (const std::size_t bytes = std::exchange(unsent_bytes_, 0); bytes != 0) {
        server_.unsent_.remove(unsent_caller_, bytes);
    }
}

void Session::note(unsigned status) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(steady_now() - began_);
    server_.front_.note(request_, outcome_, status, took);
}

void Session::write(Answer answer) {
    end_wait();
    if (!is_head_ && !server_.unsent_.has_room(outcome_.caller, answer.body.size())) {
        answer = problem("busy");
    }
    if (!answer.logged.empty()) {
        outcome_.logged = answer.logged;
    }
    note(answer.status);
    response_.emplace(http::int_to_status(answer.status), 11U);
    for (const auto& [name, value] : answer.headers) {
        response_->insert(name, value);
    }
    response_->set(http::field::server, "sluice");
    response_->set("X-Content-Type-Options", "nosniff");
    response_->set("Referrer-Policy", "no-referrer");
    if (answer.status != 304) {
        response_->set(http::field::content_type, answer.type);
        response_->content_length(answer.body.size());
    }
    response_->keep_alive(keeps_alive_);
    if (keeps_alive_ && is_old_) {
        response_->set(http::field::connection, "keep-alive");
    }
    if (!is_head_) {
        unsent_caller_ = outcome_.caller;
        unsent_bytes_ = answer.body.size();
        server_.unsent_.add(unsent_caller_, unsent_bytes_);
        response_->body() = std::move(answer.body);
    }
    serializer_.emplace(*response_);
    stream_.expires_after(kWriting);
    const auto done = [self = shared_from_this()](beast::error_code error, std::size_t) {
        self->guarded([&] { self->on_written(error); });
    };
    if (is_head_) {
        http::async_write_header(stream_, *serializer_, done);
    } else {
        http::async_write(stream_, *serializer_, done);
    }
}

void Session::on_written(beast::error_code error) {
    is_head_ = false;
    forget_unsent();
    serializer_.reset();
    response_.reset();  // an idle connection keeps no answer
    if (error) {
        return;
    }
    if (!keeps_alive_ || server_.stopping_) {
        beast::error_code ignored;
        stream_.socket().shutdown(net::socket_base::shutdown_send, ignored);
        stream_.expires_after(kLinger);
        return linger();
    }
    read();
}

/// Reads what the client still sends. A close with unread bytes would reset the connection, and the
/// client might lose the answer.
void Session::linger() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(buffer_.max_size()),
                            [self = shared_from_this()](beast::error_code error, std::size_t) {
                                if (!error) {
                                    self->guarded([&] { self->linger(); });
                                }
                            });
}

}  // namespace sluice::serve
