#include "notify/signing.hpp"

#include <algorithm>
#include <array>

#include "core/protocol/signature.hpp"
#include "core/values/base64.hpp"
#include "core/values/texts.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::notify {
namespace {

constexpr std::size_t kHashDigits = 16;

constexpr std::size_t kHeaderBytesMax = 4096;
constexpr std::array<std::string_view, 10> kOwnHeaders{
    "host",    "connection", "content-length", "content-type", "transfer-encoding",
    "trailer", "upgrade",    "expect",         "te",           "keep-alive"};
constexpr std::array<std::string_view, 2> kOwnPrefixes{"webhook-", "proxy-"};

bool is_name(std::string_view name) noexcept {
    constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::ranges::all_of(name, [&](char c) {
        return is_ascii_letter_or_digit(c) || kSigns.find(c) != std::string_view::npos;
    });
}

bool is_own(std::string_view name) {
    const std::string lowered = ascii_lower(name);
    return std::ranges::count(kOwnHeaders, lowered) != 0 ||
           std::ranges::any_of(
               kOwnPrefixes, [&](std::string_view prefix) { return lowered.starts_with(prefix); });
}

}  // namespace

std::string new_secret() {
    std::array<std::uint8_t, kSecretBytes> bytes{};
    fill_random(bytes);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string secret_text(std::string_view secret) {
    return "whsec_" + to_base64(secret);
}

std::string signature_header(std::span<const std::string> secrets, std::string_view id,
                             std::int64_t timestamp_s, std::string_view body) {
    const std::string head = std::string(id) + '.' + std::to_string(timestamp_s) + '.';
    std::string value;
    for (const std::string& secret : secrets) {
        RunningHmac hmac = SigningKey(secret).begin();
        hmac.add(head);
        hmac.add(body);
        value += (value.empty() ? "v1," : " v1,") + to_base64(view_of(hmac.digest()));
    }
    return value;
}

std::string webhook_id(std::uint32_t account_number, std::uint32_t node_number, std::uint64_t last,
                       std::string_view hash) {
    return "chg_" + std::to_string(account_number) + '_' + std::to_string(node_number) + '_' +
           std::to_string(last) + '_' + std::string(hash.substr(0, kHashDigits));
}

Result<OpenedSecrets> open_secrets(const store::MasterKey& key,
                                   const store::Destination& destination, std::uint64_t now) {
    OpenedSecrets opened;
    std::vector<const std::string*> signing{&destination.secret};
    if (!destination.old_secret.empty() && now < destination.old_until) {
        signing.push_back(&destination.old_secret);
    }
    bool is_sound = true;
    const auto take = [&](const std::string& sealed) {
        auto text = key.open(sealed, destination.uuid);
        is_sound = is_sound && text.ok();
        return text.ok() ? std::move(text).value() : std::string();
    };
    for (const std::string* sealed : signing) {
        opened.signing.push_back(take(*sealed));
    }
    if (!destination.header.empty()) {
        opened.header = take(destination.header);
    }
    if (!is_sound) {
        return Error{ErrorCode::kCorrupt, "the secret of destination \"" + destination.id +
                                              "\" does not open with notify.key: remove the "
                                              "destination and add it again"};
    }
    return opened;
}

Result<std::string> parse_header(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.size() > kHeaderBytesMax ||
        !is_name(line.substr(0, colon))) {
        return invalid("the header must be one line \"Name: value\"");
    }
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    const bool is_printable =
        !value.empty() && std::ranges::all_of(value, [](char c) { return c >= ' ' && c < '\x7f'; });
    if (!is_printable) {
        return invalid("the value of the header must have printable ASCII characters");
    }
    const std::string name(line.substr(0, colon));
    if (is_own(name)) {
        return invalid("the header " + name + " is set by sluice itself");
    }
    return name + ": " + std::string(value);
}

}  // namespace sluice::notify
