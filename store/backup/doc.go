// Package backup writes and reads backup files: a tar of a manifest and of one database file, which is
// what store/sqlite's Snapshot gives.
//
// The manifest stands first, then its own hash; the hash of the database is in it. So a cut or changed
// file is found before anything of it is used. The master key is never in a backup: with both in one file
// its reader could sign in as anybody.
package backup
