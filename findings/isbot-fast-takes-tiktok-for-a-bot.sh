#!/usr/bin/env bash
# isbot 5.2.3, isbot-fast 1.2.0 and is-bot 0.0.1 (npm).
#
# Input: user agents of the browsers inside the apps of TikTok on Android and iOS, Instagram and LinkedIn, of a
# phone of the maker CUBOT, and of WhatsApp's preview of a link.
# Behaviour: to isbot-fast TikTok's app on Android is a bot, so a creator's clicks from there count for
# nothing, and those from iOS do. is-bot drops LinkedIn's app and lets WhatsApp's preview count as a click.
# Both drop all clicks from a CUBOT.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent isbot@5.2.3 isbot-fast@1.2.0 is-bot@0.0.1 >&2
cat > run.cjs <<'JS'
const ios = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';
const android = (phone) =>
  `Mozilla/5.0 (Linux; Android 13; ${phone}; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/122.0.6261.64 Mobile Safari/537.36`;
const tiktok = 'JsSdk/1.0 NetType/WIFI Channel/googleplay AppName/musical_ly app_version/33.0.5 ByteLocale/en Region/GB BytedanceWebview/d8a21c6';
const agents = {
  'TikTok, Android': `${android('SM-A536B')} musical_ly_2023300050 ${tiktok}`,
  'TikTok, iOS': `${ios} musical_ly_33.3.0 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/en Region/US BytedanceWebview/d8a21c6`,
  'Instagram, iOS': `${ios} Instagram 325.0.3.34.90 (iPhone14,5; iOS 17_4; en_US; en; scale=3.00; 1170x2532; 580212135)`,
  'LinkedIn, iOS': `${ios} [LinkedInApp]/9.29.7156`,
  'Chrome on a CUBOT': android('CUBOT P60'),
  'preview of WhatsApp': 'WhatsApp/2.24.4.78 A',
};
const check = {isbot: require('isbot').isbot, 'isbot-fast': require('isbot-fast').isBot ?? require('isbot-fast'), 'is-bot': require('is-bot')};
for (const [name, agent] of Object.entries(agents)) {
  console.log(`${name}: ${Object.entries(check).map(([library, isBot]) => `${library} ${Boolean(isBot(agent))}`).join(', ')}`);
}
JS
expected='TikTok, Android: isbot false, isbot-fast true, is-bot false
TikTok, iOS: isbot false, isbot-fast false, is-bot false
Instagram, iOS: isbot false, isbot-fast false, is-bot false
LinkedIn, iOS: isbot false, isbot-fast false, is-bot true
Chrome on a CUBOT: isbot false, isbot-fast true, is-bot true
preview of WhatsApp: isbot true, isbot-fast true, is-bot false'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
