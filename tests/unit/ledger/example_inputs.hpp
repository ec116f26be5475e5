// Example inputs: what the steps of a worked example mean (tests/examples/README.md).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "unit/ledger/books.hpp"

namespace sluice::test {

/// A program file that its parser refuses.
class RefusedFile : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Names that a file has given: payouts (P1), steps and previews.
struct ExampleNames {
    std::map<std::string, std::string> payouts, commands, digests;
    /// The id behind a name; a word that is no name stays.
    [[nodiscard]] std::string full(const std::string& word) const;
};

[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* name,
                                  std::string fallback = {});
[[nodiscard]] OrderText order_of(const nlohmann::json& value);
/// The platform that sent the event of a step, or nothing.
[[nodiscard]] std::optional<SourceText> source_of(const nlohmann::json& step);
/// The clicks of a step that posts them.
[[nodiscard]] std::vector<RecordedClick> posted_clicks(const nlohmann::json& rows);
[[nodiscard]] std::vector<RecordedClick> followed_links(const nlohmann::json& rows);
/// The command of a step. Throws std::invalid_argument: there is no such step.
[[nodiscard]] Command command_of(const nlohmann::json& step, const ExampleNames& names,
                                 Timestamp now);
[[nodiscard]] PayoutClose close_of(const nlohmann::json& value, const ExampleNames& names,
                                   Timestamp now);

}  // namespace sluice::test
