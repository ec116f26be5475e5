// An archive of what happens in a ledger, audited by a replay (K9).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "program/system/file.hpp"
#include "worker/replay/replay.hpp"

namespace sluice::test {

/// The archive holds inputs that leave a row in as many tables as they can.
class ReplayScene {
public:
    ReplayScene();
    [[nodiscard]] std::filesystem::path archive() const { return folder_.path() / "archive"; }
    [[nodiscard]] std::filesystem::path ledger() const { return folder_.path() / "ledger"; }

    /// An audit that could not be made is a failure of the test.
    worker::ReplayOutcome audit(const worker::LedgerPlace& place);

private:
    cli::TemporaryFolder folder_;
};

/// A line for each difference, or "nothing".
std::string said(const worker::ReplayOutcome& outcome);

/// @param column  A finding of a whole row, or of a damaged one, names no column.
bool is_named(const worker::ReplayOutcome& outcome, std::string_view table,
              const std::string& column);

}  // namespace sluice::test
