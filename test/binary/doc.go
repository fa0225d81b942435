// Package binary builds the program under test. Only tests import it.
package binary
