// Peer: Node + Fastify + PostgreSQL. Verifies, limits, validates, INSERT with synchronous_commit=on.
'use strict';
const crypto = require('node:crypto');
const fs = require('node:fs');
const fastify = require('fastify');
const { Pool } = require('pg');

const secret = fs.readFileSync(process.env.SECRET_FILE).toString().replace(/\n$/, '');
const shops = new Map([[process.env.SHOP, { secret, start: 0, count: 0 }]]);
const pool = new Pool({ host: process.env.PGHOST, database: 'postgres', user: 'postgres', max: 32 });
const limit = 200000000;
const length = 60;

const decimal = { type: 'string', pattern: '^[0-9]{1,15}(\\.[0-9]{1,6})?$' };
const text = { type: 'string', minLength: 1 };
const app = fastify({ logger: false, bodyLimit: 1 << 20 });
const validate = new (require('ajv'))().compile({
  type: 'object',
  required: ['platform_order_id', 'platform_ordered_at', 'amount', 'tax', 'shipping', 'currency_code', 'line_items'],
  properties: {
    platform_order_id: text, platform_ordered_at: text, amount: decimal, tax: decimal, shipping: decimal,
    currency_code: { type: 'string', pattern: '^[A-Z]{3}$' },
    line_items: {
      type: 'array', minItems: 1,
      items: {
        type: 'object', required: ['line_item_id', 'sku', 'amount', 'tax', 'quantity'],
        properties: { line_item_id: text, sku: text, amount: decimal, tax: decimal,
                      quantity: { type: 'string', pattern: '^[0-9]{1,9}$' } },
      },
    },
  },
});

app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body));
app.post('/event/ecomm', async (request, reply) => {
  const body = request.body;
  const shop = shops.get(request.headers['x-svc-shop-id']);
  const expected = crypto.createHmac('sha256', shop ? shop.secret : 'unknown').update(body).digest();
  const given = Buffer.from(request.headers['x-signature'] || '', 'hex');
  if (!shop || given.length !== 32 || !crypto.timingSafeEqual(given, expected)) {
    return reply.code(401).send();
  }
  const now = Math.floor(Date.now() / 1000);
  const start = now - (now % length);
  if (shop.start !== start) {
    shop.start = start;
    shop.count = 0;
  }
  shop.count += 1;
  reply.header('X-RateLimit-Limit', limit).header('X-RateLimit-Remaining', Math.max(limit - shop.count, 0))
    .header('X-RateLimit-Reset', start + length);
  if (shop.count > limit) {
    return reply.code(429).send({ error: 'Rate limit exceeded' });
  }
  let order;
  try {
    order = JSON.parse(body);
  } catch {
    return reply.code(400).send({ error: 'Invalid request data' });
  }
  if (!validate(order)) {
    return reply.code(400).send({ error: 'Invalid request data' });
  }
  await pool.query({ name: 'insert', text: 'INSERT INTO events(shop, body) VALUES ($1, $2)',
                     values: [process.env.SHOP, body] });
  reply.header('Content-Type', 'text/plain');
  return 'success';
});
app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
