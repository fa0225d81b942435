// Package clienttest has a gateway for the tests of services that use gateway/client. The test says
// what is allowed; nothing else is.
package clienttest
