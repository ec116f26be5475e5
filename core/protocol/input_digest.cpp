#include "core/protocol/input_digest.hpp"

#include <array>
#include <cstring>

namespace sluice {
Digest256 input_digest(std::string_view bytes, const RecordView* record,
                       const Digest256& body_sha256, std::string& scratch) {
    constexpr char kWhole = 0;
    constexpr char kBodyReplaced = 1;
    if (record == nullptr || record->body.empty()) {
        scratch.assign(1, kWhole).append(bytes);
        return sha256(scratch);
    }
    const auto before = static_cast<std::size_t>(record->body.data() - bytes.data());
    scratch.assign(1, kBodyReplaced).append(bytes.substr(0, before));
    scratch.append(view_of(body_sha256)).append(bytes.substr(before + record->body.size()));
    return sha256(scratch);
}

Digest256 input_digest(std::string_view bytes) {
    std::string scratch;
    const Result<RecordView> record = decode_record(bytes);
    return record ? input_digest(bytes, &*record, sha256(record->body), scratch)
                  : input_digest(bytes, nullptr, {}, scratch);
}

Digest256 chain_after(const Digest256& chain, SequenceNumber seq, const Digest256& input) {
    std::array<char, 2 * sizeof(Digest256) + sizeof(seq.value)> link;
    std::memcpy(link.data(), chain.data(), chain.size());
    std::memcpy(link.data() + chain.size(), input.data(), input.size());
    std::memcpy(link.data() + chain.size() + input.size(), &seq.value, sizeof(seq.value));
    return sha256({link.data(), link.size()});
}

}  // namespace sluice
