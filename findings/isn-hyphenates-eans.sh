#!/usr/bin/env bash
# The extension isn of PostgreSQL 18.7 in PGlite 0.5.17 (npm).
#
# Input: an EAN-13, a UPC-A and an EAN-8 as a column of the type ean13.
# Behaviour: an article's number comes back with hyphens, as if it were a book's, so a join with the SKUs
# of orders as texts finds nothing. A UPC-A and an EAN-8 are refused, the latter as an ISSN, although a UPC-A
# is equal to the EAN-13 with a zero in front once both have their types.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent @electric-sql/pglite@0.5.17 >&2
cat > run.mjs <<'JS'
import {PGlite} from '@electric-sql/pglite';
import {isn} from '@electric-sql/pglite/contrib/isn';
const database = await PGlite.create({extensions: {isn}});
await database.exec("create extension isn; create table articles (ean ean13); insert into articles values ('4006381333931')");
for (const query of ['select ean from articles', "select count(*) from articles where ean::text = '4006381333931'",
                     "select '036000291452'::upc = '0036000291452'::ean13 as equal", "select '036000291452'::ean13", "select '96385074'::ean13"]) {
  const answer = await database.query(query).then(({rows}) => JSON.stringify(rows), ({message}) => message);
  console.log(`${query}: ${answer}`);
}
JS
expected='select ean from articles: [{"ean":"400-638133393-1"}]
select count(*) from articles where ean::text = '"'4006381333931'"': [{"count":0}]
select '"'036000291452'::upc = '0036000291452'"'::ean13 as equal: [{"equal":true}]
select '"'036000291452'"'::ean13: cannot cast UPC to EAN13 for number: "036000291452"
select '"'96385074'"'::ean13: cannot cast ISSN to EAN13 for number: "96385074"'
found=$(timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
