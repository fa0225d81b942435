// Package original judges original calls: calls that somebody else is about to serve, and asks about
// first. The doors for proxies (gateway/doors/forwardauth), for Envoy, and AuthZEN's type `route`
// share it.
//
// Calls finds the row of the catalogue for a host, a method and a raw path, as the edge finds the
// routes that it serves itself, and the edge keeps it in step with the catalogue in force. Judge
// holds a call to what is claimed of its caller, has it judged as if the gateway were to serve it,
// and says what the service behind the proxy may rely on.
//
// A call is refused where two servers could read it differently: paths stand under the rules of
// authorization.check, methods are in capital letters, hosts have one name. HEAD is judged as GET.
//
// Rejected: one row of the catalogue for each proxy, with the rules of its paths in the proxy's
// configuration. They would say a second time, in another language, who may do what.
package original
