// Bank file: refused by file and line, or lines that lie in the file, with amounts in minor units.
#include <algorithm>
#include <string>

#include "check.hpp"
#include "tool/bank/bank_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string text(fuzz::text_of(data, size));
    const auto file = cli::parse_bank_file("file", text);
    if (!file) {
        FUZZ_CHECK(file.error().code == ErrorCode::kInvalid);
        FUZZ_CHECK(file.error().message.starts_with("file:"));
        return 0;
    }
    const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    for (const cli::BankLine& line : file->lines) {
        FUZZ_CHECK(line.line >= 1 && line.line <= lines);
        FUZZ_CHECK(!line.amount ||
                   line.amount->amount.scale() == line.amount->currency.minor_units());
        const bool is_final =
            line.event != cli::BankEvent::kPending && line.event != cli::BankEvent::kUnclear;
        FUZZ_CHECK(is_final == line.note.empty());
    }
    return 0;
}
