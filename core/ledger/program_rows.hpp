// Program rows: programs and their versions as the ledger stores them.
//
// Plain values without behaviour; they own their bytes.
#pragma once

#include <cstdint>
#include <string>

#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The current version of a program. A program id belongs to one account for ever.
struct ProgramHead {
    ProgramId program;
    AccountNumber account;
    std::uint32_t version = 0;
};

/// A program as a file stated it; earlier versions stay readable for `sluice explain`.
struct ProgramVersion {
    ProgramId program;
    std::uint32_t version = 0;
    AccountNumber account;
    AccountId account_id;
    SequenceNumber applied_by;
    Timestamp applied_at;
    Timestamp first_reach;
    std::string json;  ///< As encode_program() writes it.
};

}  // namespace sluice
