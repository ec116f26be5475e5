#include "worker/notify/signing.hpp"

#include <openssl/evp.h>

#include <array>

#include "core/protocol/signature.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::notify {
namespace {

constexpr std::size_t kHashDigits = 16;

std::string to_base64(std::span<const std::uint8_t> bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the NUL that OpenSSL writes
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

}  // namespace

std::string new_secret() {
    std::array<std::uint8_t, kSecretBytes> bytes{};
    fill_random(bytes);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string secret_text(std::string_view secret) {
    return "whsec_" +
           to_base64({reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()});
}

std::string signature_header(std::span<const std::string> secrets, std::string_view id,
                             std::int64_t timestamp_s, std::string_view body) {
    const std::string head = std::string(id) + '.' + std::to_string(timestamp_s) + '.';
    std::string value;
    for (const std::string& secret : secrets) {
        RunningHmac hmac = SigningKey(secret).begin();
        hmac.add(head);
        hmac.add(body);
        value += (value.empty() ? "v1," : " v1,") + to_base64(hmac.digest());
    }
    return value;
}

std::string webhook_id(std::uint32_t account_number, std::uint32_t node_number, std::uint64_t last,
                       std::string_view hash) {
    return "chg_" + std::to_string(account_number) + '_' + std::to_string(node_number) + '_' +
           std::to_string(last) + '_' + std::string(hash.substr(0, kHashDigits));
}

}  // namespace sluice::notify
