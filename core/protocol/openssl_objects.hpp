// Owned objects of OpenSSL. Only sources of this folder include it.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>

namespace sluice {

template <class Object, void (*Free)(Object*)>
struct Freed {
    void operator()(Object* object) const noexcept { Free(object); }
};
template <class Object, void (*Free)(Object*)>
using Owned = std::unique_ptr<Object, Freed<Object, Free>>;
using EvpKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using DigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;

[[nodiscard]] inline const unsigned char* bytes_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace sluice
