// Translator: turns a webhook of a shop's platform into an order in our own format (docs/shops.md).
//
// A function of its arguments: no clock, no state, no I/O. nginx, the commands and the tests call
// the same one, so that all of them read the same order from the same bytes.
//
// The result has no name, address, phone number or e-mail address of the body. A guest is named by
// a digest of the e-mail address.
#pragma once

#include <cstdint>
#include <memory>

#include "core/shops/source.hpp"
#include "core/shops/translation.hpp"

namespace sluice {

/// Returns the number of today's rules for a platform. It grows when the result of any body
/// changes.
[[nodiscard]] std::uint32_t mapping_number(Platform platform) noexcept;

/// Keeps its buffers, so that an order of ordinary size allocates little. One per thread.
class Translator {
public:
    static constexpr std::size_t kSeenBytesMax = std::size_t{64} << 10;

    Translator();
    ~Translator();
    Translator(Translator&&) noexcept;
    Translator& operator=(Translator&&) noexcept;

    /// Requires: request.platform is not kNone, and the body is at most JsonTree::kBytesMax long.
    [[nodiscard]] Translation translate(const SourceRequest& request,
                                        const SourceSettings& settings);
    /// Frees buffers that a large body left behind. Invalidates the last translation.
    void trim() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice
