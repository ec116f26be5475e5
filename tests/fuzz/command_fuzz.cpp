// Command: a body is refused with a reason, or read, written and read again as the same.
#include <string>

#include "check.hpp"
#include "core/commands/commands.hpp"

/// Topics of commands follow each other.
constexpr unsigned kCommands = std::variant_size_v<sluice::Command>;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view body = sluice::fuzz::text_of(data, size);
    const auto topic = static_cast<sluice::Topic>(32 + sluice::fuzz::take_choice(body) % kCommands);
    const sluice::Result<sluice::Request> request = sluice::decode_request(topic, body);
    if (!request) {
        FUZZ_CHECK(!request.error().message.empty());
        return 0;
    }
    FUZZ_CHECK(sluice::topic_of(request->command) == topic);
    const std::string written = sluice::encode_request(*request);
    const sluice::Result<sluice::Request> again = sluice::decode_request(topic, written);
    FUZZ_CHECK(again.ok() && sluice::encode_request(*again) == written);
    return 0;
}
