// Seal of a command: HMAC-SHA256 over everything that a command says, with a key that nginx cannot
// read (controls K5).
//
// nginx runs in the group that may append to the queue. A seal proves that the record was written
// by the `sluice` program of the store's owner. It names its queue and its sequence number, so a
// record that was copied, from another queue or from another place of this one, has no valid seal
// (controls K14). A restore begins a new epoch by retiring the key, so a command of a time that the
// restore undid has none either. The ledger keeps the seals of all commands (UsedSeal): the result
// of a number is that of a command only if the ledger has its seal under this number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/interface.hpp"
#include "core/values/parsed.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// The reason of every dead letter without a valid seal begins with it.
inline constexpr std::string_view kNotSealed = "COMMAND_NOT_SEALED";
[[nodiscard]] inline bool is_not_sealed(std::string_view dead_reason) noexcept {
    return dead_reason.starts_with(kNotSealed);
}

/// The keys of one store. The first one seals. The others are retired: each verifies what its queue
/// got before the rotation, so a key that was stolen seals nothing after it. Wiped when destroyed.
class CommandKeys {
public:
    CommandKeys() = default;
    ~CommandKeys();
    CommandKeys(const CommandKeys&) = default;
    CommandKeys& operator=(CommandKeys other) noexcept {
        keys_.swap(other.keys_);
        return *this;
    }

    /// Parses a line for each key: 64 hexadecimal digits, followed by the last sequence number if
    /// the key is retired. Returns nullopt for anything else, and for an empty text.
    [[nodiscard]] static Parsed<CommandKeys> parse(std::string_view text);
    /// Returns the lines that parse() reads. The caller wipes them.
    [[nodiscard]] std::string to_text() const;
    /// Puts a key in front of the others, and retires the one that was in front.
    /// @param last  The last sequence number that the old key may seal.
    void rotate(const Digest256& key, SequenceNumber last);
    /// Adds the keys of another store, for verification.
    void append(const CommandKeys& others);

    /// Seals a command.
    /// @param meta  With everything but the seal.
    /// @param body_sha256  Of the body as it is sent.
    /// @param seq  The number that the record has in its queue.
    /// Requires: there is a key.
    [[nodiscard]] CommandSeal seal(const RecordMeta& meta, const Digest256& body_sha256,
                                   std::string_view queue_uuid, SequenceNumber seq) const;

    enum class Verdict : std::uint8_t {
        kValid,
        kMissing,     ///< The record has no seal.
        kUnknownKey,  ///< None of these keys made it.
        kRetired,     ///< Its key was retired before the queue got the record.
        kWrong,       ///< It is not the seal of this record at this place of this queue.
    };
    /// @param seq  Of the record in its queue.
    [[nodiscard]] Verdict verify(const RecordMeta& meta, const Digest256& body_sha256,
                                 std::string_view queue_uuid, SequenceNumber seq) const;

    /// Seals a text that is no command: that of a ledger's snapshot (K9).
    /// Requires: there is a key.
    [[nodiscard]] CommandSeal seal_text(std::string_view text) const;
    /// Returns whether a key that is in use made the seal of this text. One that was retired proves
    /// nothing about a text, which has no place in the queue.
    [[nodiscard]] bool verify_text(std::string_view text, const CommandSeal& seal) const;

private:
    struct Key {
        std::uint32_t id;  ///< The first bytes of a digest of the key.
        Digest256 bytes;
        std::optional<SequenceNumber> last;  ///< Set if it is retired.
    };
    std::vector<Key> keys_;
};

/// Judges the seals of commands for an Applier.
class SealCheck : public Interface {
public:
    /// Returns the reason why the command is not applied, or nothing if its seal is valid.
    /// @param body_sha256  Of the body as it was sent.
    [[nodiscard]] virtual std::optional<std::string> fault(const RecordMeta& meta,
                                                           const Digest256& body_sha256,
                                                           std::string_view queue_uuid,
                                                           SequenceNumber seq) = 0;
};
/// The words of a dead letter.
[[nodiscard]] std::string seal_fault(CommandKeys::Verdict verdict);

}  // namespace sluice
