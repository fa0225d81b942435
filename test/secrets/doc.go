// Package secrets finds credentials in what a program wrote: tokens, API keys, master keys and passwords, as
// they are or as JSON, base64 and hexadecimal write them. Only tests import it.
package secrets
