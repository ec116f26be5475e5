// Program file: refused by file and line, or programs that travel through the queue unchanged.
#include <string>

#include "check.hpp"
#include "core/commands/commands.hpp"
#include "tool/setup/program_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const auto filed = cli::parse_program_file("file", fuzz::text_of(data, size));
    if (!filed) {
        FUZZ_CHECK(filed.error().code == ErrorCode::kInvalid);
        FUZZ_CHECK(filed.error().message.starts_with("file"));
        return 0;
    }
    FUZZ_CHECK(!filed->programs.empty() || !filed->policies.empty());
    ProgramApply apply;
    for (const cli::FiledPolicy& one : filed->policies) {
        FUZZ_CHECK(one.account_line >= 1);
        apply.policies.push_back(one.policy);
        apply.policies.back().account = {1};
    }
    for (const cli::FiledProgram& one : filed->programs) {
        FUZZ_CHECK(!one.rates.empty());
        FUZZ_CHECK(one.shop_lines.size() == one.program.shops.size());
        FUZZ_CHECK(one.program.window_days <= kProgramDaysMax);
        FUZZ_CHECK(!one.program.precedence.empty());
        apply.programs.push_back(one.program);
        apply.programs.back().account = {1};
    }
    const auto again = decode_request(Topic::kProgramApply, encode_request({{}, {}, apply}));
    FUZZ_CHECK(again.ok());
    FUZZ_CHECK(std::get<ProgramApply>(again->command).programs == apply.programs);
    FUZZ_CHECK(std::get<ProgramApply>(again->command).policies == apply.policies);
    return 0;
}
