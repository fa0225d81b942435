// Package authzen is the door of the OpenID AuthZEN Authorization API 1.0. `POST /access/v1/evaluation` asks one
// question, `POST /access/v1/evaluations` a batch of them. `GET /.well-known/authzen-configuration` gives their URLs.
//
// A request names a subject, an action, a resource and a context (request.go). A resource of a native type is a place
// of the platform, and E3 could ask the same question (native.go). An app of the policy tree decides about resources of
// its own types. The right to ask is E3's. A question about an unknown subject or resource is denied, a malformed one
// is a 400.
//
// `POST /access/v1/search/subject`, `/resource` and `/action` find what an evaluation allows, page by page. Candidates
// come from the store by the assigned roles (Directory): a search costs as much as there are holders of a role, not
// users. Each is judged as an evaluation is, on facts of the snapshot it was read from: a page is of one revision.
// Pages are in the order of the ids, and a token holds the last id. So nobody who qualifies throughout is missed or
// listed twice while others come and go.
//
// Members beyond the text of 1.0 are ignored: a client may send more than this version reads. As everywhere, a body is
// refused if two decoders could read it differently.
package authzen
