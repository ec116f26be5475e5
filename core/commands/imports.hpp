// Commands that set things up: programs, creators, clicks, names; and forgetting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/programs/policy.hpp"
#include "core/programs/program.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/name_table.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// All or nothing. The writer of the command looks up the numbers of the accounts.
struct ProgramApply {
    std::vector<Program> programs{};
    std::vector<Policy> policies{};
    std::optional<Timestamp> effective_from{};  ///< Replaces receipt - late_days (A2).
};

/// All or nothing. `line` is the row's line in the file, for messages (the header is line 1).
struct CreatorImport {
    struct Row {
        std::uint32_t line = 0;
        CreatorId creator;
        ProgramId program;
        std::string code{};                  ///< Empty if the creator joins without a code.
        std::optional<std::string> group{};  ///< nullopt leaves it as it is; empty means none.
        std::optional<Timestamp> valid_from{}, valid_until{};
        std::optional<std::string> name{}, payee{};  ///< nullopt leaves them as they are.
    };
    std::vector<Row> rows;
    std::optional<Timestamp> effective_from{};
};

/// Removes a code; without a code, removes the creator with all codes.
struct CreatorRemove {
    CreatorId creator;
    ProgramId program;
    std::optional<std::string> code;
    std::optional<Timestamp> at{};  ///< The codes' valid_until; default: receipt.
};

/// All or nothing.
struct ClickImport {
    struct Row {
        std::uint32_t line = 0;
        Digest256 device{};  ///< As in RecordedClick.
        CreatorId creator;
        ProgramId program;
        Timestamp occurred_at;
    };
    std::vector<Row> rows;
    std::optional<Timestamp> effective_from{};
};

/// A change of links (LK1).
enum class LinkVerb : std::uint8_t {
    kCreate = 1,  ///< Also of many, from a file.
    kSet = 2,
    kStop = 3,
    kStart = 4,
    kRemove = 5,
};
template <>
inline constexpr NameTable<LinkVerb, 5> kNamesOf<LinkVerb>{{
    {LinkVerb::kCreate, "create"},
    {LinkVerb::kSet, "set"},
    {LinkVerb::kStop, "stop"},
    {LinkVerb::kStart, "start"},
    {LinkVerb::kRemove, "remove"},
}};

/// Changes links of the account in the record's metadata, all or none.
struct LinkSet {
    struct Row {
        std::uint32_t line = 0;  ///< In the file; 0 if there is none.
        LinkId link;
        // kCreate: the rest is set. kSet: nullopt leaves it as it is.
        std::optional<ProgramId> program{};
        std::optional<CreatorId> creator{};
        std::optional<std::string> destination{};
        std::optional<bool> deep{};
    };
    LinkVerb verb = LinkVerb::kCreate;
    std::vector<Row> rows;  ///< One, unless links are created.
};

/// Changes a creator of the account in the record's metadata; nullopt leaves a field as it is.
struct CreatorSet {
    CreatorId creator;
    std::optional<std::string> name, payee;
    std::optional<ProgramId> program;  ///< Program of the group.
    std::optional<std::string> group;
};

struct CreatorRename {
    CreatorId creator;
    CreatorId new_name;  ///< Never used before in the account.
};

/// Applies dead letters again, each as the input that it was. An empty list means all.
struct DeadReplay {
    std::vector<SequenceNumber> seqs;
};

/// Gives dead letters up for good, all or none.
struct DeadDiscard {
    std::vector<SequenceNumber> seqs;
};

/// The id that names the person to forget (F1).
enum class ForgetBy : std::uint8_t {
    kCustomer = 1,  ///< platform_customer_id
    kEmail = 2,
    kPhone = 3,
    kOrder = 4,
    kDevice = 5,
    kCreator = 6,  ///< Name and payee of a creator of the account.
};
template <>
inline constexpr NameTable<ForgetBy, 6> kNamesOf<ForgetBy>{{
    {ForgetBy::kCustomer, "customer"},
    {ForgetBy::kEmail, "email"},
    {ForgetBy::kPhone, "phone"},
    {ForgetBy::kOrder, "order"},
    {ForgetBy::kDevice, "device"},
    {ForgetBy::kCreator, "creator"},
}};

/// Erases a person's data. The shop (kCreator: the account) is in the record's metadata.
struct Forget {
    /// The outcome: all that an archive keeps of the command.
    struct Done {
        bool refused = false;
        std::string result;
    };

    ForgetBy by = ForgetBy::kCustomer;
    std::string value{};                ///< The id. Once done empty, except for a creator.
    std::optional<Digest256> secret{};  ///< R, drawn by the writer of the command. Unset once done.
    std::optional<Done> done{};
};

}  // namespace sluice
