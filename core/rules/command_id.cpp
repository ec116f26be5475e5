#include "core/rules/command_id.hpp"

#include <algorithm>

#include "core/protocol/signature.hpp"

namespace sluice {
namespace {

constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

}  // namespace

std::string command_id_prefix(Timestamp received_at) {
    std::string prefix = "C";
    for (const char c : received_at.to_string().substr(2, 17)) {  // 2026-01-31T14:05:09...
        if (c >= '0' && c <= '9') {
            prefix.push_back(c);
        }
    }
    return prefix + "-";
}

std::string command_id(std::string_view node, SequenceNumber seq, Timestamp received_at) {
    std::string bytes(node);
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>(seq.value >> shift));
    }
    const Digest256 digest = sha256(bytes);
    const std::uint32_t word = std::uint32_t{digest[0]} << 24 | std::uint32_t{digest[1]} << 16 |
                               std::uint32_t{digest[2]} << 8 | digest[3];
    std::string id = command_id_prefix(received_at);
    for (int shift = 27; shift >= 2; shift -= 5) {
        id.push_back(kCrockford[word >> shift & 31]);
    }
    return id;
}

}  // namespace sluice
