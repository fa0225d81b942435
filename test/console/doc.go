// Package console holds the tests of the web console, over HTTP and in a browser.
package console
