#include "core/commands/commands.hpp"

#include <array>

#include "core/json/writer.hpp"

namespace sluice {
namespace {

/// In the order of the variant's alternatives.
constexpr std::array kTopics{Topic::kProgramApply, Topic::kCreatorImport, Topic::kCreatorRemove,
                             Topic::kTouchImport,  Topic::kPayoutClose,   Topic::kAdjust,
                             Topic::kDeadReplay,   Topic::kForget};
static_assert(kTopics.size() == std::variant_size_v<Command>);

class Encoder {
public:
    void operator()(const ProgramApply& command) {
        writer_.key("programs").begin_array();
        for (const Program& program : command.programs) {
            write(program);
        }
        writer_.end_array();
    }

    /// Rows are arrays: an import may have a million.
    void operator()(const CreatorImport& command) {
        writer_.key("rows").begin_array();
        for (const CreatorImport::Row& row : command.rows) {
            writer_.begin_array().value(row.line).value(row.creator.view());
            writer_.value(row.program.view()).value(row.code).end_array();
        }
        writer_.end_array();
    }

    void operator()(const CreatorRemove& command) {
        text("creator", command.creator.view());
        text("program", command.program.view());
        if (command.code) {
            text("code", *command.code);
        }
    }

    void operator()(const TouchImport& command) {
        writer_.key("rows").begin_array();
        for (const TouchImport::Row& row : command.rows) {
            writer_.begin_array().value(row.line).value(row.anon.view());
            writer_.value(row.creator.view()).value(row.program.view());
            writer_.value(row.occurred_at.to_string()).end_array();
        }
        writer_.end_array();
    }

    void operator()(const PayoutClose& command) {
        text("program", command.program.view());
        text("until", command.until.to_string());
    }

    void operator()(const Adjust& command) {
        text("order", command.order.view());
        text("amount", command.amount.to_string());
        text("reason", command.reason);
    }

    void operator()(const DeadReplay& command) {
        writer_.key("seqs").begin_array();
        for (const SequenceNumber seq : command.seqs) {
            writer_.value(seq.value);
        }
        writer_.end_array();
    }

    void operator()(const Forget& command) { text("customer", command.customer); }

    std::string encode(const Command& command) && {
        writer_.begin_object();
        std::visit(*this, command);
        writer_.end_object();
        return std::move(json_);
    }

private:
    void text(std::string_view name, std::string_view value) { writer_.key(name).value(value); }

    void write(const Program& program) {
        writer_.begin_object();
        text("id", program.id.view());
        text("account", program.account_id.view());
        writer_.key("account_number").value(program.account.value);
        writer_.key("shops").begin_array();
        for (const std::string& shop : program.shops) {
            writer_.value(shop);
        }
        writer_.end_array();
        writer_.key("window_days").value(program.window_days);
        text("base", to_string(program.base));
        writer_.key("precedence").begin_array();
        for (const AttributionType type : program.precedence) {
            writer_.value(to_string(type));
        }
        writer_.end_array();
        writer_.key("hold_days").value(program.hold_days);
        text("default_rate", to_string(program.default_rate));
        write(program.rules);
        writer_.end_object();
    }

    void write(const std::vector<Rule>& rules) {
        writer_.key("rules").begin_array();
        for (const Rule& rule : rules) {
            writer_.begin_object();
            text("match", to_string(rule.match));
            text("value", rule.value);
            text("rate", to_string(rule.rate));
            writer_.end_object();
        }
        writer_.end_array();
    }

    std::string json_;
    JsonWriter writer_{json_};
};

}  // namespace

Topic topic_of(const Command& command) noexcept {
    return kTopics[command.index()];
}

std::string encode_command(const Command& command) {
    return Encoder().encode(command);
}

}  // namespace sluice
