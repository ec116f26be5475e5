#include "core/protocol/personal_ids.hpp"

namespace sluice {

Digest256 anon_digest(std::string_view anon_id) {
    return sha256(anon_id);
}

std::optional<Digest256> device_of(const RecordMeta& meta, Pseudonyms pseudonyms) {
    if (meta.anon_pseudonym && pseudonyms == Pseudonyms::kRead) {
        return meta.anon_pseudonym;
    }
    return meta.anon_id.empty() ? std::nullopt : std::optional(anon_digest(meta.anon_id));
}

Digest256 customer_id_digest(std::string_view id) {
    return sha256("id:" + std::string(id));
}

Digest256 email_digest(std::string_view email) {
    std::string folded = "email:" + std::string(email);
    for (char& c : folded) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return sha256(folded);
}

Digest256 phone_digest(std::string_view phone) {
    return sha256("phone:" + std::string(phone));
}

Digest256 pseudonym(const SigningKey& secret, const Digest256& digest) noexcept {
    return secret.sign({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string pseudonym_json(const Digest256& pseudonym) {
    return R"({"pseudonym":")" + to_hex(pseudonym) + "\"}";
}

}  // namespace sluice
