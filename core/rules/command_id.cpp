#include "core/rules/command_id.hpp"

#include "core/protocol/signature.hpp"
#include "core/values/base32.hpp"

namespace sluice {

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
    return command_id_prefix(received_at) + base32_of_30_bits(sha256(bytes));
}

}  // namespace sluice
