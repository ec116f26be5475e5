// Commands of people: everything that changes the ledger and is neither an order nor a product.
//
// A command travels through the queue like an event: its topic names it, its body is the JSON that
// encode() writes, its actor (who ran it) is in the record's metadata. Decoding is strict: these
// bodies are written by this program only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/commands/program.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// All or nothing. The command line looks the accounts' numbers up before it writes the command.
struct ProgramApply {
    std::vector<Program> programs;
};

/// All or nothing. `line` is the row's line in the file, for messages (the header is line 1).
struct CreatorImport {
    struct Row {
        std::uint32_t line = 0;
        CreatorId creator;
        ProgramId program;
        std::string code;  ///< May be empty: the creator joins without a code.
    };
    std::vector<Row> rows;
};

/// With a code: takes this code away. Without: the creator leaves, with all codes.
struct CreatorRemove {
    CreatorId creator;
    ProgramId program;
    std::optional<std::string> code;
};

/// All or nothing.
struct TouchImport {
    struct Row {
        std::uint32_t line = 0;
        AnonId anon;  ///< Not empty.
        CreatorId creator;
        ProgramId program;
        Timestamp occurred_at;
    };
    std::vector<Row> rows;
};

struct PayoutClose {
    ProgramId program;
    Timestamp until;  ///< Not after the command's time of receipt.
};

/// The shop and its account are in the record's metadata.
struct Adjust {
    OrderId order;
    Decimal amount;      ///< Signed, not 0, no more digits than the order's currency has.
    std::string reason;  ///< Not empty.
};

/// Applies dead letters again, each as the input that it was. Empty: all of them.
struct DeadReplay {
    std::vector<SequenceNumber> seqs;
};

/// Personal data of a customer out of stored bodies. The shop is in the record's metadata.
struct Forget {
    std::string customer;  ///< platform_customer_id
};

using Command = std::variant<ProgramApply, CreatorImport, CreatorRemove, TouchImport, PayoutClose,
                             Adjust, DeadReplay, Forget>;

[[nodiscard]] Topic topic_of(const Command& command) noexcept;
/// JSON, one line.
[[nodiscard]] std::string encode_command(const Command& command);
/// kInvalid: not a body that encode_command() wrote for this topic. Requires: is_command(topic).
[[nodiscard]] Result<Command> decode_command(Topic topic, std::string_view body);

}  // namespace sluice
