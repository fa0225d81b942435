// Package docs holds the pages to what they say: every link leads somewhere, every page keeps its limits, every file
// that names a page names one that exists, the README's map has every folder, and every command does what its page
// says, typed on a gateway with demo data.
package docs
