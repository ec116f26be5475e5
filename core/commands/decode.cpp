#include <simdjson.h>

#include <limits>
#include <utility>

#include "core/commands/commands.hpp"

namespace sluice {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

/// Thrown and caught within decode_command(): a body has many fields and one way to be wrong.
struct Malformed {};

template <class Value>
Value require(std::optional<Value> value) {
    if (!value) {
        throw Malformed{};
    }
    return *std::move(value);
}

template <class Value>
Value require(Result<Value> value) {
    if (!value) {
        throw Malformed{};
    }
    return std::move(value).value();
}

std::string_view text_of(const element& value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return text;
}

std::uint64_t number_of(const element& value) {
    std::uint64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return number;
}

std::uint32_t number32_of(const element& value) {
    const std::uint64_t number = number_of(value);
    if (number > std::numeric_limits<std::uint32_t>::max()) {
        throw Malformed{};
    }
    return static_cast<std::uint32_t>(number);
}

element field(const element& object, std::string_view name) {
    element value;
    if (object[name].get(value) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return value;
}

array array_field(const element& object, std::string_view name) {
    array values;
    if (field(object, name).get(values) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return values;
}

/// A row of an import, as an array of exactly `count` values.
class RowReader {
public:
    RowReader(const element& row, std::size_t count) {
        array values;
        if (row.get(values) != simdjson::SUCCESS || values.size() != count) {
            throw Malformed{};
        }
        at_ = values.begin();
    }
    element next() {
        element value = *at_;
        ++at_;
        return value;
    }

private:
    array::iterator at_;
};

Rule decode_rule(const element& value) {
    Rule rule;
    rule.match = require(parse_rule_match(text_of(field(value, "match"))));
    rule.value = text_of(field(value, "value"));
    rule.rate = require(parse_rate(text_of(field(value, "rate"))));
    return rule;
}

Program decode_program(const element& value) {
    Program program;
    program.id = ProgramId(text_of(field(value, "id")));
    program.account_id = AccountId(text_of(field(value, "account")));
    program.account.value = number32_of(field(value, "account_number"));
    for (const element shop : array_field(value, "shops")) {
        program.shops.emplace_back(text_of(shop));
    }
    program.window_days = number32_of(field(value, "window_days"));
    program.base = require(parse_base_kind(text_of(field(value, "base"))));
    program.precedence.clear();
    for (const element type : array_field(value, "precedence")) {
        program.precedence.push_back(require(parse_attribution_type(text_of(type))));
    }
    program.hold_days = number32_of(field(value, "hold_days"));
    program.default_rate = require(parse_rate(text_of(field(value, "default_rate"))));
    for (const element rule : array_field(value, "rules")) {
        program.rules.push_back(decode_rule(rule));
    }
    if (!validate(program) || program.account.value == 0) {
        throw Malformed{};
    }
    return program;
}

ProgramApply decode_program_apply(const element& body) {
    ProgramApply command;
    for (const element program : array_field(body, "programs")) {
        command.programs.push_back(decode_program(program));
    }
    return command;
}

CreatorImport decode_creator_import(const element& body) {
    constexpr std::size_t kColumns = 4;
    CreatorImport command;
    for (const element value : array_field(body, "rows")) {
        RowReader reader(value, kColumns);
        CreatorImport::Row row;
        row.line = number32_of(reader.next());
        row.creator = CreatorId(text_of(reader.next()));
        row.program = ProgramId(text_of(reader.next()));
        row.code = text_of(reader.next());
        command.rows.push_back(std::move(row));
    }
    return command;
}

CreatorRemove decode_creator_remove(const element& body) {
    CreatorRemove command;
    command.creator = CreatorId(text_of(field(body, "creator")));
    command.program = ProgramId(text_of(field(body, "program")));
    element code;
    if (body["code"].get(code) == simdjson::SUCCESS) {
        command.code = std::string(text_of(code));
    }
    return command;
}

TouchImport decode_touch_import(const element& body) {
    constexpr std::size_t kColumns = 5;
    TouchImport command;
    for (const element value : array_field(body, "rows")) {
        RowReader reader(value, kColumns);
        TouchImport::Row row;
        row.line = number32_of(reader.next());
        row.anon = AnonId(text_of(reader.next()));
        row.creator = CreatorId(text_of(reader.next()));
        row.program = ProgramId(text_of(reader.next()));
        row.occurred_at = require(Timestamp::parse(text_of(reader.next())));
        if (row.anon.empty()) {
            throw Malformed{};
        }
        command.rows.push_back(std::move(row));
    }
    return command;
}

PayoutClose decode_payout_close(const element& body) {
    return {ProgramId(text_of(field(body, "program"))),
            require(Timestamp::parse(text_of(field(body, "until"))))};
}

Adjust decode_adjust(const element& body) {
    Adjust command;
    command.order = OrderId(text_of(field(body, "order")));
    command.amount = require(Decimal::parse_signed(text_of(field(body, "amount"))));
    command.reason = text_of(field(body, "reason"));
    return command;
}

DeadReplay decode_dead_replay(const element& body) {
    DeadReplay command;
    for (const element seq : array_field(body, "seqs")) {
        command.seqs.push_back({number_of(seq)});
    }
    return command;
}

Command decode_body(Topic topic, const element& body) {
    switch (topic) {
        case Topic::kProgramApply:
            return decode_program_apply(body);
        case Topic::kCreatorImport:
            return decode_creator_import(body);
        case Topic::kCreatorRemove:
            return decode_creator_remove(body);
        case Topic::kTouchImport:
            return decode_touch_import(body);
        case Topic::kPayoutClose:
            return decode_payout_close(body);
        case Topic::kAdjust:
            return decode_adjust(body);
        case Topic::kDeadReplay:
            return decode_dead_replay(body);
        case Topic::kForget:
            return Forget{std::string(text_of(field(body, "customer")))};
        default:
            throw Malformed{};
    }
}

}  // namespace

Result<Command> decode_command(Topic topic, std::string_view body) {
    const Error malformed{ErrorCode::kInvalid,
                          "the body of the command is not what this program writes"};
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) {
        return malformed;
    }
    try {
        return decode_body(topic, root);
    } catch (const Malformed&) {
        return malformed;
    }
}

}  // namespace sluice
