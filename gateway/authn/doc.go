// Package authn turns a bearer token (a JWT) or an API key into a resources.Principal.
//
// An unverified token names its issuer (`iss`), nothing else. The key comes from that issuer's own
// source under (issuer, kid, algorithm), and the rest of the token counts only after its signature
// has been checked. A token is refused if two readers could read it differently: duplicate members
// at any depth, names in other letters, invalid UTF-8, lone surrogates, line breaks inside base64,
// spare bits at its end.
//
// Every refusal is one resources.KindBadCredential with one text: the caller learns no reason. The
// cause is wrapped for the log; of the token it holds only the quoted, shortened `iss` and `kid`. A
// failure of a dependency, such as the directory, is resources.KindUnavailable, neither a refusal
// nor an acceptance.
//
// An API key is found by the id in it and proved by the keyed hash of the whole. A mistyped
// character, an unknown id, another secret, an expired or revoked key and an owner who may not sign
// in are all refused like a token. From the look-up on, each costs the same hashes. A key beside a
// token of the same user replaces the token, since a caller with a bound means it.
//
// Verified tokens are cached by the SHA-256 of the whole token. A cached token's key, times and
// audience are judged at each use, and its subject is looked up at each use.
//
// # Decisions that the contract leaves open
//
//   - A token with jku, x5u, jwk, x5c, crit or b64 in its header is refused: it travels on to other
//     services, and their libraries might follow them. An identity provider that always writes jku
//     cannot be used.
//   - A `typ` other than JWT or at+jwt is refused. Logout tokens and security events of an issuer
//     have the same keys and are not credentials.
//   - A subject refused by resources.ValidSubject (blank, padded, with a control character or one
//     without a width) is refused: it would name a second user with the looks of the first.
//   - exp, nbf and iat may have a fraction (RFC 7519 allows it), which is cut. A negative date
//     and one after the year 9999 are refused, since their conversion overflows.
//   - A refreshed key set is used without its unusable keys: refusing the whole set would keep a
//     removed key alive for as long as one bad entry is in it. A configured set with a symmetric
//     key is refused at the start, when the operator can read why.
//   - An empty set from a provider means: no key is valid. A set that cannot be read is a failure,
//     and the last good set stays in use.
//   - An agent without a user counts where its account's agents are taken alone (AuthenticateFor), and nowhere else.
//   - A malformed act, client_id or azp refuses a token for a resource of its own (AuthenticateFor).
//     Elsewhere the token stays valid, as before the gateway read these claims, and its client has
//     one actor without a name: it is not a token without an actor.
//   - Two different keys of one user are refused (400) like two principals: the caller does not
//     say which one is the bound, and the log could name only one.
//   - A blank X-API-Key beside Authorization is refused (401): the caller meant to send a key,
//     and the request would go on without the key's bound.
//
// # Rejected
//
//   - A JWKS client library: none of those compared bounds the fetches for unknown kids and also
//     keeps the last good set to a maximum age.
//   - golang-jwt's MapClaims and RegisteredClaims: they accept a null or huge exp, and names
//     without regard to case.
//   - A cache of principals or of API keys: a suspended user would stay signed in.
//   - A slow hash for API keys: 160 random bits cannot be guessed, and each request would pay.
package authn
