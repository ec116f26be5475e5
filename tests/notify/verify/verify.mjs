// Verifies requests as receivers do. Each line of the input is {secret, headers, body}; each line of the output has
// what the two libraries say: true, or their error.
import readline from 'node:readline';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';

function verdict(library, { secret, headers, body }) {
  try {
    return JSON.stringify(new library(secret).verify(body, headers)) === JSON.stringify(JSON.parse(body));
  } catch (error) {
    return error.message;
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  console.log(JSON.stringify([verdict(Standard, request), verdict(Svix, request)]));
}
