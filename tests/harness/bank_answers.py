"""A bank's answers to payment instructions: pain.002, camt.053 and camt.054 as banks write them."""
from xml.sax.saxutils import escape

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:"
IBAN = "GB82WEST12345698765432"  # the debtor's
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="{namespace}">\n'
GROUP = "<GrpHdr><MsgId>{message}</MsgId><CreDtTm>2026-02-05T08:00:00Z</CreDtTm></GrpHdr>\n"


def document(form, element, body, message):
    head = HEAD.format(namespace=NAMESPACE + form) + f"<{element}>\n" + GROUP.format(message=message)
    return head + body + f"</{element}>\n</Document>\n"


def status(payout, code, amount=None, currency="EUR", reason="", text=""):
    """One transaction of a pain.002. `reason` is a code such as AC04."""
    why = f"<Rsn><Cd>{reason}</Cd></Rsn>" if reason else ""
    why += f"<AddtlInf>{escape(text)}</AddtlInf>" if text else ""
    amount = f'<Amt><InstdAmt Ccy="{currency}">{amount}</InstdAmt></Amt>' if amount else ""
    return (
        f"<TxInfAndSts>\n<StsId>S-{payout[-4:]}</StsId><OrgnlEndToEndId>{payout}</OrgnlEndToEndId><TxSts>{code}</TxSts>\n"
        + (f"<StsRsnInf>{why}</StsRsnInf>\n" if why else "")
        + f"<OrgnlTxRef>{amount}<DbtrAcct><Id><IBAN>{IBAN}</IBAN></Id></DbtrAcct></OrgnlTxRef>\n</TxInfAndSts>\n"
    )


def pain002(*transactions, message="C260201080000-7KQ4M9", group=""):
    body = f"<OrgnlGrpInfAndSts><OrgnlMsgId>{message}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>"
    body += (f"<GrpSts>{group}</GrpSts>" if group else "") + "</OrgnlGrpInfAndSts>\n"
    if transactions:
        body += f"<OrgnlPmtInfAndSts><OrgnlPmtInfId>{message}</OrgnlPmtInfId>\n{''.join(transactions)}</OrgnlPmtInfAndSts>\n"
    return document("pain.002.001.10", "CstmrPmtStsRpt", body, "BANK-2-1")


def fee(amount, currency="EUR"):
    return f'<Chrgs><Rcrd><Amt Ccy="{currency}">{amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd></Rcrd></Chrgs>'


def details(payout, amount, currency="EUR", reference="", returned="", fees="", amounts=""):
    """`returned`: the code of a return, such as AC04."""
    refs = (f"<AcctSvcrRef>{reference}</AcctSvcrRef>" if reference else "") + f"<EndToEndId>{payout}</EndToEndId>"
    back = f"<RtrInf><Rsn><Cd>{returned}</Cd></Rsn><AddtlInf>account closed</AddtlInf></RtrInf>" if returned else ""
    credit = "CRDT" if returned else "DBIT"
    return (
        f'<TxDtls>\n<Refs>{refs}</Refs><Amt Ccy="{currency}">{amount}</Amt><CdtDbtInd>{credit}</CdtDbtInd>'
        f"{amounts}{fees}{back}</TxDtls>\n"
    )


def entry(amount, *transactions, currency="EUR", credit=False, state="BOOK", reference="", more=""):
    code = "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>"
    return (
        f'<Ntry>\n<Amt Ccy="{currency}">{amount}</Amt><CdtDbtInd>{"CRDT" if credit else "DBIT"}</CdtDbtInd>{more}'
        f"<Sts><Cd>{state}</Cd></Sts><BookgDt><Dt>2026-02-04</Dt></BookgDt>"
        + (f"<AcctSvcrRef>{reference}</AcctSvcrRef>" if reference else "")
        + code
        + (f"<NtryDtls>\n{''.join(transactions)}</NtryDtls>\n" if transactions else "")
        + "</Ntry>\n"
    )


BALANCE = (
    '<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">0.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>'
    "<Dt><Dt>2026-02-04</Dt></Dt></Bal>\n"
)


def camt053(*entries, iban=IBAN):
    balances = BALANCE.format(code="OPBD") + BALANCE.format(code="CLBD")
    body = f"<Stmt><Id>ST-1</Id><Acct><Id><IBAN>{iban}</IBAN></Id></Acct>\n{balances}{''.join(entries)}</Stmt>\n"
    return document("camt.053.001.08", "BkToCstmrStmt", body, "BANK-53-1")


def camt054(*entries, iban=IBAN):
    body = f"<Ntfctn><Id>N-1</Id><Acct><Id><IBAN>{iban}</IBAN></Id></Acct>\n{''.join(entries)}</Ntfctn>\n"
    return document("camt.054.001.08", "BkToCstmrDbtCdtNtfctn", body, "BANK-54-1")
