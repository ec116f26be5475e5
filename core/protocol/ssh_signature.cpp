#include "core/protocol/ssh_signature.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "core/protocol/openssl_objects.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/base64.hpp"

namespace sluice {
namespace {

constexpr std::string_view kEd25519 = "ssh-ed25519";
constexpr std::string_view kEcdsa = "ecdsa-sha2-nistp256";
constexpr std::string_view kCurve = "nistp256";
constexpr std::string_view kSignatureMagic = "SSHSIG";
constexpr std::string_view kBegin = "-----BEGIN SSH SIGNATURE-----";
constexpr std::string_view kEnd = "-----END SSH SIGNATURE-----";
constexpr std::size_t kEd25519KeyBytes = 32;
constexpr std::size_t kEd25519SignatureBytes = 64;
constexpr std::size_t kPointBytes = 65;

using Key = EvpKey;
using KeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using Number = Owned<BIGNUM, BN_free>;
using Ecdsa = Owned<ECDSA_SIG, ECDSA_SIG_free>;

Error cut() {
    return {ErrorCode::kInvalid,
            "the signature is cut or damaged: expected the file that `ssh-keygen -Y sign` wrote"};
}

// ---- The strings of SSH -------------------------------------------------------------------------

/// A string of SSH: its length in four bytes, big endian, and its bytes.
std::string packed(std::string_view bytes) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) {
        text.push_back(static_cast<char>(bytes.size() >> shift));
    }
    return text.append(bytes);
}

class Unpacking {
public:
    explicit Unpacking(std::string_view bytes) : rest_(bytes) {}

    [[nodiscard]] std::optional<std::uint32_t> number() {
        if (rest_.size() < 4) {
            return std::nullopt;
        }
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) {
            value = value << 8 | static_cast<unsigned char>(rest_[static_cast<std::size_t>(i)]);
        }
        rest_.remove_prefix(4);
        return value;
    }
    [[nodiscard]] std::optional<std::string_view> text() {
        const auto size = number();
        if (!size || *size > rest_.size()) {
            return std::nullopt;
        }
        const std::string_view taken = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return taken;
    }
    [[nodiscard]] bool take(std::string_view wanted) {
        if (!rest_.starts_with(wanted)) {
            return false;
        }
        rest_.remove_prefix(wanted.size());
        return true;
    }
    [[nodiscard]] bool is_empty() const noexcept { return rest_.empty(); }

private:
    std::string_view rest_;
};

/// Throws std::bad_alloc if OpenSSL failed for lack of memory since ERR_clear_error(): that says
/// nothing about a key or a signature, and a replay would judge it otherwise.
void check_memory() {
    while (const unsigned long error = ERR_get_error()) {
        if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) {
            throw std::bad_alloc();
        }
    }
}

// ---- Keys ---------------------------------------------------------------------------------------

Key ed25519_key(std::string_view bytes) {
    return Key(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(bytes), bytes.size()));
}

Key ecdsa_key(std::string_view point) {
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
    std::string group = "prime256v1";
    std::string copy(point);
    const std::array<OSSL_PARAM, 3> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size()),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, copy.data(), copy.size()),
        OSSL_PARAM_construct_end()};
    EVP_PKEY* made = nullptr;
    if (context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY,
                          const_cast<OSSL_PARAM*>(parameters.data())) != 1) {
        return nullptr;
    }
    return Key(made);
}

/// Returns nullptr if the encoding is not that of a key that is supported.
Key key_of(std::string_view blob) {
    Unpacking from(blob);
    const auto type = from.text();
    if (type == kEd25519) {
        const auto bytes = from.text();
        return bytes && bytes->size() == kEd25519KeyBytes && from.is_empty() ? ed25519_key(*bytes)
                                                                             : nullptr;
    }
    if (type != kEcdsa || from.text() != kCurve) {
        return nullptr;
    }
    const auto point = from.text();
    return point && point->size() == kPointBytes && from.is_empty() ? ecdsa_key(*point) : nullptr;
}

// ---- Signatures ---------------------------------------------------------------------------------

/// Fields of unarmored(), as views into its bytes.
struct Signature {
    std::string_view key, name_space, reserved, hash, type, value;
};

bool is_line_end(char c) noexcept {
    return c == '\n' || c == '\r';
}

/// Returns the bytes between the first and the last line of the file.
std::optional<std::string> unarmored(std::string_view text) {
    if (!text.starts_with(kBegin)) {
        return std::nullopt;
    }
    text.remove_prefix(kBegin.size());
    const std::size_t end = text.find(kEnd);
    if (end == std::string_view::npos || !is_line_end(text.front()) ||
        !is_line_end(text[end - 1])) {
        return std::nullopt;
    }
    const std::string_view behind = text.substr(end + kEnd.size());
    if (!std::ranges::all_of(behind, is_line_end)) {
        return std::nullopt;
    }
    std::string base64;
    std::copy_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                 std::back_inserter(base64), [](char c) { return !is_line_end(c); });
    return from_base64(base64);
}

Parsed<Signature> parse(std::string_view bytes) {
    Signature signature;
    Unpacking from(bytes);
    if (!from.take(kSignatureMagic) || from.number() != 1U) {
        return std::nullopt;
    }
    std::string_view packed_value;
    for (std::string_view* field : {&signature.key, &signature.name_space, &signature.reserved,
                                    &signature.hash, &packed_value}) {
        const auto text = from.text();
        if (!text) {
            return std::nullopt;
        }
        *field = *text;
    }
    Unpacking value(packed_value);
    const auto type = value.text();
    const auto raw = value.text();
    if (!from.is_empty() || !type || !raw || !value.is_empty()) {
        return std::nullopt;
    }
    signature.type = *type;
    signature.value = *raw;
    return signature;
}

