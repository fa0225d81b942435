// Package memo remembers answers that are a pure function of their key, within a bound.
//
// It holds immutable values; whoever asks names one by its whole key, so nothing can be
// mistaken for something else. Nothing bounds how old a value is: a key has to name all on
// which its value rests, or whoever gets it has to judge whether it still stands. Rejected:
// a least recently used list, in which each hit writes under a lock.
package memo
