#include "core/orders/reply.hpp"

#include "core/commands/commands.hpp"

namespace sluice {

Status check_reason(const CommandContext& context) {
    if (context.reason().empty() || context.reason().size() > kReasonBytesMax) {
        return invalid("--reason has to be 1 to 1000 bytes long");
    }
    return {};
}

std::string counted(std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace sluice
