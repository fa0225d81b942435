// Package authn turns a bearer token (a JWT) or an API key into a resources.Principal.
//
// An unverified token says only which issuer to ask (`iss`). The key comes from that issuer's
// own source under (issuer, kid, algorithm), and the rest of the token counts only after its
// signature has been checked. A token that two readers could read differently is refused:
// duplicate members at any depth, names in other letters, invalid UTF-8, lone surrogates, line
// breaks inside base64, spare bits at its end.
//
// Every refusal is one resources.KindBadCredential with one text, so that it tells the caller
// no reason. The cause is wrapped for the log; of the token it holds only the quoted, shortened
// `iss` and `kid`. A failure to find out, such as a directory that is down, is
// resources.KindUnavailable, which neither refuses nor accepts.
//
// An API key is found by the id in it and proved by the keyed hash of the whole. A mistyped
// character, an unknown id, another secret, an expired or revoked key and an owner who may not
// sign in are all refused like a token. From the look-up on, each costs the same hashes. A key
// beside a token of the same user counts in place of the token, since a caller who adds a bound
// means it.
//
// Verified tokens are cached by the SHA-256 of the whole token. A cached token's key and times
// are judged at each use, and its subject is looked up at each use.
//
// # Decisions that the contract leaves open
//
//   - A token whose header has jku, x5u, jwk, x5c, crit or b64 is refused rather than read
//     without them: it travels on to services whose libraries might follow them. An identity
//     provider that always writes jku cannot be used.
//   - A `typ` other than JWT or at+jwt is refused: logout tokens and security events of the same
//     issuer are signed with the same keys and are no credentials.
//   - A subject that resources.ValidSubject refuses (blank, padded, with a control character or
//     one without a width) is refused: it would name a second user who looks like the first.
//   - exp, nbf and iat may have a fraction (RFC 7519 allows it), which is cut. A negative date
//     and one after the year 9999 are refused, since their conversion overflows.
//   - A refreshed key set is used without its unusable keys: refusing the whole set would keep a
//     removed key alive for as long as one bad entry is in it. A configured set with a symmetric
//     key is refused at the start, when the operator can read why.
//   - An empty set from a provider means that no key is valid. A set that cannot be read is a
//     failure, and the last good set stays in use.
//   - Two different keys of one user are refused (400) like two principals: the caller does not
//     say which one is the bound, and the log could name only one.
//   - A blank X-API-Key beside Authorization is refused (401): the caller meant to send a key,
//     and the request would go on without the key's bound.
//
// # Rejected
//
//   - A JWKS client library: none of those compared bounds the fetches that unknown kids cause
//     and also keeps the last good set to a maximum age.
//   - golang-jwt's MapClaims and RegisteredClaims: they accept a null or huge exp, and names
//     without regard to case.
//   - A cache of principals or of API keys: a user who is suspended would stay signed in.
//   - A slow hash for API keys: 160 random bits cannot be guessed, and each request would pay.
package authn
