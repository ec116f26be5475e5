// sluice forget
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/subcommands.hpp"

namespace sluice::cli {
namespace {

struct ForgetCommand {
    Forget forget;
    SubmitOptions submit;
};

Status run_forget(const Frame& frame, const ForgetCommand& command) {
    return submit(frame, command.forget, command.submit);
}

}  // namespace

void declare_forget(CLI::App& app, Frame& frame) {
    CLI::App& forget = add_command(app, "forget", "Take a customer's personal data out of bodies");
    ForgetCommand& forgotten = on_run(forget, frame, run_forget);
    add_id(forget, "--shop", "S", forgotten.submit.shop.emplace(), "The shop").required();
    add_value(forget, "--customer", "ID", forgotten.forget.customer, parse_wire_id,
              "platform_customer_id; amounts and digests stay")
        .required();
    add_command_options(forget, forgotten.submit, false);
}

}  // namespace sluice::cli
