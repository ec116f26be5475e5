#include <simdjson.h>

#include <set>

#include "program/cli/cli_values.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

constexpr std::size_t kTextBytesMax = 1024;
constexpr std::size_t kDateDigits = 10, kNumberBytesMax = 64;

template <class Value>
std::string message_of(const Result<Value>& parsed) {
    return parsed.ok() ? std::string() : parsed.error().message;
}

std::string check_month_end(std::string_view text) {
    const auto at = Timestamp::parse(text);
    const bool is_month_end = at && at->nanos == 0 && at->to_string().substr(7) == "-01T00:00:00Z";
    return is_month_end ? ""
                        : "expected the first instant of a month, such as 2026-02-01T00:00:00Z";
}

std::string check_day(std::string_view text) {
    const auto at = Timestamp::parse(text);
    return at && start_of_day(*at) == *at
               ? ""
               : "expected the first instant of a UTC day, such as 2026-02-01T00:00:00Z";
}

std::string check_date(std::string_view text) {
    return Timestamp::parse(std::string(text) + "T00:00:00Z") && text.size() == kDateDigits
               ? ""
               : "expected a day such as 2026-01-31";
}

std::string check_future(std::string_view text, Timestamp now) {
    const auto at = Timestamp::parse(text);
    if (!at) {
        return "expected a time such as 2026-01-31T00:00:00Z";
    }
    return *at < now ? "expected a time that does not lie in the past; `sluice report balances "
                       "--as-of` reports the past"
                     : "";
}

std::string check_word(std::string_view text, const std::vector<std::string_view>& words) {
    return has_item(words, text) ? "" : "expected one of " + joined(words, ", ");
}

/// Returns what is wrong with the value, or an empty text. No stored text has other bytes.
std::string check_value(const Parameter& parameter, const std::string& text, Timestamp now) {
    if (!simdjson::validate_utf8(text) || text.find('\0') != std::string::npos) {
        return "expected UTF-8 without U+0000";
    }
    switch (parameter.kind) {
        case ValueKind::kId:
            return message_of(cli::parse_admin_id(text));
        case ValueKind::kLink:
            return is_link_id(text) ? "" : "expected 1 to 64 of A-Z a-z 0-9 . _ ~ -";
        case ValueKind::kWireId:
            return message_of(cli::parse_wire_id(text));
        case ValueKind::kText:
            return text.empty() || text.size() > kTextBytesMax ? "expected 1 to 1024 bytes" : "";
        case ValueKind::kTime:
            return message_of(cli::parse_time(text));
        case ValueKind::kMonth:
            return message_of(cli::parse_month(text));
        case ValueKind::kMonthEnd:
            return check_month_end(text);
        case ValueKind::kDay:
            return check_day(text);
        case ValueKind::kNumber:
            return text.empty() || text.size() > kNumberBytesMax ? "expected 1 to 64 bytes" : "";
        case ValueKind::kDate:
            return check_date(text);
        case ValueKind::kAmount:
            return Decimal::parse(text) ? "" : "expected an amount such as 49.90";
        case ValueKind::kFuture:
            return check_future(text, now);
        case ValueKind::kCurrency:
            return message_of(cli::parse_currency(text));
        case ValueKind::kFlag:
            return check_word(text, {"true", "false"});
        case ValueKind::kVersion:
            return message_of(cli::parse_count(text, 1, 0xFFFFFFFF));
        case ValueKind::kLimit:
            return message_of(cli::parse_count(text, 1, 1000));
        case ValueKind::kCursor:
            return text.empty() ? "expected a cursor" : "";
        case ValueKind::kSeconds:
            return message_of(cli::parse_count(text, 0, kWaitSecondsMax));
        case ValueKind::kMinutes:
            return message_of(cli::parse_count(text, 1, kLinkMinutesMax));
        case ValueKind::kWord:
            return check_word(text, parameter.words);
    }
    return {};
}

/// An interval that ends before it begins.
void check_interval(const Arguments& arguments, std::string_view from, std::string_view to,
                    std::vector<ParameterError>& errors) {
    const auto begin = arguments.time(from);
    const auto end = arguments.time(to);
    if (begin && end && *end < *begin) {
        errors.push_back(
            {std::string(from), "expected a time that is not after `" + std::string(to) + "`"});
    }
}

}  // namespace

std::optional<std::string> Arguments::text(std::string_view name) const {
    const std::string* const value = find_value(values_, name);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<Timestamp> Arguments::time(std::string_view name) const {
    const auto value = text(name);
    return value ? Timestamp::parse(*value) : std::nullopt;
}

std::optional<bool> Arguments::flag(std::string_view name) const {
    const auto value = text(name);
    return value ? std::optional(*value == "true") : std::nullopt;
}

std::uint64_t Arguments::number(std::string_view name, std::uint64_t otherwise) const {
    const auto value = text(name);
    return value ? cli::parse_count(*value, 0, 0xFFFFFFFF).value_or(otherwise) : otherwise;
}

std::vector<Parameter> parameters_of(const Resource& resource) {
    std::vector<Parameter> all = resource.parameters;
    if (!resource.has(kNoAccount)) {
        all.push_back({"account", ValueKind::kId,
                       "Account; required of a user who has several, a token implies its own"});
    }
    if ((resource.is_list() || resource.is_feed()) && !resource.has(kUnpaged)) {
        all.push_back({"limit", ValueKind::kLimit, "Rows of a page, 1 to 1000 (default: 100)"});
        all.push_back({"after", ValueKind::kCursor, "`next` of the page before"});
    }
    if (resource.is_cut()) {
        all.push_back({"after", ValueKind::kCursor,
                       "`next` of a list in `cut`, which the answer had no room for"});
    }
    if (resource.has(kCsv)) {
        all.push_back(
            word_parameter("format", "Format of the answer (default: json)", {"json", "csv"}));
    }
    return all;
}

Arguments check_parameters(const std::vector<Parameter>& known,
                           const std::vector<std::pair<std::string, std::string>>& given,
                           Timestamp now, std::vector<ParameterError>& errors) {
    Arguments arguments;
    std::set<std::string> seen, wrong;
    const auto fault = [&](const std::string& name, std::string message) {
        wrong.insert(name);
        errors.push_back({name, std::move(message)});
    };
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto& [name, value] = given[i];
        const Parameter* const found = find_item(known, name, &Parameter::name);
        if (found == nullptr) {  // named by its place, because it was sent
            fault("#" + std::to_string(i + 1), "this path has no such parameter");
        } else if (!seen.insert(name).second) {
            if (!wrong.contains(name)) {
                fault(name, "stated more than once");
            }
        } else if (std::string message = check_value(*found, value, now); !message.empty()) {
            fault(name, std::move(message));
        } else {
            arguments.set(name, value);
        }
    }
    for (const Parameter& parameter : known) {
        if (parameter.required && !seen.contains(std::string(parameter.name))) {
            fault(std::string(parameter.name), "required");
        }
    }
    if (arguments.has("run") && arguments.has("payout_run") &&
        !arguments.is("run", arguments.required("payout_run"))) {
        fault("payout_run", "contradicts `run`, which is the same parameter");
    }
    check_interval(arguments, "from", "to", errors);
    check_interval(arguments, "from", "until", errors);
    return arguments;
}

}  // namespace sluice::serve
