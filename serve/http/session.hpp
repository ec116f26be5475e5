// Session and Server: a connection, and its server. Only their two source files include this, and
// so Asio and Beast.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/values/assert.hpp"
#include "serve/http/feed_waiters.hpp"
#include "serve/http/gate.hpp"
#include "serve/http/mounts.hpp"
#include "serve/http/readers.hpp"
#include "serve/http/socket_files.hpp"
#include "serve/http/unsent.hpp"
#include "worker/access/chain_watch.hpp"

namespace sluice::serve {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

using Protocol = net::generic::stream_protocol;

inline constexpr std::size_t kHeadBytesMax = std::size_t{16} << 10;

/// Logs an error that ended an answer or a wait, and not the process.
void note_failure(const std::string& of, const std::exception& failure);

class Session;

class Server {
public:
    Server(Gate& front, Readers& readers, cli::ChainWatch& watch, Mounts mounts)
        : front_(front), readers_(readers), watch_(watch), mounts_(std::move(mounts)) {}

    Status listen(const Listener& listener, const SocketGroups& groups);
    Status run();

private:
    friend class Session;
    using Acceptor = net::basic_socket_acceptor<Protocol>;

    Status open(const Protocol::endpoint& at, const std::string& name, Door door);
    void accept(std::size_t acceptor);
    void accept_all();
    [[nodiscard]] bool has_room() const noexcept;
    void session_ended();
    void stop();
    void watch_mounts();
    void watch_chains();
    void expire_waits();

    Gate& front_;
    Readers& readers_;
    cli::ChainWatch& watch_;
    Mounts mounts_;
    Status ended_ = Status::success();
    std::thread::id thread_ = std::this_thread::get_id();
    // The sessions that the context destroys at the end use these.
    std::list<Session*> idle_;  ///< Sessions that wait for a head, the longest first.
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
class Session : public std::enable_shared_from_this<Session> {
public:
    Session(Protocol::socket socket, Door door, Server& server);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void read();
    /// Ends a session of which no byte has arrived since its last answer. Returns whether it does.
    bool end_if_silent();
    /// Ends a session that waits for a head.
    void end() { stream_.cancel(); }

private:
    /// Runs a step of the session. An error in it is answered with 500 once, and ends this session
    /// only.
    template <class Step>
    void guarded(const Step& step) noexcept {
        try {
            const AssertionScope scope;
            step();
        } catch (const std::exception& failure) {
            fail(failure);
        }
    }
    void fail(const std::exception& failure) noexcept;

    void on_head(beast::error_code error);
    void answer_request();
    void read_ledger();
    void on_answer(Answer answer);
    void park(const Admitted& asked, std::uint64_t entries, Clock::time_point until);
    void watch_client();
    void wake();
    void end_wait();
    void leave_idle();
    void reject(std::string_view code);
    void forget_unsent();
    void note(unsigned status);
    void write(Answer answer);
    void on_written(beast::error_code error);
    void linger();

    beast::basic_stream<Protocol> stream_;
    Door door_;
    Server& server_;
    std::optional<std::list<Session*>::iterator> idle_;  ///< Its place in Server::idle_.
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
    bool has_failed_ = false;  ///< An error was answered with 500.
};

}  // namespace sluice::serve
