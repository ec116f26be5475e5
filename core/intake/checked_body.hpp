// The body of a request as accept_event() and accept_catalog() need it: what was worked out of its
// bytes first, the bytes themselves later, and only if they are needed.
//
// A small body lies in memory (WholeBody). Of a large one nginx has the digests when the last byte
// comes, and its bytes in a file (ngx_module/request/stream).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/protocol/signature.hpp"

namespace sluice {

enum class Reason : std::uint8_t;

/// Any thread, one at a time.
class CheckedBody {
public:
    CheckedBody() = default;
    CheckedBody(const CheckedBody&) = delete;
    CheckedBody& operator=(const CheckedBody&) = delete;
    virtual ~CheckedBody() = default;

    /// Is `signature` its HMAC-SHA256 under `key`? Nothing: its bytes cannot be had to tell. Throws
    /// std::bad_alloc.
    [[nodiscard]] virtual std::optional<bool> is_signed_by(const SigningKey& key,
                                                           const Digest256& signature) = 0;
    [[nodiscard]] virtual Digest256 sha256() = 0;
    /// Its bytes; valid as long as the body. May wait for the disk. Throws std::bad_alloc.
    /// @return Reason::kNone, or why they cannot be had now; `text` is left alone then.
    [[nodiscard]] virtual Reason read(std::string_view& text) = 0;
};

/// One that lies in memory.
class WholeBody final : public CheckedBody {
public:
    /// @param text  Outlives it.
    explicit WholeBody(std::string_view text) noexcept : text_(text) {}

    [[nodiscard]] std::optional<bool> is_signed_by(const SigningKey& key,
                                                   const Digest256& signature) override {
        return key.verify(text_, signature);
    }
    [[nodiscard]] Digest256 sha256() override { return sluice::sha256(text_); }
    [[nodiscard]] Reason read(std::string_view& text) override {
        text = text_;
        return Reason{};
    }

private:
    std::string_view text_;
};

}  // namespace sluice
