// Reads one request as JSON ({"secret", "headers", "body"}) and prints what Shopify's own library says of it.
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';

let text = '';
for await (const piece of process.stdin) text += piece;
const { secret, headers, body } = JSON.parse(text);
const shopify = shopifyApi({
  apiKey: 'key', apiSecretKey: secret, hostName: 'shop.example', scopes: [], isEmbeddedApp: false,
  apiVersion: Object.values(ApiVersion).at(-1), logger: { log: () => {} },
});
const found = await shopify.webhooks.validate({ rawBody: body, rawRequest: { headers, url: '/', method: 'POST' }, rawResponse: {} });
console.log(JSON.stringify(found));
