// Runs SQL of standard input in ClickHouse, in the current folder. Prints the rows of the last statement as JSON.
import {readFileSync} from 'node:fs';
import {Session} from 'chdb';

const session = new Session();
const statements = readFileSync(0, 'utf8').replace(/^--.*$/gm, '').split(/;\n/).filter(one => one.trim());
let answer = '';
for (const statement of statements) {
    answer = session.query(statement, 'JSONEachRow');
}
console.log('[' + answer.trim().split('\n').join(',') + ']');
session.cleanup();
