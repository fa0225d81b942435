// Package authzen is the door of the OpenID AuthZEN Authorization API 1.0: `POST /access/v1/evaluation`
// asks one question, `POST /access/v1/evaluations` a batch of them, and
// `GET /.well-known/authzen-configuration` says where they are.
//
// A request names a subject, an action, a resource and a context (request.go). A resource of a native
// type is a place of the platform, so that the question is one that E3 could ask (native.go); one of
// a type that an app of the policy tree claims is the app's to decide. The right to ask is E3's. A
// question that names nothing that exists is denied, one that is malformed is a 400.
//
// `POST /access/v1/search/subject`, `/resource` and `/action` find what an evaluation allows, page by
// page. Candidates come from the store by the roles that are assigned (Directory), so that a search costs
// as much as there are holders of a role, and not users. Each is then judged as an evaluation is, on
// facts of the snapshot in which it was found: a page is of one revision. The order is that of the ids,
// and a token holds the last one, so that nobody who qualifies throughout is left out, or comes twice,
// while others come and go.
//
// Members that the text of 1.0 does not name are ignored, so that a client may send more than this
// version reads. A body that two decoders could read differently is refused as everywhere.
package authzen
