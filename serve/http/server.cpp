#include "serve/http/server.hpp"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>

#include "os/clock/clock.hpp"
#include "program/cli/output.hpp"
#include "program/system/process.hpp"
#include "serve/http/session.hpp"

namespace sluice::serve {
namespace {

constexpr std::size_t kConnectionsMax = FeedWaiters::kWaitsMax + 100;  ///< Some for no wait.
constexpr std::chrono::seconds kDraining{3}, kStopping{5};  ///< For reads, answers, when it stops.
constexpr std::chrono::milliseconds kMountCheck{1000}, kWaitCheck{100};

}  // namespace

void note_failure(const std::string& of, const std::exception& failure) {
    std::fprintf(stderr, "sluice: %s failed: %s\n", of.c_str(),
                 cli::printable(failure.what()).c_str());
}

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
    Status opened = SocketFiles::make_room(path, !error);
    opened = opened.ok() ? open(at, path, listener.door) : opened;
    return opened.ok() ? files_.add(path, groups) : opened;
}

bool Server::has_room() const noexcept {
    return sessions_ < kConnectionsMax;
}

/// Accepts the next connection. If there are too many, the one that is idle for longest gives up
/// its place; rather one that is silent than one that is slow.
void Server::accept(std::size_t acceptor) {
    if (stopping_ || accepting_[acceptor]) {
        return;
    }
    if (!has_room()) {
        const bool has_ended = std::ranges::any_of(idle_, &Session::end_if_silent);
        if (!has_ended && !idle_.empty()) {
            idle_.front()->end();
        }
        return;  // the end of a session accepts again
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

void Server::accept_all() {
    for (std::size_t i = 0; i < acceptors_.size(); ++i) {
        accept(i);
    }
}

void Server::session_ended() {
    --sessions_;
    if (!running_) {
        return;  // the context destroys what is left of the sessions
    }
    front_.figures().connections = sessions_;
    accept_all();
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
        (void)session->end_if_silent();
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
        try {
            const AssertionScope scope;
            waiters_.expire(steady_now(), front_.registry_generation());
        } catch (const std::exception& failure) {
            note_failure("a wait for changes", failure);
        }
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
    accept_all();
    watch_mounts();
    watch_chains();
    running_ = true;
    for (bool is_over = false; !is_over;) {
        try {
            io_.run();
            is_over = true;
        } catch (const std::exception& failure) {  // sessions catch their own
            note_failure("the server", failure);
        }
    }
    running_ = false;
    watch_.stop();
    readers_.cancel();
    readers_.stop();  // before the sessions that it answers
    return ended_;
}

Status run_server(Gate& front, Readers& readers, cli::ChainWatch& watch, Mounts mounts,
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
