// sluice tax AMOUNT RATE
#include "core/protocol/tax.hpp"

#include "worker/cli/cli_values.hpp"
#include "worker/cli/subcommands.hpp"

namespace sluice::cli {
namespace {

struct TaxCommand {
    Decimal amount;
    Decimal rate;
};

Result<Decimal> parse_decimal(std::string_view text) {
    const auto decimal = Decimal::parse(text);
    if (!decimal) {
        return Error{ErrorCode::kInvalid, "expected a decimal such as 120.00 or 0.2"};
    }
    return *decimal;
}

Status run_tax(const Frame& /*frame*/, const TaxCommand& command) {
    std::printf("%s\n", tax_within(command.amount, command.rate).to_string().c_str());
    return Status::success();
}

}  // namespace

void declare_tax(Subcommand app) {
    auto [tax, command] =
        add_command(app, "tax", "The tax inside a gross amount, rounded half to even", run_tax);
    add_value(tax, "AMOUNT", "AMOUNT", command.amount, parse_decimal, "The gross amount")
        .required();
    add_value(tax, "RATE", "RATE", command.rate, parse_decimal, "0.2 is 20 percent").required();
}

}  // namespace sluice::cli
