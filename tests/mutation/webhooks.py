"""Faults in what nginx takes from Shopify and WooCommerce."""

from mutation.mutant import fault

WEBHOOKS = [
    fault("bits beyond the digest pass in base64", "core/protocol/signature.cpp",
          "return has_more ? std::nullopt : Parsed<Digest256>(digest);",
          "return has_more && false ? std::nullopt : Parsed<Digest256>(digest);",
          "core:Webhooks.BitsBeyondTheDigestMakeABase64Invalid"),
    fault("a token of another shop signs webhooks", "core/intake/registry_view.hpp",
          "(shop_id.empty() || shop_id == shop)", "(shop_id.empty() || !shop.empty())",
          "core:Webhooks.TokensOfOtherScopesAndShopsDoNotCount"),
    fault("a shop of another platform takes webhooks", "core/intake/check_webhooks.cpp",
          "sender.shop != nullptr && sender.shop->source.platform != platform",
          "sender.shop != nullptr && sender.shop->source.platform == Platform::kNone",
          "core:Webhooks.AddressAndHeaderMustAgree"),
    fault("a signed form is a ping", "core/intake/check_webhooks.cpp",
          "head.signature.count == 0 &&", "state_of(head.signature) != HeaderState::kOnce &&",
          "core:Webhooks.OnlyTheFormOfWooCommerceIsAPing"),
    fault("a secret of webhooks is a bearer token", "lmdb_store/registry/tokens.cpp",
          "        if (is_borne) {\n            put(", "        if (is_borne || true) {\n            put(",
          "lmdb_store:RegistryTest.OneSecretSignsWebhooksOfSeveralAccountsAndIsNoBearerToken"),
    fault("a merge takes the domain from the shop that just got it", "lmdb_store/registry/access.cpp",
          "if (find(txn, tables_.main, key) == row.shop_id.view()) {", "if (find(txn, tables_.main, key)) {",
          "lmdb_store:RegistryMergeTest.PlatformsArriveAndShopsMayExchangeTheirDomains"),
]
