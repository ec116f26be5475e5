#include "pg_store/connection/error.hpp"

#include <array>

namespace sluice::pg {
namespace {

struct Meaning {
    std::string_view beginning;
    ErrorCode code;
};

/// The first that fits counts.
constexpr std::array<Meaning, 27> kMeanings{{
    {"40", ErrorCode::kBusy},     // serialization failure, deadlock
    {"55P03", ErrorCode::kBusy},  // a lock was not to be had in time
    {"23505", ErrorCode::kBusy},  // another node's row came first
    {"0A000", ErrorCode::kUnsupported},
    {"08", ErrorCode::kIo},           // connection
    {"57P04", ErrorCode::kNotFound},  // the database was dropped
    {"57", ErrorCode::kIo},           // shut down, killed, starting up, cancelled
    {"53100", ErrorCode::kNoSpace},
    {"53", ErrorCode::kIo},     // memory, connections, locks
    {"58", ErrorCode::kIo},     // its files
    {"25006", ErrorCode::kIo},  // read-only: a standby that a failover left behind
    {"25P03", ErrorCode::kIo},  // idle for too long in a transaction
    {"XX001", ErrorCode::kCorrupt},
    {"XX002", ErrorCode::kCorrupt},
    {"XX", ErrorCode::kIo},
    {"F0", ErrorCode::kIo},
    {"21", ErrorCode::kInvalid},
    {"22", ErrorCode::kInvalid},
    {"23", ErrorCode::kInvalid},
    {"44", ErrorCode::kInvalid},
    {"54", ErrorCode::kInvalid},  // a row or an index entry that is too large
    {"28", ErrorCode::kPermission},
    {"42501", ErrorCode::kPermission},
    {"3D000", ErrorCode::kNotFound},
    {"3F000", ErrorCode::kNotFound},
    {"42P01", ErrorCode::kNotFound},
    {"42", ErrorCode::kUnsupported},
}};

}  // namespace

ErrorCode code_of(std::string_view sqlstate) noexcept {
    for (const Meaning& meaning : kMeanings) {
        if (sqlstate.starts_with(meaning.beginning)) {
            return meaning.code;
        }
    }
    return ErrorCode::kIo;
}

}  // namespace sluice::pg
