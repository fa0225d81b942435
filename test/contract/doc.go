// Package contract compares requests and their answers with the OpenAPI document, and the document with the
// action catalogue. Only tests import it.
package contract
