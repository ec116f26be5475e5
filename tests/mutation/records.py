"""Faults in what decides about bytes and numbers that nginx can write (controls K14)."""

from mutation.mutant import fault

RECORDS = [
    fault("a gap in a batch is passed over", "worker/drain/input_batch.cpp",
          "if (inputs[at].seq.value != txn.head().applied_seq.value + 1) {", "if (inputs[at].seq.value == 0) {",
          "ledger:*K14Numbers.AGapInTheMiddle*"),
    fault("a gap at the end is passed over", "worker/drain/input_batch.cpp",
          "if (records->empty() && *last >= from) {", "if (records->empty() && last->value == 0) {",
          "ledger:*K14Numbers.AGapAtTheEnd*"),
    fault("bytes that were read again are archived unseen", "worker/drain/input_tail.cpp",
          "if (reached != end.inputs_sha256) {", "if (false) {",
          "ledger:*K14Archive.ARecordThatWasEdited*"),
    fault("a bulk body that was edited is archived", "worker/drain/archiver.cpp",
          "} else if (input.dead_reason) {", "} else if (false) {",
          "ledger:*K14Archive.ABodyBeside*"),
    fault("a seal is good at any place", "core/commands/seal.cpp",
          "sealed.text(queue_uuid).number(seq.value)", "sealed.text(queue_uuid).number(0 * seq.value)",
          "worker:SealTest.K14_ACommandThatWasTakenOutOfTheQueueIsNotAppliedLater"),
    fault("a number alone names a command", "worker/access/command_client.cpp",
          "snapshot->load(used) && used.seq == seq", "snapshot->load(used) || true",
          "ledger:*K14Numbers.AResultIsNot*"),
    fault("a shop is what the first record says", "core/apply/apply.cpp",
          "senders_ != nullptr ? senders_->shop_fault(meta) : std::nullopt", "std::nullopt",
          "ledger:*K14Records.AShop*"),
]
