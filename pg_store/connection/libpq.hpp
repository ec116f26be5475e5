// libpq, loaded when the first URL of a PostgreSQL ledger is read. Internal to pg_store.
#pragma once

#include <libpq-fe.h>

#include "os/libraries/lazy_library.hpp"

namespace sluice::pg {

inline constinit const LazyLibrary kLibpq{"libpq.so.5", "libpq5"};

SLUICE_LAZY_FUNCTION(kLibpq, PQbackendPID);
SLUICE_LAZY_FUNCTION(kLibpq, PQcancel);
SLUICE_LAZY_FUNCTION(kLibpq, PQclear);
SLUICE_LAZY_FUNCTION(kLibpq, PQcmdStatus);
SLUICE_LAZY_FUNCTION(kLibpq, PQcmdTuples);
SLUICE_LAZY_FUNCTION(kLibpq, PQconnectPoll);
SLUICE_LAZY_FUNCTION(kLibpq, PQconnectStartParams);
SLUICE_LAZY_FUNCTION(kLibpq, PQconnectionNeedsPassword);
SLUICE_LAZY_FUNCTION(kLibpq, PQconninfo);
SLUICE_LAZY_FUNCTION(kLibpq, PQconninfoFree);
SLUICE_LAZY_FUNCTION(kLibpq, PQconninfoParse);
SLUICE_LAZY_FUNCTION(kLibpq, PQconsumeInput);
SLUICE_LAZY_FUNCTION(kLibpq, PQenterPipelineMode);
SLUICE_LAZY_FUNCTION(kLibpq, PQerrorMessage);
SLUICE_LAZY_FUNCTION(kLibpq, PQexitPipelineMode);
SLUICE_LAZY_FUNCTION(kLibpq, PQfinish);
SLUICE_LAZY_FUNCTION(kLibpq, PQflush);
SLUICE_LAZY_FUNCTION(kLibpq, PQfname);
SLUICE_LAZY_FUNCTION(kLibpq, PQfreeCancel);
SLUICE_LAZY_FUNCTION(kLibpq, PQgetCancel);
SLUICE_LAZY_FUNCTION(kLibpq, PQgetResult);
SLUICE_LAZY_FUNCTION(kLibpq, PQgetisnull);
SLUICE_LAZY_FUNCTION(kLibpq, PQgetlength);
SLUICE_LAZY_FUNCTION(kLibpq, PQgetvalue);
SLUICE_LAZY_FUNCTION(kLibpq, PQisBusy);
SLUICE_LAZY_FUNCTION(kLibpq, PQnfields);
SLUICE_LAZY_FUNCTION(kLibpq, PQntuples);
SLUICE_LAZY_FUNCTION(kLibpq, PQpipelineSync);
SLUICE_LAZY_FUNCTION(kLibpq, PQputCopyData);
SLUICE_LAZY_FUNCTION(kLibpq, PQputCopyEnd);
SLUICE_LAZY_FUNCTION(kLibpq, PQresultErrorField);
SLUICE_LAZY_FUNCTION(kLibpq, PQresultErrorMessage);
SLUICE_LAZY_FUNCTION(kLibpq, PQresultStatus);
SLUICE_LAZY_FUNCTION(kLibpq, PQsendPrepare);
SLUICE_LAZY_FUNCTION(kLibpq, PQsendQuery);
SLUICE_LAZY_FUNCTION(kLibpq, PQsendQueryParams);
SLUICE_LAZY_FUNCTION(kLibpq, PQsendQueryPrepared);
SLUICE_LAZY_FUNCTION(kLibpq, PQsetErrorVerbosity);
SLUICE_LAZY_FUNCTION(kLibpq, PQsetNoticeReceiver);
SLUICE_LAZY_FUNCTION(kLibpq, PQsetnonblocking);
SLUICE_LAZY_FUNCTION(kLibpq, PQsocket);
SLUICE_LAZY_FUNCTION(kLibpq, PQstatus);
SLUICE_LAZY_FUNCTION(kLibpq, PQtransactionStatus);

}  // namespace sluice::pg
