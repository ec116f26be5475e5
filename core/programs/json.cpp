#include "core/programs/members.hpp"

namespace sluice {

std::string encode_program(const Program& program) {
    return encode_json(program);
}

Parsed<Program> decode_program(std::string_view json) {
    return decode_json<Program>(json);
}

std::string encode_policy(const Policy& policy) {
    return encode_json(policy);
}

Parsed<Policy> decode_policy(std::string_view json) {
    return decode_json<Policy>(json);
}

}  // namespace sluice
