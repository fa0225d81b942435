// Package contract holds requests and their answers against the OpenAPI document, and the document against the
// action catalogue. Only tests import it.
package contract
