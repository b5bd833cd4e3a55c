// Package ignore judges paths by .gitignore files as git does: the last pattern
// that matches counts, a file nearer to the path counts before one further up,
// and nothing below an excluded folder can be had back. What git keeps besides
// (its index, info/exclude, a person's global file) is not looked at.
//
// Names are compared byte by byte, with their case.
package ignore
