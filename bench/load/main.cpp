// sluice-load: a load generator that costs little enough not to be what is measured.
//
// Requests are prepared by bench/load/make_requests.py, whole and signed; here they are only sent.
// Closed loop (default): each connection sends its next request when the last was answered.
// Open loop (--rate): requests are due at fixed instants, and latency counts from the instant a
// request was due, so that a stalled server cannot hide its stall (no coordinated omission).
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "histogram.hpp"

namespace {

using sluice::bench::Connection;
using sluice::bench::Histogram;

struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 8080;
    std::string requests;
    unsigned connections = 64;
    double seconds = 5;
    double warmup_seconds = 1;
    double rate = 0;
    int accepted = 200;
};

std::uint64_t now_nanos() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// The end of the run is looked for as often.
constexpr std::uint64_t kWaitNanosMax = 100'000'000;

/// A batch is posted again and again, each time under a key of its own: 16 digits are replaced.
constexpr std::string_view kKey = "Idempotency-Key: ";
constexpr std::size_t kKeyDigits = 16;

/// Requires: it has a key, and the head of what was last sent of it has left.
void number_key(std::string& request, std::uint64_t number) {
    char digits[kKeyDigits + 1];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(number));
    request.replace(request.find(kKey) + kKey.size(), kKeyDigits, digits, kKeyDigits);
}

/// The file holds, for each request, its length as a decimal line and then its bytes.
std::vector<std::string> load_requests(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::string> requests;
    std::string line;
    while (std::getline(file, line)) {
        std::string request(std::stoul(line), '\0');
        file.read(request.data(), static_cast<std::streamsize>(request.size()));
        requests.push_back(std::move(request));
    }
    return requests;
}

class Run {
public:
    Run(const Options& options, std::vector<std::string> requests)
        : options_(options),
          requests_(std::move(requests)),
          keyed_(requests_.front().find(kKey) != std::string::npos) {}

    int execute() {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        for (unsigned index = 0; index < options_.connections; ++index) {
            slots_.push_back(std::make_unique<Slot>(options_));
            if (!reopen(index)) {
                std::fprintf(stderr, "sluice-load: cannot connect to %s:%u\n",
                             options_.host.c_str(), options_.port);
                return 1;
            }
            idle_.push_back(index);
        }
        start_ = now_nanos();
        measured_from_ = start_ + static_cast<std::uint64_t>(options_.warmup_seconds * 1e9);
        end_ = measured_from_ + static_cast<std::uint64_t>(options_.seconds * 1e9);
        next_due_ = start_;
        while (now_nanos() < end_) {
            dispatch();
            wait();
        }
        report();
        return 0;
    }

private:
    struct Slot {
        explicit Slot(const Options& options) : connection(options.host, options.port) {}
        Connection connection;
        std::uint64_t due = 0;
        std::uint64_t sent = 0;
        bool busy = false;
    };

    bool reopen(unsigned index) {
        if (!slots_[index]->connection.open()) {
            return false;
        }
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u32 = index;
        return epoll_ctl(epoll_, EPOLL_CTL_ADD, slots_[index]->connection.fd(), &event) == 0;
    }

    void begin(unsigned index, std::uint64_t due) {
        Slot& slot = *slots_[index];
        slot.due = due;
        slot.sent = now_nanos();
        slot.busy = true;
        std::string& request = requests_[next_request_ % requests_.size()];
        if (keyed_) {
            number_key(request, next_request_);
        }
        ++next_request_;
        if (!slot.connection.send(request)) {
            broken(index);
        } else if (slot.connection.wants_write()) {
            watch(index, EPOLLIN | EPOLLOUT);
        }
    }

    void watch(unsigned index, std::uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.u32 = index;
        epoll_ctl(epoll_, EPOLL_CTL_MOD, slots_[index]->connection.fd(), &event);
    }

    void dispatch() {
        const std::uint64_t now = now_nanos();
        while (!idle_.empty()) {
            if (options_.rate > 0 && next_due_ > now) {
                return;
            }
            const unsigned index = idle_.front();
            idle_.pop_front();
            if (options_.rate > 0) {
                begin(index, next_due_);
                next_due_ += static_cast<std::uint64_t>(1e9 / options_.rate);
            } else {
                begin(index, now);
            }
        }
    }

    /// The tool sleeps between two requests: one that spun would take a processor from the server
    /// that it measures.
    [[nodiscard]] timespec until_due() const {
        const std::uint64_t now = now_nanos();
        std::uint64_t nanos = kWaitNanosMax;
        if (options_.rate > 0 && !idle_.empty()) {
            nanos = next_due_ > now ? std::min(next_due_ - now, kWaitNanosMax) : 0;
        }
        return {.tv_sec = 0, .tv_nsec = static_cast<long>(nanos)};
    }

