// Package extauthz is the door for Envoy's external authorization over gRPC:
// envoy.service.auth.v3.Authorization/Check, with grpc.health.v1 and reflection beside it.
//
// A check has an original call in its attributes, and the edge judges it like those of forward-auth. The answer is
// always a CheckResponse: OK with the trusted headers for the service, or a denial with the status and the body for
// Envoy's client. The edge authenticates the caller and charges their rates.
//
// Envoy adds headers before it removes some. So headers_to_remove has the credential, what OK does not
// set, and every spelling of an identity header with underscores.
//
// context_extensions name the action and the audience of a call. They count only from a peer with a certificate of an
// authority for proxies: otherwise anybody with access to the listener could have assertions made for any service.
//
// Streams are bounded before their message has come: the edge's bounds begin only behind it.
//
// # Rejected
//
//   - An error of gRPC for a denial: Envoy would take it for a failure of the gateway, and with
//     failure_mode_allow let the call pass.
//   - The body of the original call (with_request_body): it is not part of the question.
package extauthz
