// Package clients shows that the OpenAPI document makes clients: oapi-codegen and
// openapi-typescript make a client each of the document that a running gateway gives,
// the clients compile, and programs that use them ask that gateway.
//
// The programs are in testdata, with the versions of all that they need. A tool that is
// missing skips the client, loudly; in CI that is a failure.
package clients
