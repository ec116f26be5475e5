#include "core/commands/seal.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

std::uint32_t id_of(const Digest256& key) {
    constexpr std::string_view kPrefix = "sluice command key";
    std::array<char, kPrefix.size() + std::tuple_size_v<Digest256>> text;
    std::ranges::copy(key, std::copy(kPrefix.begin(), kPrefix.end(), text.begin()));
    const Digest256 digest = sha256({text.data(), text.size()});
    OPENSSL_cleanse(text.data(), text.size());
    std::uint32_t id = 0;
    std::memcpy(&id, digest.data(), sizeof(id));
    return id;
}

/// Collects the sealed bytes, in little endian; docs/record-format.md has the list.
class SealedBytes {
public:
    template <class Number>
    SealedBytes& number(Number value) {
        for (std::size_t i = 0; i < sizeof(value); ++i) {
            bytes_.push_back(static_cast<char>(value >> (8 * i)));
        }
        return *this;
    }
    SealedBytes& text(std::string_view text) {
        number(static_cast<std::uint32_t>(text.size()));
        bytes_.append(text);
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

private:
    std::string bytes_ = "SLS2";
};

Digest256 mac_of(const Digest256& key, const RecordMeta& meta, const Digest256& body_sha256,
                 std::string_view queue_uuid, SequenceNumber seq) {
    SealedBytes sealed;
    sealed.text(queue_uuid).number(seq.value).number(id_of(key));
    sealed.number(static_cast<std::uint8_t>(meta.topic));
    sealed.number(meta.account_number.value).number(meta.shop_number.value);
    sealed.text(meta.account_id).text(meta.shop_id);
    sealed.number(static_cast<std::uint64_t>(meta.received_at.seconds));
    sealed.number(meta.received_at.nanos).text(meta.actor).text(view_of(body_sha256));
    return SigningKey(view_of(key)).sign(sealed.bytes());
}

/// No command's bytes begin like those of a text.
Digest256 mac_of_text(const Digest256& key, std::string_view text) {
    return SigningKey(view_of(key)).sign("SLT1" + std::string(text));
}

}  // namespace

CommandKeys::~CommandKeys() {
    for (Key& key : keys_) {
        OPENSSL_cleanse(key.bytes.data(), key.bytes.size());
    }
}

Parsed<CommandKeys> CommandKeys::parse(std::string_view text) {
    constexpr std::size_t kHexDigits = 64;
    CommandKeys keys;
    keys.keys_.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        const auto bytes = parse_hex_digest(line.substr(0, kHexDigits), HexCase::kEither);
        if (!bytes) {
            return std::nullopt;
        }
        Key key{id_of(*bytes), *bytes, std::nullopt};
        if (line.size() > kHexDigits) {
            std::uint64_t last = 0;
            const char* const to = line.data() + line.size();
            const auto [at, error] = std::from_chars(line.data() + kHexDigits + 1, to, last);
            if (line[kHexDigits] != ' ' || error != std::errc() || at != to) {
                return std::nullopt;
            }
            key.last = SequenceNumber{last};
        }
        keys.keys_.push_back(key);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return keys.keys_.empty() ? std::nullopt : std::optional(std::move(keys));
}

std::string CommandKeys::to_text() const {
    constexpr std::size_t kLineBytesMax = 96;
    std::string text;
    text.reserve(keys_.size() * kLineBytesMax);  // no copy is left behind
    for (const Key& key : keys_) {
        std::string digits = to_hex(key.bytes);
        text.append(digits).append(key.last ? " " + std::to_string(key.last->value) : "");
        text.push_back('\n');
        OPENSSL_cleanse(digits.data(), digits.size());
    }
    return text;
}

void CommandKeys::rotate(const Digest256& key, SequenceNumber last) {
    CommandKeys next;
    next.keys_.reserve(keys_.size() + 1);
    next.keys_.push_back({id_of(key), key, std::nullopt});
    next.keys_.insert(next.keys_.end(), keys_.begin(), keys_.end());
    if (!keys_.empty()) {
        next.keys_[1].last = last;
    }
    keys_.swap(next.keys_);
}

void CommandKeys::append(const CommandKeys& others) {
    CommandKeys all;
    all.keys_.reserve(keys_.size() + others.keys_.size());
    for (const CommandKeys* from : {static_cast<const CommandKeys*>(this), &others}) {
        all.keys_.insert(all.keys_.end(), from->keys_.begin(), from->keys_.end());
    }
    keys_.swap(all.keys_);
}

CommandSeal CommandKeys::seal(const RecordMeta& meta, const Digest256& body_sha256,
                              std::string_view queue_uuid, SequenceNumber seq) const {
    const Key& key = keys_.front();
    return {key.id, mac_of(key.bytes, meta, body_sha256, queue_uuid, seq)};
}

CommandKeys::Verdict CommandKeys::verify(const RecordMeta& meta, const Digest256& body_sha256,
                                         std::string_view queue_uuid, SequenceNumber seq) const {
    if (!meta.seal) {
        return Verdict::kMissing;
    }
    const auto key =
        std::ranges::find_if(keys_, [&](const Key& other) { return other.id == meta.seal->key; });
    if (key == keys_.end()) {
        return Verdict::kUnknownKey;
    }
    if (!equal_constant_time(mac_of(key->bytes, meta, body_sha256, queue_uuid, seq),
                             meta.seal->mac)) {
        return Verdict::kWrong;
    }
    return key->last && seq > *key->last ? Verdict::kRetired : Verdict::kValid;
}

CommandSeal CommandKeys::seal_text(std::string_view text) const {
    const Key& key = keys_.front();
    return {key.id, mac_of_text(key.bytes, text)};
}

bool CommandKeys::verify_text(std::string_view text, const CommandSeal& seal) const {
    return std::ranges::any_of(keys_, [&](const Key& key) {
        return key.id == seal.key && !key.last &&
               equal_constant_time(mac_of_text(key.bytes, text), seal.mac);
    });
}

std::string seal_fault(CommandKeys::Verdict verdict) {
    const std::string words(kNotSealed);
    switch (verdict) {
        case CommandKeys::Verdict::kMissing:
            return words + ": the command has no seal; it was not written by sluice";
        case CommandKeys::Verdict::kUnknownKey:
            return words + ": the command was sealed with a key that this store never had";
        case CommandKeys::Verdict::kRetired:
            return words + ": the command was sealed with a key that had been replaced by then";
        default:
            return words + ": the seal is not that of this command at this place of this queue";
    }
}

}  // namespace sluice
