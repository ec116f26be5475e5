// Actor: who ran a command, as the journal names it. A person is a login or a key (controls K13).
#pragma once

#include <string_view>

namespace sluice {

/// Ends the name of an actor who did not log in: a service, or root of a container. The user whose
/// process it was is no proof of a person. No name of a user has a space.
inline constexpr std::string_view kNoLogin = " (no login)";

[[nodiscard]] constexpr bool has_login(std::string_view actor) noexcept {
    return !actor.ends_with(kNoLogin);
}

}  // namespace sluice
