// Runs SQL of standard input in DuckDB, in the current folder. Prints the rows of the last statement as JSON.
import {readFileSync} from 'node:fs';
import {DuckDBInstance} from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(process.argv[2] ?? ':memory:')).connect();
const reader = await connection.runAndReadAll(readFileSync(0, 'utf8'));
console.log(JSON.stringify(reader.getRowObjectsJson()));
