package rules

import "fmt"

// Problem is one place where the repository breaks a rule.
type Problem struct {
	// File is slash-separated and relative to the module root; empty when the
	// problem belongs to no file.
	File string
	// Line counts from 1; 0 stands for the whole file.
	Line int
	// What says what is wrong.
	What string
	// Remedy says what to do about it.
	Remedy string
}

// String gives file:line: what is wrong (remedy: what to do).
func (p Problem) String() string {
	where := p.File
	if where == "" {
		where = "."
	}
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, p.Line)
	}
	return fmt.Sprintf("%s: %s (remedy: %s)", where, p.What, p.Remedy)
}