    void wait() {
        epoll_event events[256];
        const timespec timeout = until_due();
        const int ready = epoll_pwait2(epoll_, events, 256, &timeout, nullptr);
        for (int at = 0; at < ready; ++at) {
            const unsigned index = events[at].data.u32;
            if ((events[at].events & EPOLLOUT) != 0) {
                if (!slots_[index]->connection.flush()) {
                    broken(index);
                    continue;
                }
                if (!slots_[index]->connection.wants_write()) {
                    watch(index, EPOLLIN);
                }
            }
            if ((events[at].events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
                receive(index);
            }
        }
    }

    void receive(unsigned index) {
        Slot& slot = *slots_[index];
        const auto result = slot.connection.receive();
        if (result.complete) {
            const std::uint64_t now = now_nanos();
            if (now >= measured_from_ && now < end_) {
                ++statuses_[result.status];
                served_.add(now - slot.sent);
                if (result.status == options_.accepted) {
                    accepted_.add(now - slot.due);
                } else {
                    refused_.add(now - slot.due);
                }
            }
            slot.busy = false;
            idle_.push_back(index);
        }
        if (result.closed) {
            if (!result.complete) {
                broken(index);
            } else {
                reopen(index);
            }
        }
    }

    void broken(unsigned index) {
        ++broken_;
        if (slots_[index]->busy) {
            slots_[index]->busy = false;
            idle_.push_back(index);
        }
        if (!reopen(index)) {
            std::fprintf(stderr, "sluice-load: the server is gone\n");
            end_ = 0;
        }
    }

    void report() const {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const double cpu =
            static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
            static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
        const double wall = options_.seconds + options_.warmup_seconds;
        std::printf("{\"seconds\": %.3f, \"connections\": %u, \"rate_offered\": %.1f, ",
                    options_.seconds, options_.connections, options_.rate);
        std::printf("\"accepted_per_s\": %.1f, \"statuses\": {",
                    static_cast<double>(accepted_.count()) / options_.seconds);
        const char* comma = "";
        for (const auto& [status, count] : statuses_) {
            std::printf("%s\"%d\": %llu", comma, status, static_cast<unsigned long long>(count));
            comma = ", ";
        }
        std::printf("}, \"broken\": %llu, ", static_cast<unsigned long long>(broken_));
        print_latency("accepted", accepted_);
        print_latency("refused", refused_);
        print_latency("served", served_);
        std::printf("\"load_tool_cpu_share\": %.3f}\n", cpu / wall);
    }

    static void print_latency(const char* name, const Histogram& histogram) {
        std::printf("\"%s_us\": {\"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f, \"max\": %.1f}, ",
                    name, static_cast<double>(histogram.quantile(0.5)) / 1e3,
                    static_cast<double>(histogram.quantile(0.99)) / 1e3,
                    static_cast<double>(histogram.quantile(0.999)) / 1e3,
                    static_cast<double>(histogram.max()) / 1e3);
    }

    Options options_;
    std::vector<std::string> requests_;
    bool keyed_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::deque<unsigned> idle_;
    int epoll_ = -1;
    std::uint64_t next_request_ = 0;
    std::uint64_t start_ = 0;
    std::uint64_t measured_from_ = 0;
    std::uint64_t end_ = 0;
    std::uint64_t next_due_ = 0;
    std::uint64_t broken_ = 0;
    std::map<int, std::uint64_t> statuses_;
    Histogram accepted_;
    Histogram refused_;
    Histogram served_;  ///< Any status; from sending, so without the wait for a free connection.
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{
        "Sends prepared HTTP requests over keep-alive connections; prints one JSON object."};
    app.add_option("--host", options.host);
    app.add_option("--port", options.port)->required();
    app.add_option("--requests", options.requests, "file from make_requests.py")->required();
    app.add_option("--connections", options.connections)->check(CLI::Range(1, 10000));
    app.add_option("--seconds", options.seconds);
    app.add_option("--warmup", options.warmup_seconds);
    app.add_option("--rate", options.rate, "requests per second (open loop); 0: closed loop");
    app.add_option("--accept", options.accepted, "status of an accepted request");
    CLI11_PARSE(app, argc, argv);

    auto requests = load_requests(options.requests);
    if (requests.empty()) {
        std::fprintf(stderr, "sluice-load: no requests in %s\n", options.requests.c_str());
        return 1;
    }
    prctl(PR_SET_TIMERSLACK, 1);  // by default each request would leave up to 50 us late
    return Run(options, std::move(requests)).execute();
}
