// Carries the device id of a creator's link into the orders of this shop: docs/script.md of sluice.
(function (window, document, script) {
  'use strict';
  if (window.sluiceAnonId) return;
  var options = (script || {}).dataset || {}, name = options.name || 'svc_anon_id', life = (+options.days || 30) * 864e5;
  var id = null, since = Date.now(), ofServer = false, refused = navigator.globalPrivacyControl;
  var allowed = options.consent === 'granted';

  function valid(text) { return /^[\w.~-]{8,128}$/.test(text) ? text : null; }
  function decoded(text) {
    try { return decodeURIComponent(text.replace(/\+/g, ' ')); } catch (error) { return text; }
  }
  function cookie() {
    return document.cookie.split('; ').reduce(function (found, part) {
      return found || (part.indexOf(name + '=') === 0 ? valid(part.slice(name.length + 1)) : null);
    }, null);
  }
  function setCookie(value, seconds, domain) {
    document.cookie = name + '=' + value + ';Path=/;SameSite=Lax;Max-Age=' + seconds + (domain ? ';Domain=' + domain : '') +
      (location.protocol === 'https:' ? ';Secure' : '');
  }
  // Storage throws where the browser grants none.
  function storage(use) {
    try { return use(window.localStorage); } catch (error) { return null; }
  }
  function stored() {
    return storage(function (all) {
      var parts = (all.getItem(name) || '').split(' ');
      if (!(Date.now() - parts[1] < life)) return null;
      since = +parts[1];
      return valid(parts[0]);
    });
  }
  // Takes the parameter out of the address, so that no copied link has it.
  function parameter() {
    var value = null, parts = location.search.slice(1).split('&'), others = parts.filter(function (part) {
      var at = (part + '=').indexOf('='), own = decoded(part.slice(0, at)) === name;
      if (own) value = valid(decoded(part.slice(at + 1))) || value;
      return !own;
    });
    if (others.length < parts.length) {
      history.replaceState(history.state, '', location.pathname + (others.length ? '?' + others.join('&') : '') + location.hash);
    }
    return value;
  }
  // Safari keeps a cookie of the redirect longer than one of a script: an equal one stays.
  function keep() {
    if (!id || ofServer || !allowed) return;
    if (cookie() !== id) setCookie(id, Math.ceil((since + life - Date.now()) / 1000), options.domain);
    storage(function (all) {
      if ((all.getItem(name) || '').split(' ')[0] !== id) all.setItem(name, id + ' ' + since);
    });
  }
  function consent(granted) {
    allowed = granted;
    if (granted) return keep();
    id = null;
    setCookie('', 0);
    if (options.domain) setCookie('', 0, options.domain);
    storage(function (all) { all.removeItem(name); });
  }
  function begin() {
    id = parameter();
    if (refused) consent(false);
    else id = id || cookie();
    return (id || refused || !options.idUrl ? Promise.resolve() :
      fetch(options.idUrl, {credentials: 'include'}).then(function (answer) { return answer.json(); }).then(function (answer) {
        ofServer = !!(id = valid(answer.svc_anon_id));
      }).catch(function () {})).then(function () {
      if (!refused) id = id || stored();
      keep();
      return id;
    });
  }

  window.sluiceAnonId = function () { return id; };
  window.sluiceAnonId.consent = consent;
  window.sluiceAnonId.ready = document.prerendering ? new Promise(function (resolve) {
    document.addEventListener('prerenderingchange', function () { resolve(begin()); });
  }) : begin();
  document.addEventListener('submit', function (event) {
    [].forEach.call(event.target.elements, function (field) { if (id && field.name === name) field.value = id; });
  }, true);
})(window, document, document.currentScript);
