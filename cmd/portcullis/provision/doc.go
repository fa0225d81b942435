// Package provision is a provisioner that makes nothing: it claims clusters of a gateway over HTTP, waits
// as long as a real one would work, and reports them as made, failed or taken away.
//
// It is part of the program: `serve --demo`, the first command of README, makes the demo's clusters with it.
//
// It is the reference for those who write a real one. It keeps no state: a claim that it does not
// finish ends by itself and is claimed again. It uses the API alone, and nothing of the program around it.
package provision
