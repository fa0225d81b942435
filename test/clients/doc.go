// Package clients shows that clients can be made of the OpenAPI document. oapi-codegen and
// openapi-typescript make one each of a running gateway's document. The clients compile, and
// programs with them ask this gateway.
//
// The programs are in testdata, with the versions of their dependencies. A missing tool skips the
// client, loudly; in CI it fails.
package clients
