"""Faults of page tokens."""

from mutation.mutant import fault

PAGE_TOKENS = [
    fault("an expired page token counts", "core/protocol/page_token.cpp",
          "<= second && second < expires;", "<= second;",
          "core:PageToken.ItCountsFromAMinuteBeforeItWasMadeUntilItExpires"),
    fault("a page token counts however long it was made for", "core/protocol/page_token.cpp",
          "issued < expires && expires - issued <= kPageTokenSecondsMax", "issued < expires",
          "core:PageToken.OneForMoreThanAnHourOrForNoTimeNeverCounts"),
    fault("a page token has several texts", "core/values/base64url.cpp",
          "return to_base64url(bytes) == text ?", "return true ?",
          "core:PageToken.EveryChangedBitOfTheTextIsRefused"),
    fault("a short secret signs page tokens", "lmdb_store/registry/tokens.cpp",
          "is_of_pages ? kPageSecretBytesMin : kSecretBytesMin", "kSecretBytesMin",
          "lmdb_store:RegistryTest.ATokenForPagesHasThatScopeAloneAndASecretOf32Bytes"),
]
