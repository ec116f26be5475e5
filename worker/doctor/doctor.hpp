// Doctor: looks at a store, its worker and the nginx in front of it, and says what to do.
//
// Each check looks at one thing and never changes anything. What the user who runs it may not read
// becomes a finding of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/cli/cli.hpp"

namespace sluice::cli {

enum class Health : std::uint8_t { kOk, kNote, kProblem };
[[nodiscard]] std::string_view to_string(Health health) noexcept;  // ok, note, problem

struct Finding {
    std::string check;  ///< What was looked at: `permissions`, `worker`, ...
    Health health = Health::kOk;
    std::string text;    ///< What was found.
    std::string remedy;  ///< What to do; empty for kOk.
};

using Findings = std::vector<Finding>;

/// A part of the store that cannot be opened.
void add_damage(const char* check, const Error& error, Findings& findings);
// worker/doctor/store.cpp
void check_format(const store::StorePaths& paths, Findings& findings);
void check_permissions(const store::StorePaths& paths, Findings& findings);
void check_key(const store::StorePaths& paths, Findings& findings);
void check_disk(const store::StorePaths& paths, Findings& findings);
void check_clock(const store::StorePaths& paths, Timestamp now, Findings& findings);
// worker/doctor/rows.cpp
/// Before the others, which open the environments.
void check_readers(const store::StorePaths& paths, Findings& findings);
void check_registry(const store::StorePaths& paths, Findings& findings);
void check_queue(const store::StorePaths& paths, Timestamp now, Findings& findings);
// worker/doctor/ledger.cpp
void check_ledger(const Frame& frame, Findings& findings);
// worker/doctor/nginx.cpp
/// @param configuration  nginx.conf; empty: the one that nginx was built to read.
void check_nginx(const store::StorePaths& paths, const std::string& configuration,
                 Findings& findings);

}  // namespace sluice::cli
