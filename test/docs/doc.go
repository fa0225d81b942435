// Package docs compares the pages with the program. Every link leads somewhere, and every page keeps its limits. Every page
// named in a file exists, and every Go file named in a comment. The README's map has every folder. Every command does
// what its page says, typed on a gateway with demo data.
package docs
