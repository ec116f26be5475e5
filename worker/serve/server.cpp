#include "worker/serve/server.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>
#include <utility>

#include "core/values/assert.hpp"
#include "os/clock/clock.hpp"
#include "worker/serve/feed_waiters.hpp"
#include "worker/serve/unsent.hpp"
#include "worker/system/process.hpp"

namespace sluice::serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

using Protocol = net::generic::stream_protocol;

constexpr std::size_t kHeadBytesMax = std::size_t{16} << 10;
constexpr std::size_t kTargetBytesMax = std::size_t{8} << 10;
constexpr std::size_t kConnectionsMax = FeedWaiters::kWaitsMax + 100;  ///< Some for no wait.
constexpr std::chrono::seconds kIdle{75};                              ///< For the next head.
constexpr std::chrono::seconds kWriting{60};  ///< For a client that takes its answer slowly.
constexpr std::chrono::seconds kLinger{1};    ///< For the rest of a request that was refused.
constexpr std::chrono::seconds kDraining{3}, kStopping{5};  ///< For reads, answers, when it stops.
constexpr std::chrono::milliseconds kMountCheck{1000}, kWaitCheck{100};

/// Returns a header's value; nothing without it; an empty value if it was sent twice.
std::optional<std::string> header_of(const http::fields& fields, beast::string_view name) {
    const auto range = fields.equal_range(name);
    if (range.first == range.second) {
        return std::nullopt;
    }
    const auto value = range.first->value();
    return std::next(range.first) == range.second ? std::string(value.data(), value.size()) : "";
}

class Server {
public:
    Server(Front& front, Readers& readers, cli::ChainWatch& watch, Mounts mounts)
        : front_(front), readers_(readers), watch_(watch), mounts_(std::move(mounts)) {}

    Status listen(const Listener& listener, const SocketGroups& groups);
    Status run();

private:
    class Session;
    using Acceptor = net::basic_socket_acceptor<Protocol>;

    Status open(const Protocol::endpoint& at, const std::string& name, Door door);
    void accept(std::size_t acceptor);
    void session_ended();
    void stop();
    void watch_mounts();
    void watch_chains();
    void expire_waits();

    Front& front_;
    Readers& readers_;
    cli::ChainWatch& watch_;
    Mounts mounts_;
    Status ended_ = Status::success();
    std::thread::id thread_ = std::this_thread::get_id();
    // The sessions that the context destroys at the end use these.
    std::set<Session*> idle_;  ///< Sessions that wait for a head.
    UnsentBytes unsent_;
    FeedWaiters waiters_;
    std::size_t sessions_ = 0;
    bool stopping_ = false, running_ = false;
    net::io_context io_{1};
    net::steady_timer stop_timer_{io_}, drain_timer_{io_}, mount_timer_{io_}, wait_timer_{io_};
    std::vector<std::pair<Acceptor, Door>> acceptors_;
    std::vector<bool> accepting_;
    SocketFiles files_;
};