/// Returns the bytes that were signed, or none if the hash is unknown.
std::string signed_bytes(const Signature& signature, std::string_view message) {
    std::string digest;
    if (signature.hash == "sha512") {
        digest.resize(SHA512_DIGEST_LENGTH);
        SHA512(bytes_of(message), message.size(), reinterpret_cast<unsigned char*>(digest.data()));
    } else if (signature.hash == "sha256") {
        digest.resize(SHA256_DIGEST_LENGTH);
        SHA256(bytes_of(message), message.size(), reinterpret_cast<unsigned char*>(digest.data()));
    } else {
        return {};
    }
    return std::string(kSignatureMagic) + packed(signature.name_space) +
           packed(signature.reserved) + packed(signature.hash) + packed(digest);
}

/// Whether a number of SSH is negative, which no part of a signature is.
bool is_negative(std::string_view number) noexcept {
    constexpr unsigned char kSign = 0x80;
    return !number.empty() && (static_cast<unsigned char>(number.front()) & kSign) != 0;
}

/// Two numbers of SSH as the sequence of ASN.1 that OpenSSL takes.
std::optional<std::string> der_of(std::string_view value) {
    Unpacking from(value);
    const auto r = from.text();
    const auto s = from.text();
    if (!r || !s || !from.is_empty() || is_negative(*r) || is_negative(*s)) {
        return std::nullopt;
    }
    const Ecdsa signature(ECDSA_SIG_new());
    Number r_number(BN_bin2bn(bytes_of(*r), static_cast<int>(r->size()), nullptr));
    Number s_number(BN_bin2bn(bytes_of(*s), static_cast<int>(s->size()), nullptr));
    if (signature == nullptr || r_number == nullptr || s_number == nullptr) {
        throw std::bad_alloc();
    }
    ECDSA_SIG_set0(signature.get(), r_number.release(), s_number.release());
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(signature.get(), &der);
    if (size <= 0) {
        return std::nullopt;
    }
    std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
    return text;
}

bool is_right(const Signature& signature, const std::string& bytes, EVP_PKEY* key) {
    const DigestContext context(EVP_MD_CTX_new());
    if (context == nullptr) {
        throw std::bad_alloc();
    }
    const bool is_ed25519 = EVP_PKEY_is_a(key, "ED25519") == 1;
    std::optional<std::string> value;
    if (is_ed25519) {
        value = signature.type == kEd25519 && signature.value.size() == kEd25519SignatureBytes
                    ? std::optional(std::string(signature.value))
                    : std::nullopt;
    } else if (signature.type == kEcdsa) {
        value = der_of(signature.value);
    }
    return value &&
           EVP_DigestVerifyInit(context.get(), nullptr, is_ed25519 ? nullptr : EVP_sha256(),
                                nullptr, key) == 1 &&
           EVP_DigestVerify(context.get(), bytes_of(*value), value->size(), bytes_of(bytes),
                            bytes.size()) == 1;
}

}  // namespace

Result<SshPublicKey> SshPublicKey::parse(std::string_view text) {
    const std::size_t space = text.find(' ');
    const std::string_view type = text.substr(0, space);
    if (type != kEd25519 && type != kEcdsa) {
        return invalid("expected a key of type ssh-ed25519 or ecdsa-sha2-nistp256");
    }
    std::string_view base64 = space == std::string_view::npos ? "" : text.substr(space + 1);
    base64 = base64.substr(0, base64.find(' '));
    std::optional<std::string> blob = from_base64(base64);
    ERR_clear_error();
    if (!blob || !blob->starts_with(packed(type)) || key_of(*blob) == nullptr) {
        check_memory();
        return invalid("the public key is cut or damaged");
    }
    return SshPublicKey(std::string(type) + " " + std::string(base64), std::move(*blob));
}

std::string ssh_fingerprint(std::string_view blob) {
    const Digest256 digest = sha256(blob);
    std::string text = to_base64(view_of(digest));
    text.resize(text.find('='));
    return "SHA256:" + text;
}

std::string SshPublicKey::fingerprint() const {
    return ssh_fingerprint(blob_);
}

Result<std::string> ssh_signer(std::string_view armored) {
    const std::optional<std::string> bytes = unarmored(armored);
    const std::optional<Signature> signature = bytes ? parse(*bytes) : std::nullopt;
    return signature ? Result<std::string>(std::string(signature->key))
                     : Result<std::string>(cut());
}

Status verify_ssh_signature(std::string_view armored, std::string_view name_space,
                            std::string_view message, const SshPublicKey& key) {
    const std::optional<std::string> stored = unarmored(armored);
    const std::optional<Signature> signature = stored ? parse(*stored) : std::nullopt;
    if (!signature) {
        return cut();
    }
    if (signature->key != key.blob()) {
        return invalid("the signature is by another key, " + ssh_fingerprint(signature->key) +
                       "; expected " + key.fingerprint());
    }
    if (signature->name_space != name_space) {
        return invalid("the signature is for the namespace \"" +
                       std::string(signature->name_space) + "\"; sign with -n " +
                       std::string(name_space));
    }
    const std::string bytes = signed_bytes(*signature, message);
    ERR_clear_error();
    const Key public_key = key_of(key.blob());
    if (bytes.empty() || public_key == nullptr) {
        check_memory();
        return cut();
    }
    if (!is_right(*signature, bytes, public_key.get())) {
        check_memory();
        return invalid("the signature is not for this statement");
    }
    return {};
}

}  // namespace sluice
