"""Faults of page tokens and of what a creator may read."""

from mutation.mutant import fault

PAGE_TOKENS = [
    fault("an expired page token counts", "core/protocol/page_token.cpp",
          "<= second && second < expires;", "<= second;",
          "core:PageToken.ItCountsFromAMinuteBeforeItWasMadeUntilItExpires"),
    fault("a page token counts however long it was made for", "core/protocol/page_token.cpp",
          "issued < expires && expires - issued <= kPageTokenSecondsMax", "issued < expires",
          "core:PageToken.OneForMoreThanAnHourOrForNoTimeNeverCounts"),
    fault("a page token has several texts", "core/values/base64.cpp",
          "return bytes && to_base64url(*bytes) == text ?", "return bytes ?",
          "core:PageToken.EveryChangedBitOfTheTextIsRefused"),
    fault("a short secret signs page tokens", "lmdb_store/registry/tokens.cpp",
          "is_of_pages ? kPageSecretBytesMin : kSecretBytesMin", "kSecretBytesMin",
          "lmdb_store:RegistryTest.ATokenForPagesHasThatScopeAloneAndASecretOf32Bytes"),
]
CREATOR_LEDGER = [
    fault("two payments of a day have one id", "core/creators/payments.cpp",
          '(number == 1 ? "" : "-" + std::to_string(number))', '(number != 0 ? "" : "-")',
          "ledger:*CreatorLedgerTest.Example11PaymentsAreSentAndComeBack*"),
    fault("another's order answers its number alone", "core/creators/find.cpp",
          "(missed.number && fits(order, missed))", "missed.number.has_value()",
          "ledger:*CreatorLedgerTest.Example6AnOrderOfAnotherAnswersNumberDayAndTotalTogether*"),
    fault("any number of an order confirms it", "core/creators/find.cpp",
          "order_number_digest(*missed.number) == order_number_digest(order.confirmation_number);",
          "missed.number.has_value();",
          "ledger:*CreatorLedgerTest.Example9AConfirmationNumberAnswersAndOtherNumbersDoNot*"),
    fault("the numbers of a forgotten person's orders stay", "core/forget/edit.cpp",
          "    if (has_numbers) {", "    if (has_numbers && device) {",
          "ledger:*ForgetRules.NumbersOfAPersonsOrdersGoAndOthersStay*"),
    fault("a code that is another's by then answers", "core/explain/cause.cpp",
          "was_hers_then || (is_hers && !was_anothers_then)", "is_hers",
          "ledger:*CreatorLedgerTest.Examples7And8AnEndedCodeAnswersUnlessItIsAnothersByThen*"),
    fault("a creator sees each order whose id she has", "core/creators/creator_ledger.cpp",
          "return found && is_own(*found) ?", "return found ?",
          "ledger:*CreatorLedgerTest.OrdersOfOthersAndUnknownOnesAreNothingAlike*"),
    fault("a code that was another's is shown as hers", "core/creators/creator_ledger.cpp",
          "if (candidate.program != attribution.program || candidate.creator != scope_.creator()) {",
          "if (candidate.program != attribution.program) {",
          "ledger:*CreatorFiguresTest.ACodeThatLostToALinkIsNotShown*"),
]
