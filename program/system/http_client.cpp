#include "program/system/http_client.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "core/values/assert.hpp"
#include "os/clock/clock.hpp"
#include "program/system/libcurl.hpp"

namespace sluice::cli {
namespace {

struct EasyDeleter {
    void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
    void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct ListDeleter {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

void require_curl_ready() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready != CURLE_OK) {
        throw std::runtime_error("libcurl cannot start");
    }
}

std::optional<std::string> header_of(CURL* easy, const char* name) {
    curl_header* found = nullptr;
    const bool there = curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK;
    return there ? std::optional<std::string>(found->value) : std::nullopt;
}

std::optional<std::int64_t> number_of(CURL* easy, const char* name) {
    const auto text = header_of(easy, name);
    std::int64_t number = 0;
    if (!text) {
        return std::nullopt;
    }
    const char* const end = text->data() + text->size();
    const auto [stopped, error] = std::from_chars(text->data(), end, number);
    return error == std::errc() && stopped == end && number >= 0 ? std::optional(number)
                                                                 : std::nullopt;
}

/// Computes the window by the server's clock (its Date), if it sends one, because the local clock
/// may differ.
std::optional<RateWindow> window_of(CURL* easy) {
    const auto limit = number_of(easy, "X-RateLimit-Limit");
    const auto remaining = number_of(easy, "X-RateLimit-Remaining");
    const auto reset = number_of(easy, "X-RateLimit-Reset");
    if (!limit || !remaining || !reset) {
        return std::nullopt;
    }
    const auto date = header_of(easy, "Date");
    const time_t told = date ? curl_getdate(date->c_str(), nullptr) : -1;
    const std::int64_t now = told >= 0 ? told : sluice::now().seconds;
    return RateWindow{static_cast<std::uint64_t>(*limit), static_cast<std::uint64_t>(*remaining),
                      *reset, std::clamp<std::int64_t>(*reset - now, 0, 86'400)};
}

}  // namespace

/// One connection's worth of request; its handle is used again and again.
struct HttpClient::Transfer {
    std::unique_ptr<CURL, EasyDeleter> easy{curl_easy_init()};
    std::unique_ptr<curl_slist, ListDeleter> headers;
    HttpResponse response;
    AddressCheck check_address;
    std::size_t response_bytes_max = 0;
    bool is_cut = false;

    void set_headers(const std::vector<std::string>& lines) {
        headers.reset();
        for (const std::string& line : lines) {
            curl_slist* const longer = curl_slist_append(headers.get(), line.c_str());
            if (longer == nullptr) {
                throw std::bad_alloc();
            }
            (void)headers.release();
            headers.reset(longer);
        }
    }

    static std::size_t on_body(const char* bytes, std::size_t size, std::size_t count,
                               void* transfer) {
        auto* const self = static_cast<Transfer*>(transfer);
        std::string& body = self->response.body;
        if (body.size() + size * count > self->response_bytes_max) {
            self->is_cut = true;
            return 0;
        }
        body.append(bytes, size * count);
        return size * count;
    }

    /// Opens a socket unless its address is refused. libcurl then tries the name's next address.
    static curl_socket_t on_socket(void* transfer, curlsocktype /*purpose*/,
                                   curl_sockaddr* address) {
        auto* const self = static_cast<Transfer*>(transfer);
        std::string refused = self->check_address(&address->addr, address->addrlen);
        if (!refused.empty()) {
            self->response.error = std::move(refused);
            return CURL_SOCKET_BAD;
        }
        return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    }
};

struct HttpClient::State {
    std::string user_agent;
    HttpLimits limits;
    std::unique_ptr<CURLM, MultiDeleter> multi{curl_multi_init()};
    std::vector<std::unique_ptr<Transfer>> idle;
    std::vector<std::unique_ptr<Transfer>> busy;
};

HttpClient::HttpClient(std::size_t connections_max, std::string user_agent, HttpLimits limits) {
    require_curl_ready();
    state_ = std::make_unique<State>();
    state_->user_agent = std::move(user_agent);
    state_->limits = std::move(limits);
    for (std::size_t i = 0; i < connections_max; ++i) {
        state_->idle.push_back(std::make_unique<Transfer>());
    }
}

HttpClient::~HttpClient() {
    for (const auto& transfer : state_->busy) {
        curl_multi_remove_handle(state_->multi.get(), transfer->easy.get());
    }
}

std::size_t HttpClient::in_flight() const noexcept {
    return state_->busy.size();
}

void HttpClient::start(std::uint64_t id, const HttpRequest& request) {
    SLUICE_ASSERT(!state_->idle.empty());
    std::unique_ptr<Transfer> transfer = std::move(state_->idle.back());
    state_->idle.pop_back();
    transfer->response = {};
    transfer->response.id = id;
    transfer->check_address = request.check_address;
    transfer->is_cut = false;
    transfer->set_headers(request.headers);
    const HttpLimits& limits = state_->limits;
    transfer->response_bytes_max = limits.response_bytes_max;
    CURL* const easy = transfer->easy.get();
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers.get());
    curl_easy_setopt(easy, CURLOPT_USERAGENT, state_->user_agent.c_str());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, limits.connect_seconds);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, limits.transfer_seconds);
    if (!limits.uses_proxy) {
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
    if (!limits.ca_file.empty()) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, limits.ca_file.c_str());
    }
    if (request.check_address) {
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_socket);
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer.get());
    }
    if (!request.shares_connections) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer.get());
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer.get());
    curl_multi_add_handle(state_->multi.get(), easy);
    state_->busy.push_back(std::move(transfer));
}

std::vector<HttpResponse> HttpClient::wait(int timeout_ms) {
    int running = 0;
    curl_multi_perform(state_->multi.get(), &running);
    if (running == static_cast<int>(state_->busy.size())) {
        curl_multi_poll(state_->multi.get(), nullptr, 0, timeout_ms, nullptr);
        curl_multi_perform(state_->multi.get(), &running);
    }
    std::vector<HttpResponse> ended;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(state_->multi.get(), &left)) {
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        CURL* const easy = message->easy_handle;
        const CURLcode result = message->data.result;
        const auto found = std::ranges::find_if(
            state_->busy, [&](const auto& t) { return t->easy.get() == easy; });
        SLUICE_ASSERT(found != state_->busy.end());
        HttpResponse& response = (*found)->response;
        curl_off_t took_us = 0;
        curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &took_us);
        response.took = std::chrono::milliseconds(took_us / 1000);
        if (result == CURLE_OK || ((*found)->is_cut && !state_->limits.refuses_longer)) {
            response.error.clear();
            curl_off_t retry_after_s = 0;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &response.status);
            curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after_s);
            if (retry_after_s > 0) {
                response.retry_after_s = retry_after_s;
            }
            response.window = window_of(easy);
        } else if (response.error.empty() || result != CURLE_COULDNT_CONNECT) {
            response.error = curl_easy_strerror(result);
        }
        curl_multi_remove_handle(state_->multi.get(), easy);
        ended.push_back(std::move(response));
        state_->idle.push_back(std::move(*found));
        state_->busy.erase(found);
    }
    return ended;
}

void HttpClient::wake() noexcept {
    curl_multi_wakeup(state_->multi.get());
}

}  // namespace sluice::cli
