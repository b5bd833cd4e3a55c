// Package scan takes JSON texts apart that programs send each other: it looks
// through a text once, checks it on the way as strictly as encoding/json does, and
// gives the parts as the bytes that they are. It decodes nothing but what has one
// spelling; for the rest, and for saying what is wrong with a text, there is
// encoding/json.
package scan
