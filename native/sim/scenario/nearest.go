package scenario

import "fmt"

// didYouMean returns " (did you mean "X"?)" for the known name nearest to what
// was written, or nothing where none is near.
func didYouMean(written string, known []string) string {
	best, distance := "", 3 // two slips of the finger at most
	for _, name := range known {
		if d := editDistance(written, name); d < distance && d < len(name) {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// editDistance counts the letters to change, add or drop between two words.
// Words too long to be slips of each other are far apart.
func editDistance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
