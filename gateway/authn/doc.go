// Package authn turns a bearer token (a JWT) or an API key into a resources.Principal.
//
// The decision that binds it: a token says only which issuer to ask (its
// unverified `iss`); the key comes from that issuer's own source under (issuer,
// kid, algorithm), and nothing else of the token is believed before its
// signature has been checked. What two readers could read differently is refused:
// duplicate members at any depth, names in other letters, invalid UTF-8, lone
// surrogates, line breaks inside base64, spare bits at its end.
//
// Every refusal is one resources.KindBadCredential with one text, so that a
// caller learns nothing of the reason; the cause is wrapped for the log and
// holds no part of the token but its quoted, shortened `iss` and `kid`. What
// could not be found out (the directory is down) is resources.KindUnavailable:
// neither a refusal nor an acceptance.
//
// Decided here, since the contract leaves it open:
//
//   - A token whose header has jku, x5u, jwk, x5c, crit or b64 is refused, not just
//     read without them: the token travels on to services whose libraries might
//     follow what we ignore. The cost: an identity provider that always writes jku
//     can't be used.
//   - A `typ` other than JWT or at+jwt is refused: logout tokens and security events
//     of the same issuer are signed with the same keys and are no credentials.
//   - A subject that can't be seen whole is none (resources.ValidSubject): blank, padded, with a
//     control character or one without a width. It would name a second user who looks like
//     the first, or take an invitation as nobody.
//   - exp, nbf and iat may have a fraction (RFC 7519 allows it), which is cut; negative
//     ones and those past the year 9999 are refused, since their conversion wraps.
//   - A refreshed key set is taken without its unusable keys. Refusing the whole
//     set would keep a removed key alive for as long as one bad entry is in it. At
//     construction a symmetric key is refused with the set: then a person reads it.
//   - An empty set from a provider is its word that no key holds; an unreadable one is
//     a failure, and the last good one serves on.
//   - Two different keys of one user are refused (400) like two principals: which one is
//     to bound the request can't be known, and a log could name one only.
//   - A header that is sent blank beside the other one is a refused credential (401): it
//     was meant to be one, and to go on without it would be to go on without its bound.
//
// An API key is known by the id in it and proved by the keyed hash of the whole. What is
// wrong with one, a mistyped character, an unknown id, another secret, its end, its
// revocation, its owner's status, is the one refusal that a token gets, and costs the same
// hashes from the first look-up on. With both a token and a key of one user, the key
// counts: a caller who adds a bound means it.
//
// Rejected: a JWKS client library (none of those seen bounds the fetches that unknown
// kids cause and also keeps the last good set to a maximum age); golang-jwt's MapClaims and
// RegisteredClaims (a null or huge exp, names without regard to case); a cache of principals
// or keys (a user suspended while the token lives would stay in; of a token only what it says
// is remembered, and its key and times are judged at each use); a slow hash for keys (160
// random bits can't be guessed, and each request would pay for it).
package authn
