// Package docs compares the pages with the program. Every link leads somewhere, every page keeps its limits, and every
// page named in a file exists. The README's map has every folder. Every command does what its page says, typed on a
// gateway with demo data.
package docs
