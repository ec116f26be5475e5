// Command: a body is refused with a reason, or read, written and read again as the same.
#include <string>

#include "check.hpp"
#include "core/commands/commands.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view body = sluice::fuzz::text_of(data, size);
    const auto topic = static_cast<sluice::Topic>(32 + sluice::fuzz::take_choice(body) % 8);
    const sluice::Result<sluice::Command> command = sluice::decode_command(topic, body);
    if (!command) {
        FUZZ_CHECK(!command.error().message.empty());
        return 0;
    }
    FUZZ_CHECK(sluice::topic_of(*command) == topic);
    const std::string written = sluice::encode_command(*command);
    const sluice::Result<sluice::Command> again = sluice::decode_command(topic, written);
    FUZZ_CHECK(again.ok() && sluice::encode_command(*again) == written);
    return 0;
}
