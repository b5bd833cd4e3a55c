package pages

import "fmt"

// Damage says where a file does not keep to the format. It says nothing about
// reading having failed: that is another error.
type Damage struct {
	// Page is the number of the page; 0 and 1 stand for the file as a whole.
	Page uint64
	// Problem is what is wrong with it.
	Problem string
}

// Error is one clause for a person.
func (d *Damage) Error() string {
	if d.Page < firstPage {
		return d.Problem
	}
	return fmt.Sprintf("page %d: %s", d.Page, d.Problem)
}

func damagef(page uint64, format string, args ...any) error {
	return &Damage{Page: page, Problem: fmt.Sprintf(format, args...)}
}
