#include "pg_store/connection/servers.hpp"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>

#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "pg_store/connection/error.hpp"
#include "pg_store/connection/libpq.hpp"

namespace sluice::pg {
namespace {

using Known = std::map<std::string, std::string, std::less<>>;

/// Defaults of settings that the URL, a service file and the environment leave open. A peer that
/// vanished is noticed within 15 s.
constexpr std::array<std::pair<const char*, const char*>, 5> kDefaults{{
    {"fallback_application_name", "sluice"},
    {"keepalives_idle", "5"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "2"},
    {"tcp_user_timeout", "15000"},
}};
/// Settings that name the servers and limit the attempts. They differ from attempt to attempt.
constexpr std::array<std::string_view, 6> kOfTheAttempt{
    "host", "hostaddr", "port", "target_session_attrs", "connect_timeout", "client_encoding"};
/// Long enough for the kernel to repeat two lost packets.
constexpr std::chrono::seconds kConnectTimeout{5};
constexpr std::chrono::seconds kConnectTimeoutMax{25};
/// A value of sslmode that libpq rejects.
constexpr std::string_view kRefused = "ask nobody";

std::string_view value_of(const Known& known, std::string_view keyword) {
    const auto found = known.find(keyword);
    return found == known.end() ? std::string_view() : found->second;
}

/// Asks libpq for the settings of a URL, because only libpq knows what a service file and the
/// environment add. A value that libpq rejects after it has read all settings keeps it from
/// connecting.
Result<Known> ask_libpq(const Url& url) {
    std::vector<const char*> keywords;
    std::vector<const char*> values;
    for (const auto& [keyword, value] : url.parameters()) {
        if (keyword != "sslmode") {
            keywords.push_back(keyword.c_str());
            values.push_back(value.c_str());
        }
    }
    keywords.insert(keywords.end(), {"sslmode", nullptr});
    values.insert(values.end(), {kRefused.data(), nullptr});
    const std::unique_ptr<PGconn, decltype(PQfinish)&> conn(
        PQconnectStartParams(keywords.data(), values.data(), 0), PQfinish);
    const std::unique_ptr<PQconninfoOption, decltype(PQconninfoFree)&> options(
        conn ? PQconninfo(conn.get()) : nullptr, PQconninfoFree);
    if (!options) {
        throw std::bad_alloc();
    }
    Known known;
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) {
            known.emplace(option->keyword, option->val);
        }
    }
    if (value_of(known, "sslmode") != kRefused) {
        return invalid("PostgreSQL: " + one_line(PQerrorMessage(conn.get())));
    }
    return known;
}

/// Splits a text at its commas. An empty text has no elements.
std::vector<std::string_view> list_of(std::string_view text) {
    return text.empty() ? std::vector<std::string_view>() : sluice::split(text, ',');
}

Result<std::vector<Server>> split(const Known& known) {
    const auto hosts = list_of(value_of(known, "host"));
    const auto addresses = list_of(value_of(known, "hostaddr"));
    const auto ports = list_of(value_of(known, "port"));
    const std::size_t count = std::max<std::size_t>({1, hosts.size(), addresses.size()});
    if ((!hosts.empty() && !addresses.empty() && hosts.size() != addresses.size()) ||
        (ports.size() > 1 && ports.size() != count)) {
        return invalid(
            "PostgreSQL: hosts, addresses (hostaddr) and ports do not have the same number");
    }
    std::vector<Server> servers(count);
    for (std::size_t i = 0; i < count; ++i) {
        servers[i].host = hosts.empty() ? std::string_view() : hosts[i];
        servers[i].address = addresses.empty() ? std::string_view() : addresses[i];
        servers[i].port = ports.empty() ? std::string_view() : ports[ports.size() == 1 ? 0 : i];
    }
    return servers;
}

std::chrono::seconds patience_of(std::string_view text) {
    int seconds = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), seconds);
    return seconds <= 0 ? kConnectTimeout
                        : std::min(std::chrono::seconds(seconds), kConnectTimeoutMax);
}

bool is_name(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return !host.empty() && host[0] != '/' && host[0] != '@' &&
           ::inet_pton(AF_INET, host.c_str(), address.data()) != 1 &&
           ::inet_pton(AF_INET6, host.c_str(), address.data()) != 1;
}

}  // namespace

Result<Servers> servers_of(const Url& url) {
    const auto known = ask_libpq(url);
    if (!known.ok()) {
        return known.error();
    }
    auto all = split(*known);
    if (!all.ok()) {
        return all.error();
    }
    Servers servers{.all = std::move(all).value(),
                    .wanted = std::string(value_of(*known, "target_session_attrs")),
                    .patience = patience_of(value_of(*known, "connect_timeout"))};
    for (const auto& parameter : url.parameters()) {
        if (!has_item(kOfTheAttempt, parameter.first)) {
            servers.common.push_back(parameter);
        }
    }
    for (const auto& [keyword, value] : kDefaults) {
        if (value_of(*known, keyword).empty()) {
            servers.common.emplace_back(keyword, value);
        }
    }
    servers.common.emplace_back("client_encoding", "UTF8");
    return servers;
}

Result<std::vector<Server>> addresses_of(const Server& server) {
    if (!server.address.empty() || !is_name(server.host)) {
        return std::vector<Server>{server};
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = ::getaddrinfo(server.host.c_str(), nullptr, &hints, &found);
        failed != 0) {
        return Error{ErrorCode::kIo, "PostgreSQL: host \"" + server.host +
                                         "\" is not known: " + ::gai_strerror(failed)};
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
    std::vector<Server> addresses;
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(at->ai_addr, at->ai_addrlen, text.data(), text.size(), nullptr, 0,
                          NI_NUMERICHOST) == 0) {
            addresses.push_back({server.host, text.data(), server.port});
        }
    }
    return addresses;
}

Parameters parameters_of(const Servers& servers, const Server& address) {
    Parameters parameters = servers.common;
    parameters.emplace_back("host", address.host);
    parameters.emplace_back("hostaddr", address.address);
    parameters.emplace_back("port", address.port);
    return parameters;
}

std::string shown(const Server& address) {
    const std::string port = address.port.empty() ? "5432" : address.port;
    if (address.host.empty() && address.address.empty()) {
        return "server on the local socket, port " + port;
    }
    if (!address.host.empty() && (address.host[0] == '/' || address.host[0] == '@')) {
        return "server on socket \"" + address.host + "/.s.PGSQL." + port + "\"";
    }
    std::string text = "server at \"" + (address.host.empty() ? address.address : address.host);
    text += '"';
    if (!address.host.empty() && !address.address.empty() && address.host != address.address) {
        text += " (" + address.address + ")";
    }
    return text + ", port " + port;
}

}  // namespace sluice::pg