/// One connection: reads a head, has it answered, writes the answer, and again.
class Server::Session : public std::enable_shared_from_this<Session> {
public:
    Session(Protocol::socket socket, Door door, Server& server)
        : stream_(std::move(socket)), door_(door), server_(server) {
        ++server_.sessions_;
    }
    ~Session() {
        SLUICE_ASSERT(std::this_thread::get_id() == server_.thread_);  // that of its socket
        server_.idle_.erase(this);
        forget_unsent();
        server_.session_ended();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void read() {
        server_.idle_.insert(this);
        parser_.emplace();
        parser_->header_limit(kHeadBytesMax);
        stream_.expires_after(kIdle);
        http::async_read_header(stream_, buffer_, *parser_,
                                [self = shared_from_this()](beast::error_code error, std::size_t) {
                                    self->on_head(error);
                                });
    }

    /// Ends a session of which no byte has arrived since its last answer.
    void end_if_silent() {
        beast::error_code error;
        if (!parser_->got_some() && buffer_.size() == 0 && stream_.socket().available(error) == 0) {
            stream_.cancel();
        }
    }

private:
    void on_head(beast::error_code error) {
        server_.idle_.erase(this);
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

    void answer_request() {
        server_.front_.figures().snapshot_age = server_.readers_.snapshot_age();
        server_.front_.figures().feed_waiters = server_.waiters_.count();
        outcome_ = server_.front_.admit(request_, server_.readers_.is_ready());
        if (Answer* const answer = std::get_if<Answer>(&outcome_.result)) {
            return write(std::move(*answer));
        }
        stream_.expires_never();
        read_ledger();
    }

    void read_ledger() {
        const Admitted& admitted = std::get<Admitted>(outcome_.result);
        const bool taken = server_.readers_.submit(
            // Moves the session on, so that no reader holds the last reference to it.
            admitted.job, [self = shared_from_this(), &io = server_.io_](Answer answer) mutable {
                net::post(io, [self = std::move(self), answer = std::move(answer)]() mutable {
                    self->on_answer(std::move(answer));
                });
            });
        if (!taken && is_counted_ && !server_.stopping_) {
            park(admitted, 0, steady_now());  // until the next check, if many waits end
        } else if (!taken) {
            write(server_.front_.finish(request_, admitted, problem("busy")));
        }
    }

    void on_answer(Answer answer) {
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

    /// Waits for a change, the end of the time or a revoked caller, and reads again.
    void park(const Admitted& asked, std::uint64_t entries, Clock::time_point until) {
        if (!server_.waiters_.has_parked()) {
            server_.expire_waits();
        }
        const auto is_revoked = [this, &asked] {
            return server_.front_.refusal(request_, asked).has_value();
        };
        server_.waiters_.park({asked.job.grant.account, entries, until,
                               [self = shared_from_this()] { self->read_ledger(); }, is_revoked,
                               steady_now()});
        server_.watch_.watch(true);
    }

    void end_wait() {
        if (std::exchange(is_counted_, false)) {
            server_.waiters_.end(std::get<Admitted>(outcome_.result).job.grant.account);
        }
    }

    /// Answers a request that cannot be read to its end, and closes the connection.
    void reject(std::string_view code) {
        keeps_alive_ = false;
        outcome_ = {"other", {}, {}, Answer{}};
        write(problem(code));
    }

    void forget_unsent() {
        if (const std::size_t bytes = std::exchange(unsent_bytes_, 0); bytes != 0) {
            server_.unsent_.remove(unsent_caller_, bytes);
        }
    }

    void write(Answer answer) {
        end_wait();
        if (!is_head_ && !server_.unsent_.has_room(outcome_.caller, answer.body.size())) {
            answer = problem("busy");
        }
        const auto took =
            std::chrono::duration_cast<std::chrono::microseconds>(steady_now() - began_);
        server_.front_.note(request_, outcome_, answer.status, took);
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
            self->on_written(error);
        };
        if (is_head_) {
            http::async_write_header(stream_, *serializer_, done);
        } else {
            http::async_write(stream_, *serializer_, done);
        }
    }

    void on_written(beast::error_code error) {
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

    /// Reads what the client still sends. A close with unread bytes would reset the connection, and
    /// the client might lose the answer.
    void linger() {
        buffer_.clear();
        stream_.async_read_some(buffer_.prepare(buffer_.max_size()),
                                [self = shared_from_this()](beast::error_code error, std::size_t) {
                                    if (!error) {
                                        self->linger();
                                    }
                                });
    }

    beast::basic_stream<Protocol> stream_;
    Door door_;
    Server& server_;
    beast::flat_buffer buffer_{kHeadBytesMax};
    std::optional<http::request_parser<http::empty_body>> parser_;
    Request request_;
    Outcome outcome_{"other", {}, {}, Answer{}};
    std::optional<http::response<http::string_body>> response_;
    std::optional<http::response_serializer<http::string_body>> serializer_;
    Clock::time_point began_;
    std::string unsent_caller_;
    std::size_t unsent_bytes_ = 0;
    bool is_head_ = false, is_old_ = false, keeps_alive_ = false;
    bool is_counted_ = false;  ///< As a wait of its account.
};

Status Server::open(const Protocol::endpoint& at, const std::string& name, Door door) {
    Acceptor acceptor(io_);
    beast::error_code error;
    acceptor.open(at.protocol(), error);
    if (!error) {
        acceptor.set_option(net::socket_base::reuse_address(true), error);
        acceptor.bind(at, error);
    }
    if (!error) {
        acceptor.listen(net::socket_base::max_listen_connections, error);
    }
    if (error) {
        return Error{ErrorCode::kIo, "cannot listen on " + name + ": " + error.message()};
    }
    acceptors_.emplace_back(std::move(acceptor), door);
    accepting_.push_back(false);
    return Status::success();
}

Status Server::listen(const Listener& listener, const SocketGroups& groups) {
    const std::string& path = listener.path;
    if (path.empty()) {
        const net::ip::address host = listener.is_v6
                                          ? net::ip::address(net::ip::address_v6::loopback())
                                          : net::ip::address(net::ip::address_v4::loopback());
        return open(net::ip::tcp::endpoint(host, listener.port),
                    "port " + std::to_string(listener.port), listener.door);
    }
    const net::local::stream_protocol::endpoint at(path);
    net::local::stream_protocol::socket probe(io_);
    beast::error_code error;
    probe.connect(at, error);
    if (Status room = SocketFiles::make_room(path, !error); !room.ok()) {
        return room;
    }
    if (Status opened = open(at, path, listener.door); !opened.ok()) {
        return opened;
    }
    return files_.add(path, groups);
}

void Server::accept(std::size_t acceptor) {
    if (stopping_ || accepting_[acceptor] || sessions_ >= kConnectionsMax) {
        return;
    }
    accepting_[acceptor] = true;
    acceptors_[acceptor].first.async_accept(
        [this, acceptor](beast::error_code error, Protocol::socket socket) {
            accepting_[acceptor] = false;
            if (!error) {
                std::make_shared<Session>(std::move(socket), acceptors_[acceptor].second, *this)
                    ->read();
                front_.figures().connections = sessions_;
            }
            if (error == net::error::no_descriptors || error == net::error::no_memory) {
                return;  // the end of a session accepts again
            }
            accept(acceptor);
        });
}

void Server::session_ended() {
    --sessions_;
    if (!running_) {
        return;  // the context destroys what is left of the sessions
    }
    front_.figures().connections = sessions_;
    for (std::size_t i = 0; i < acceptors_.size(); ++i) {
        accept(i);
    }
    if (stopping_ && sessions_ == 0) {
        io_.stop();
    }
}

void Server::stop() {
    stopping_ = true;
    files_.remove();
    for (auto& [acceptor, door] : acceptors_) {
        beast::error_code ignored;
        acceptor.close(ignored);
    }
    waiters_.wake_all();
    for (Session* const session : idle_) {
        session->end_if_silent();
    }
    if (sessions_ == 0) {
        io_.stop();
    }
    drain_timer_.expires_after(kDraining);
    drain_timer_.async_wait([this](beast::error_code) { readers_.cancel(); });
    stop_timer_.expires_after(kStopping);
    stop_timer_.async_wait([this](beast::error_code) { io_.stop(); });
}

void Server::watch_mounts() {
    mount_timer_.expires_after(kMountCheck);
    mount_timer_.async_wait([this](beast::error_code) {
        const std::string lost = stopping_ ? std::string() : mounts_.lost();
        if (!lost.empty()) {
            ended_ = Error{ErrorCode::kIo, lost +
                                               ": another file took its place, and the unit's "
                                               "mounts do not cover it: start again"};
            stop();
        } else if (!stopping_) {
            watch_mounts();
        }
    });
}

/// The watch's notices come to this thread.
void Server::watch_chains() {
    watch_.start([this](std::optional<ChainEntries> entries) {
        net::post(io_, [this, entries = std::move(entries)] {
            entries ? waiters_.note(*entries) : waiters_.wake_all();
        });
    });
}

void Server::expire_waits() {
    wait_timer_.expires_after(kWaitCheck);
    wait_timer_.async_wait([this](beast::error_code error) {
        if (error) {
            return;  // a later wait has set the timer again
        }
        waiters_.expire(steady_now(), front_.registry_generation());
        if (waiters_.has_parked()) {
            expire_waits();
        } else {
            watch_.watch(false);
        }
    });
}

Status Server::run() {
    net::signal_set signals(io_, SIGINT, SIGTERM);
    signals.async_wait([this](beast::error_code error, int) {
        if (!error) {
            cli::notify_service("STOPPING=1");
            stop();
        }
    });
    for (std::size_t i = 0; i < acceptors_.size(); ++i) {
        accept(i);
    }
    watch_mounts();
    watch_chains();
    running_ = true;
    io_.run();
    running_ = false;
    watch_.stop();
    readers_.cancel();
    readers_.stop();  // before the sessions that it answers
    return ended_;
}

}  // namespace

Status run_server(Front& front, Readers& readers, cli::ChainWatch& watch, Mounts mounts,
                  const std::vector<Listener>& listeners, const SocketGroups& groups) {
    Server server(front, readers, watch, std::move(mounts));
    for (const Listener& listener : listeners) {
        if (Status opened = server.listen(listener, groups); !opened.ok()) {
            return opened;
        }
    }
    cli::notify_service("READY=1");
    return server.run();
}

}  // namespace sluice::serve
