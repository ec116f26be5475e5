#include "core/commands/ids.hpp"

#include <algorithm>

#include "core/protocol/receipt.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTimeDigits = 12;  // YYMMDDhhmmss
constexpr std::size_t kDigitsMin = 4;
static_assert(kPayoutIdBytesMin == kPayoutIdPrefixBytes + kDigitsMin);

/// At least kDigitsMin digits.
std::string digits_of(std::uint64_t number) {
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
    if (command_id.size() <= kTimeDigits) {
        return kFirstInstant;
    }
    std::string text = "20";
    for (std::size_t i = 0; i < kTimeDigits; i += 2) {
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

bool looks_like_payout_id(std::string_view text) noexcept {
    constexpr std::size_t kBytesMax = 35;  // of an end-to-end id
    constexpr std::size_t kTimeEnd = 1 + kTimeDigits;
    return text.size() > kPayoutIdPrefixBytes && text.size() <= kBytesMax && text.front() == 'P' &&
           text.find_first_not_of("0123456789", 1) == kTimeEnd && text[kTimeEnd] == '-' &&
           is_admin_id(text);
}

std::string short_payout_id(std::string_view payout_id) {
    const std::size_t number = payout_id.rfind('-');
    const std::size_t run =
        number == std::string_view::npos ? number : payout_id.rfind('-', number - 1);
    return run == std::string_view::npos
               ? std::string(payout_id)
               : std::string(payout_id.substr(number + 1)) +
                     std::string(payout_id.substr(run + 1, number - run - 1));
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
