// Commands that set things up: programs, creators, touches, names; and forgetting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/commands/policy.hpp"
#include "core/commands/program.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// All or nothing. The numbers of the accounts are looked up by the program that writes the
/// command.
struct ProgramApply {
    std::vector<Program> programs{};
    std::vector<Policy> policies{};
    std::optional<Timestamp> reach{};  ///< In place of receipt - late_days (A2).
};

/// All or nothing. `line` is the row's line in the file, for messages (the header is line 1).
struct CreatorImport {
    struct Row {
        std::uint32_t line = 0;
        CreatorId creator;
        ProgramId program;
        std::string code{};                  ///< May be empty: the creator joins without a code.
        std::optional<std::string> group{};  ///< Nothing: stays as it is. Empty: none.
        std::optional<Timestamp> valid_from{}, valid_until{};
        std::optional<std::string> name{}, payee{};  ///< Nothing: stays as it is.
    };
    std::vector<Row> rows;
    std::optional<Timestamp> reach{};
    /// Of a release without dates: codes without limits, and no bound on what touches reach.
    bool without_dates = false;
};

/// With a code: takes this code away. Without: the creator leaves, with all codes.
struct CreatorRemove {
    CreatorId creator;
    ProgramId program;
    std::optional<std::string> code;
    std::optional<Timestamp> at{};  ///< With a code: its valid_until; nothing: receipt.
};

/// All or nothing.
struct TouchImport {
    struct Row {
        std::uint32_t line = 0;
        AnonId anon;  ///< Empty only with a pseudonym.
        CreatorId creator;
        ProgramId program;
        Timestamp occurred_at;
        std::optional<Digest256> pseudonym{};  ///< In place of anon, in an edited import.
    };
    std::vector<Row> rows;
    std::optional<Timestamp> reach{};
    bool without_reach = false;  ///< Of a release without the bound.
};

/// Of the account in the record's metadata. Nothing: stays as it is.
struct CreatorSet {
    CreatorId creator;
    std::optional<std::string> name, payee;
    std::optional<ProgramId> program;  ///< Of the group.
    std::optional<std::string> group;
};

struct CreatorRename {
    CreatorId creator;
    CreatorId new_name;  ///< Never used before in the account.
};

/// Applies dead letters again, each as the input that it was. Empty: all of them.
struct DeadReplay {
    std::vector<SequenceNumber> seqs;
};

/// How a person is named who is to be forgotten (F1).
enum class ForgetBy : std::uint8_t {
    kCustomer = 1,  ///< platform_customer_id
    kEmail = 2,
    kPhone = 3,
    kOrder = 4,
    kDevice = 5,
    kCreator = 6,  ///< Name and payee of a creator of the account.
};
[[nodiscard]] std::string_view to_string(ForgetBy by) noexcept;  // customer, email, ...
[[nodiscard]] std::optional<ForgetBy> parse_forget_by(std::string_view text) noexcept;

/// Personal data out of what is stored. The shop (kCreator: the account) is in the record's
/// metadata.
struct Forget {
    /// Its outcome: all that an archive keeps of one.
    struct Done {
        bool refused = false;
        std::string result;
    };

    ForgetBy by = ForgetBy::kCustomer;
    std::string value{};                ///< The id. Once done: empty, but for a creator.
    std::optional<Digest256> secret{};  ///< R, drawn by who wrote the command. Once done: nothing.
    std::optional<Done> done{};
};

}  // namespace sluice
