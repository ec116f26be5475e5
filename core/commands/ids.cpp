#include "core/commands/ids.hpp"

#include <algorithm>

#include "core/protocol/receipt.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

/// At least 4 digits.
std::string digits_of(std::uint64_t number) {
    constexpr std::size_t kDigitsMin = 4;
    std::string digits = std::to_string(number);
    return digits.insert(0, kDigitsMin - std::min(kDigitsMin, digits.size()), '0');
}

}  // namespace

std::string command_id_prefix(Timestamp received_at) {
    std::string prefix = "C";
    for (const char c : received_at.to_string().substr(2, 17)) {  // 2026-01-31T14:05:09...
        if (is_ascii_digit(c)) {
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

Timestamp second_of(std::string_view command_id) {
    constexpr std::size_t kDigits = 12;  // YYMMDDhhmmss
    if (command_id.size() <= kDigits) {
        return kFirstInstant;
    }
    std::string text = "20";
    for (std::size_t i = 0; i < kDigits; i += 2) {
        constexpr std::string_view kAfter = "--T::Z";
        text += command_id.substr(1 + i, 2);
        text += kAfter[i / 2];
    }
    return Timestamp::parse(text).value_or(kFirstInstant);
}

std::string payout_id_prefix(std::string_view run) {
    return "P" + std::string(run.substr(1)) + "-";
}

std::string payout_id(std::string_view run, std::uint64_t number) {
    return payout_id_prefix(run) + digits_of(number);
}

std::string posting_id(std::string_view command, std::uint64_t number) {
    return std::string(command) + "-" + digits_of(number);
}

std::string command_of(std::string_view posting_id) {
    const std::size_t dash = posting_id.find('-');
    const std::size_t second =
        dash == std::string_view::npos ? dash : posting_id.find('-', dash + 1);
    return std::string(posting_id.substr(0, second));
}

std::string payout_run_of(std::string_view payout_id) {
    return "C" + std::string(payout_id.substr(1, payout_id.rfind('-') - 1));
}

bool is_of_payout_run(std::string_view payout_id, std::string_view run) noexcept {
    return !run.empty() && payout_id.size() > run.size() &&
           payout_id.substr(1, run.size() - 1) == run.substr(1) && payout_id[run.size()] == '-';
}

}  // namespace sluice
